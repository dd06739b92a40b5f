"""A large round's tree and offers, worked out before its transaction begins, so that others' bids wait for neither.

SQLite has one writer at a time: what is computed inside a transaction is time that every other bid waits. Bids are read
and worked on here without a lock. The transaction reads them again, and takes what was made ahead only if they are the
same to the last one; else it is made anew. So nothing rests on this but speed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from typing import final

import numpy as np
from sqlalchemy import Connection, select

from pdqs.market.context import Market
from pdqs.market.lots import NamedBids, bids_found, named, words_of
from pdqs.market.round_terms import numerators_of, terms_of
from pdqs.market.store.schema import rounds
from pdqs.market.store.sql import Cells, Found
from pdqs.market.views import plan_of
from pdqs.model.errors import ensure
from pdqs.privacy.loss import Q_UNITS
from pdqs.rounds.merkle import MerkleTree
from pdqs.verifying.figures import Cleared, cleared


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The offers that a round's bids were made into, and their rows for the store: cells in the order of
    :data:`pdqs.market.offer_rows.OFFER_COLUMNS`, by owner, which is the order of the table's key and writes fastest."""

    bids: NamedBids
    cleared: Cleared
    rows: list[Cells]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """What was made of a round's bids as they were when they were read."""

    bids: NamedBids | None = None
    tree: MerkleTree | None = None
    made: Made | None = None

    def named(self, round_id: str, found: list[tuple[str, int]]) -> NamedBids:
        """The bids that are found now, in the order of pseudonyms."""
        return self.bids if self.bids is not None and self.bids.found == found else named(round_id, found)

    def tree_over(self, bids: NamedBids) -> MerkleTree:
        """The tree over the bids that are found now."""
        return self.tree if self.tree is not None and self.bids is bids else bids.tree()

    def made_of(self, bids: NamedBids, row: Found) -> Made:
        """The offers on the bids that are found now."""
        return self.made if self.made is not None and self.bids is bids else made_of(bids, row)


NOTHING = Ahead()


def made_of(bids: NamedBids, row: Found) -> Made:
    """The offers that a round's terms and draws make of its bids."""
    done = cleared(bids.bid_micros, words_of(row, bids.pseudonyms), terms_of(plan_of(row)))
    return Made(bids=bids, cleared=done, rows=_rows(row.round_id, bids, done))


def _rows(round_id: str, bids: NamedBids, done: Cleared) -> list[Cells]:
    offered, places = done.offers, bids.by_owner
    ensure(offered.spent_micros <= offered.budget_micros, "the offers add up to more than the budget")
    columns = (
        numerators_of(offered),
        offered.payment_micros,
        (offered.chance * Q_UNITS).astype(int),
        done.draws,
        np.array(done.posted_micros),
        offered.stage,
    )
    owner_ids = [owner_id for owner_id, _ in bids.found]
    return list(zip(repeat(round_id), owner_ids, *(column[places].tolist() for column in columns), strict=False))


def tree_ahead(market: Market, round_id: str) -> Ahead:
    """The tree over a round's bids, where they are closed and it has not been made."""
    with market.store.read() as connection:
        row = _open_round(connection, round_id)
        if row is None or row.seed is None or row.bids_root is not None or market.clock() < row.bids_close_at_ms:
            return NOTHING
        found = bids_found(connection, round_id)
    bids = named(round_id, found)
    return Ahead(bids=bids, tree=bids.tree())


def offers_ahead(market: Market, round_id: str, known: NamedBids | None) -> Ahead:
    """The offers of a round whose root is published and whose draws are known, where there are enough bids for any.

    ``known`` are its bids where they were read a moment ago: these will do, as the transaction reads them once more.
    """
    with market.store.read() as connection:
        row = _open_round(connection, round_id)
        if row is None or row.bids_root is None or row.nonce is None:
            return NOTHING
        found = bids_found(connection, round_id) if known is None else known.found
    if len(found) < plan_of(row).minimum_owners:
        return NOTHING
    bids = named(round_id, found) if known is None else known
    return Ahead(bids=bids, made=made_of(bids, row))


def _open_round(connection: Connection, round_id: str) -> Found | None:
    return connection.execute(
        select(rounds).where(rounds.c.round_id == round_id, rounds.c.state == "open")
    ).one_or_none()
