"""The offers of a round, kept all at once, and every one of them held to a bid of the round.

On SQLite a foreign key says so row by row. On PostgreSQL that would lock each bid to look at it, a write for every row:
a million of them took four times as long as the offers themselves, and two fifths of the log that everybody else's
commits wait for. There the whole is looked at once, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Select, and_, func, select

from pdqs.market.store.schema import bids, offers
from pdqs.market.store.sql import Cells, insert_cells
from pdqs.model.errors import ensure

OFFER_COLUMNS = (
    "round_id",
    "owner_id",
    "q_numerator",
    "payment_micros",
    "chance_numerator",
    "draw",
    "posted_micros",
    "stage",
)


def keep_offers(connection: Connection, round_id: str, rows: Sequence[Cells]) -> None:
    """Write a round's offers, cells in the order of ``OFFER_COLUMNS``; all of them on bids, or an error and none."""
    insert_cells(connection, offers, OFFER_COLUMNS, rows)
    if connection.dialect.name == "postgresql":
        ensure(connection.scalar(_without_a_bid(round_id)) == 0, "an offer was made on a bid that is not there")


def _without_a_bid(round_id: str) -> Select[int]:
    """How many there are: asked whether there is any, PostgreSQL would look for the first, bid by bid."""
    hers = and_(bids.c.round_id == offers.c.round_id, bids.c.owner_id == offers.c.owner_id)
    theirs = select(func.count()).select_from(offers.outerjoin(bids, hers)).where(offers.c.round_id == round_id)
    return theirs.where(bids.c.owner_id.is_(None))
