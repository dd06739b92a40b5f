"""How a user is signed in: on pages, by programs with tokens, and what she can come in with again."""

from __future__ import annotations

from typing import Literal

from pdqs.protocol.device_messages import Identifier, Message, Millis, Name
from pdqs.protocol.market_messages import Cursor


class NewToken(Message):
    """A token to be made. One of the same name takes the place of the one before it."""

    name: Name


class PageSignIn(Message):
    """A browser that is signed in on the pages."""

    sign_in_id: Identifier
    device: str
    """Browser and system, as far as they say; empty when they say nothing."""
    started_at_ms: Millis
    seen_at_ms: Millis
    """When it was last used, to the minute."""
    ends_at_ms: Millis
    """When it ends if it is not used again."""


class KeptToken(Message):
    """A bearer token, without the token."""

    sign_in_id: Identifier
    name: Name
    created_at_ms: Millis
    used_at_ms: Millis
    """When it was last used, to the hour."""


class KeptPasskey(Message):
    """A passkey: its public half is here, its private half never left the device."""

    sign_in_id: Identifier
    name: Name
    created_at_ms: Millis
    used_at_ms: Millis | None


class SignIns(Message):
    """Everything that can act as the caller; each can be ended by its ``sign_in_id``."""

    pages: list[PageSignIn]
    tokens: list[KeptToken]
    passkeys: list[KeptPasskey]


class AccessEvent(Message):
    """What was done about a user's access, and by whom: of a ``token`` or a ``session``, who made its code."""

    at_ms: Millis
    what: Literal["code", "token", "session", "passkey", "ended-one", "ended", "disabled", "enabled", "erased"]
    by_user_id: str
    by_name: str


class AccessPage(Message):
    """Who signed in as the caller, newest first."""

    items: list[AccessEvent]
    next: Cursor | None
