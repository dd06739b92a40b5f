"""A large round's tree and offers, worked out before its transaction begins, so that others' bids wait for neither.

SQLite has one writer at a time: what is computed inside a transaction is time that every other bid waits. Bids are read
and worked on here without a lock. The transaction reads them again, and takes what was made ahead only if they are the
same to the last one; else it is made anew. So nothing rests on this but speed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sqlalchemy import Connection, select

from pdqs.market.context import Market
from pdqs.market.lots import NamedBids, named_bids, words_of
from pdqs.market.round_terms import terms_of
from pdqs.market.store.schema import rounds
from pdqs.market.store.sql import Found
from pdqs.market.views import plan_of
from pdqs.rounds.merkle import MerkleTree
from pdqs.verifying.figures import Cleared, cleared


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """What was made of a round's bids as they were when they were read."""

    bids: NamedBids
    tree: MerkleTree | None = None
    offers: Cleared | None = None

    def tree_over(self, found: NamedBids) -> MerkleTree:
        """The tree over the bids that are found now."""
        return self.tree if self.tree is not None and self.bids == found else found.tree()

    def offers_on(self, found: NamedBids, row: Found) -> Cleared:
        """The offers on the bids that are found now."""
        return self.offers if self.offers is not None and self.bids == found else offers_for(found, row)


NOTHING = Ahead(bids=NamedBids(owner_ids=[], pseudonyms=[], bid_micros=[]))


def offers_for(found: NamedBids, row: Found) -> Cleared:
    """The offers that a round's terms and draws make of its bids."""
    return cleared(found.bid_micros, words_of(row, found.pseudonyms), terms_of(plan_of(row)))


def tree_ahead(market: Market, round_id: str) -> Ahead:
    """The tree over a round's bids, where they are closed and it has not been made."""
    with market.store.read() as connection:
        row = _open_round(connection, round_id)
        if row is None or row.seed is None or row.bids_root is not None or market.clock() < row.bids_close_at_ms:
            return NOTHING
        found = named_bids(connection, round_id)
    return Ahead(bids=found, tree=found.tree())


def offers_ahead(market: Market, round_id: str) -> Ahead:
    """The offers of a round whose root is published and whose draws are known, where there are enough bids for any."""
    with market.store.read() as connection:
        row = _open_round(connection, round_id)
        if row is None or row.bids_root is None or row.nonce is None:
            return NOTHING
        found = named_bids(connection, round_id)
    return Ahead(bids=found, offers=offers_for(found, row)) if len(found) >= plan_of(row).minimum_owners else NOTHING


def _open_round(connection: Connection, round_id: str) -> Found | None:
    return connection.execute(
        select(rounds).where(rounds.c.round_id == round_id, rounds.c.state == "open")
    ).one_or_none()
