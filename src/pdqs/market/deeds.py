"""Who did what: every deed of an operator, entered in the transaction that does it, for all operators to see."""

from __future__ import annotations

import secrets
from typing import Literal

from sqlalchemy import Connection, select

from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.paging import LIMIT, newest_first
from pdqs.market.revocation import require_signed_in
from pdqs.market.store.schema import deeds, users
from pdqs.protocol.market_messages import User
from pdqs.protocol.operator_messages import Deed, DeedPage

What = Literal[
    "deposit",
    "payout",
    "refund",
    "reversal",
    "invited",
    "disabled",
    "enabled",
    "ended",
    "cancelled",
    "batch",
    "confirmation",
    "called-off",
    "let-be",
    "came-back",
    "grouped",
    "code",
    "restored",
]


def note_deed(
    connection: Connection, actor: User, what: What, about: str, *, at_ms: int, amount_micros: int | None = None
) -> None:
    """Enter what an operator does, and what it is about: the id of a user, a transaction, a round or a batch.

    ``amount_micros``: how much money it is about, where no entry of the ledger tells.

    Nothing is done in the name of one who was signed out or shut out meanwhile: this refuses, and all of it is undone.
    """
    if actor.role == "operator":
        require_signed_in(connection, actor)
        row = {"deed_id": secrets.token_hex(12), "at_ms": at_ms, "actor_id": actor.user_id, "what": what}
        connection.execute(deeds.insert(), {**row, "about": about, "amount_micros": amount_micros})


def deeds_page(market: Market, actor: User, after: str | None = None, limit: int = LIMIT) -> DeedPage:
    """What operators did, newest first."""
    access.require(actor, "operator")
    who, whom = users.alias("who"), users.alias("whom")
    listed = (
        select(deeds, who.c.name.label("actor_name"), whom.c.name.label("about_name"))
        .outerjoin(who, who.c.user_id == deeds.c.actor_id)
        .outerjoin(whom, whom.c.user_id == deeds.c.about)
    )
    with market.store.read() as connection:
        rows, following = newest_first(connection, listed, deeds.c.at_ms, deeds.c.deed_id, after, limit)
    items = [
        Deed(
            at_ms=row.at_ms,
            actor_id=row.actor_id,
            actor_name=row.actor_name or "the server itself",
            what=row.what,
            about=row.about,
            about_name=row.about_name or "",
            amount_micros=row.amount_micros,
        )
        for row in rows
    ]
    return DeedPage(items=items, next=following)
