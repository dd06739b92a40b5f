"""What is worked out before a transaction is used only for the very bids that the transaction finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from market.town import Town
from pdqs.market import clearing_ahead, reads, round_steps
from pdqs.market.clearing_ahead import NOTHING, Ahead
from pdqs.market.lots import NamedBids, named_bids
from pdqs.market.offer_rows import OFFER_COLUMNS
from pdqs.market.store.schema import bids, offers, rounds
from pdqs.protocol.market_messages import Round
from pdqs.protocol.problems import NotFoundError


def due(town: Town) -> Round:
    """A round that everyone bid in, at the moment when bids close."""
    town.add_owners(12)
    found = town.open_round()
    town.bid_all(found)
    town.clock.advance(found.plan.bid_seconds)
    return found


def change_a_bid(town: Town, found: Round) -> None:
    """As a bid does that was taken in time, and written down after somebody looked."""
    with town.market.store.write() as connection:
        hers = (bids.c.round_id == found.round_id) & (bids.c.owner_id == town.owners[3].user_id)
        connection.execute(bids.update().where(hers).values(bid_micros=990_000))


def drop_a_bid(town: Town, found: Round) -> None:
    with town.market.store.write() as connection:
        hers = (bids.c.round_id == found.round_id) & (bids.c.owner_id == town.owners[5].user_id)
        connection.execute(bids.delete().where(hers))


def root_of(town: Town, found: Round) -> str:
    with town.market.store.read() as connection:
        return named_bids(connection, found.round_id).tree().root.hex()


@pytest.mark.parametrize("between", [change_a_bid, drop_a_bid])
def test_a_bid_written_down_since_is_in_the_root(
    town: Town, monkeypatch: pytest.MonkeyPatch, between: Callable[[Town, Round], None]
) -> None:
    found = due(town)
    before = root_of(town, found)

    def overtaken(market: Any, round_id: str) -> Ahead:
        made = clearing_ahead.tree_ahead(market, round_id)
        assert made.tree is not None
        between(town, found)
        return made

    monkeypatch.setattr(round_steps, "tree_ahead", overtaken)
    round_steps.close_bids(town.market, town.operator, found.round_id)
    published = reads.round_by_id(town.market, town.operator, found.round_id).bids_root
    assert published is not None
    assert published.root == root_of(town, found) != before


def test_offers_are_on_the_bids_that_the_transaction_finds(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    found = due(town)
    used: list[Ahead] = []

    def overtaken(market: Any, round_id: str, known: NamedBids | None) -> Ahead:
        used.append(clearing_ahead.offers_ahead(market, round_id, known))
        change_a_bid(town, found)
        return used[0]

    monkeypatch.setattr(round_steps, "offers_ahead", overtaken)
    round_steps.clear_round(town.market, town.operator, found.round_id)
    with town.market.store.read() as connection:
        now = named_bids(connection, found.round_id)
        row = connection.execute(select(rounds).where(rounds.c.round_id == found.round_id)).one()
        kept = connection.execute(
            select(offers).where(offers.c.round_id == found.round_id).order_by(offers.c.owner_id)
        ).all()
    assert used[0].made is not None
    stored = [tuple(line) for line in kept]
    assert tuple(kept[0]._fields) == OFFER_COLUMNS
    right, stale = clearing_ahead.made_of(now, row).rows, used[0].made.rows
    assert stored == right
    assert stored != stale


def test_what_was_made_ahead_is_what_is_kept(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is made twice: with the work ahead done, the transaction clears nothing itself."""
    found = due(town)
    round_steps.close_bids(town.market, town.operator, found.round_id)
    made = clearing_ahead.offers_ahead(town.market, found.round_id, None)
    assert made.made is not None

    def refused(*_given: Any) -> Any:
        raise AssertionError("cleared inside the transaction")

    monkeypatch.setattr(round_steps, "offers_ahead", lambda *_: made)
    monkeypatch.setattr(clearing_ahead, "made_of", refused)
    round_steps.clear_round(town.market, town.operator, found.round_id)
    done = reads.round_by_id(town.market, town.operator, found.round_id)
    assert (done.state, done.committed_micros) == ("reporting", made.made.cleared.offers.spent_micros)


def test_nothing_is_made_ahead_of_its_time(town: Town) -> None:
    town.add_owners(12)
    found = town.open_round()
    town.bid_all(found)
    assert clearing_ahead.tree_ahead(town.market, found.round_id) == NOTHING  # bids are open
    town.clock.advance(found.plan.bid_seconds)
    assert clearing_ahead.offers_ahead(town.market, found.round_id, None) == NOTHING  # the root is not published
    round_steps.clear_round(town.market, town.operator, found.round_id)
    assert clearing_ahead.tree_ahead(town.market, found.round_id) == NOTHING
    assert clearing_ahead.offers_ahead(town.market, found.round_id, None) == NOTHING  # it is cleared


def test_nobody_makes_the_market_work_on_a_round_that_is_not_hers(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    found = due(town)
    stranger = town.consumer.model_copy(update={"user_id": f"u_{'f' * 24}"})

    def worked(*_given: Any) -> Any:
        raise AssertionError("worked on for a stranger")

    monkeypatch.setattr(round_steps, "tree_ahead", worked)
    with pytest.raises(NotFoundError):
        round_steps.clear_round(town.market, stranger, found.round_id)
