"""Who signed in as whom: every code that was made or used for a user, and every end of her sign-ins, for her to see."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Literal

from sqlalchemy import Connection

from pdqs.market.store.schema import access_events
from pdqs.market.store.sql import Row

What = Literal["code", "token", "session", "passkey", "ended-one", "ended", "disabled", "enabled", "erased"]
"""A code was made; a token was made, or a page session began; a passkey was added; sign-ins were ended; ..."""

THE_SERVER = f"u_{'0' * 24}"
"""Whoever can reach the server's own command line or database."""


def note(connection: Connection, user_id: str, what: What, *, by: str, at_ms: int) -> None:
    """Enter that something was done about a user's access, in the transaction that does it."""
    connection.execute(access_events.insert(), _line(user_id, what, by, at_ms))


def note_of_each(connection: Connection, user_ids: Sequence[str], what: What, *, by: str, at_ms: int) -> None:
    """The same for each of several users."""
    connection.execute(access_events.insert(), [_line(user_id, what, by, at_ms) for user_id in user_ids])


def _line(user_id: str, what: What, by: str, at_ms: int) -> Row:
    return {"event_id": secrets.token_hex(12), "user_id": user_id, "at_ms": at_ms, "what": what, "by_user_id": by}
