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
from pdqs.market.lots import NamedBids, bids_found, named, words_of
from pdqs.market.round_terms import numerators_of, terms_of
from pdqs.market.store.schema import rounds
from pdqs.market.store.sql import Found
from pdqs.market.views import plan_of
from pdqs.model.errors import ensure
from pdqs.privacy.loss import Q_UNITS
from pdqs.rounds.merkle import MerkleTree
from pdqs.verifying.figures import Cleared, cleared


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The offers that a round's bids were made into, and their rows for the store, by owner."""

    bids: NamedBids
    cleared: Cleared
    rows: list[dict[str, object]]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """What was made of a round's bids as they were when they were read."""

    found: list[tuple[str, int]]
    tree: MerkleTree | None = None
    made: Made | None = None

    def tree_over(self, found: list[tuple[str, int]], round_id: str) -> MerkleTree:
        """The tree over the bids that are found now."""
        return self.tree if self.tree is not None and self.found == found else named(round_id, found).tree()

    def made_of(self, found: list[tuple[str, int]], row: Found) -> Made:
        """The offers on the bids that are found now."""
        return self.made if self.made is not None and self.found == found else made_of(found, row)


NOTHING = Ahead(found=[])


def made_of(found: list[tuple[str, int]], row: Found) -> Made:
    """The offers that a round's terms and draws make of its bids."""
    bids = named(row.round_id, found)
    done = cleared(bids.bid_micros, words_of(row, bids.pseudonyms), terms_of(plan_of(row)))
    return Made(bids=bids, cleared=done, rows=_rows(row.round_id, bids.owner_ids, done))


def _rows(round_id: str, owner_ids: list[str], done: Cleared) -> list[dict[str, object]]:
    offered = done.offers
    ensure(offered.spent_micros <= offered.budget_micros, "the offers add up to more than the budget")
    columns = {
        "owner_id": owner_ids,
        "q_numerator": numerators_of(offered).tolist(),
        "payment_micros": offered.payment_micros.tolist(),
        "chance_numerator": (offered.chance * Q_UNITS).astype(int).tolist(),
        "draw": done.draws.tolist(),
        "posted_micros": done.posted_micros,
        "stage": offered.stage.tolist(),
    }
    by_owner = sorted(zip(*columns.values(), strict=True))  # in the order of the table's key, which writes fastest
    return [{"round_id": round_id, **dict(zip(columns, own, strict=True))} for own in by_owner]


def tree_ahead(market: Market, round_id: str) -> Ahead:
    """The tree over a round's bids, where they are closed and it has not been made."""
    with market.store.read() as connection:
        row = _open_round(connection, round_id)
        if row is None or row.seed is None or row.bids_root is not None or market.clock() < row.bids_close_at_ms:
            return NOTHING
        found = bids_found(connection, round_id)
    return Ahead(found=found, tree=named(round_id, found).tree())


def offers_ahead(market: Market, round_id: str) -> Ahead:
    """The offers of a round whose root is published and whose draws are known, where there are enough bids for any."""
    with market.store.read() as connection:
        row = _open_round(connection, round_id)
        if row is None or row.bids_root is None or row.nonce is None:
            return NOTHING
        found = bids_found(connection, round_id)
    return Ahead(found=found, made=made_of(found, row)) if len(found) >= plan_of(row).minimum_owners else NOTHING


def _open_round(connection: Connection, round_id: str) -> Found | None:
    return connection.execute(
        select(rounds).where(rounds.c.round_id == round_id, rounds.c.state == "open")
    ).one_or_none()
