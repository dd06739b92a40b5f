"""Every offer is on a bid, and whoever writes a million of them writes to no bid."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError

from market.town import Town
from pdqs.market import reads, round_steps
from pdqs.market.clearing_ahead import offers_ahead
from pdqs.market.offer_rows import keep_offers
from pdqs.market.store.schema import offers
from pdqs.market.store.sql import Cells
from pdqs.model.errors import InvariantError
from pdqs.protocol.market_messages import Round


def due(town: Town) -> Round:
    """A round of eight bids whose time has come, its root published."""
    town.add_owners(8)
    found = town.open_round(budget_micros=4_000_000)
    for place, owner in enumerate(town.owners[:7]):
        town.bid(owner, found, 100_000 * (place + 1))
    town.clock.advance(61)
    round_steps.close_bids(town.market, town.operator, found.round_id)
    return found


def rows_of(town: Town, found: Round) -> list[Cells]:
    made = offers_ahead(town.market, found.round_id, None).made
    assert made is not None
    return made.rows


def kept(town: Town, found: Round) -> int:
    counted = select(func.count()).select_from(offers).where(offers.c.round_id == found.round_id)
    with town.market.store.read() as connection:
        return int(connection.scalar(counted) or 0)


def test_an_offer_to_someone_who_did_not_bid_is_refused_and_none_is_kept(either_town: Town) -> None:
    found = due(either_town)
    rows = rows_of(either_town, found)
    bystander = (found.round_id, either_town.owners[7].user_id, *rows[0][2:])
    with pytest.raises((IntegrityError, InvariantError)), either_town.market.store.write() as connection:
        keep_offers(connection, found.round_id, [*rows, bystander])
    assert kept(either_town, found) == 0
    assert reads.round_by_id(either_town.market, either_town.operator, found.round_id).state == "open"


def test_offers_on_bids_are_kept_all_of_them(either_town: Town) -> None:
    found = due(either_town)
    with either_town.market.store.write() as connection:
        keep_offers(connection, found.round_id, rows_of(either_town, found))
    assert kept(either_town, found) == 7


@pytest.mark.parametrize("with_key", [False, True])
def test_making_offers_writes_to_no_bid_on_postgresql(far_town: Town, with_key: bool) -> None:
    """A row that was locked says by whom. The control: with a foreign key every bid is."""
    if with_key:
        key = "ALTER TABLE offers ADD FOREIGN KEY (round_id, owner_id) REFERENCES bids (round_id, owner_id)"
        with far_town.market.store.write() as connection:
            connection.execute(text(key))
    found = due(far_town)
    round_steps.clear_round(far_town.market, far_town.operator, found.round_id)
    assert kept(far_town, found) == 7
    with far_town.market.store.read() as connection:
        locked = connection.scalar(text("SELECT count(*) FROM bids WHERE xmax::text <> '0'"))
    assert locked == (7 if with_key else 0)


def test_what_postgresql_refuses_while_rows_are_streamed_is_an_error_of_the_databases(far_town: Town) -> None:
    """And so a 503 to whoever asked, as for any other statement; past SQLAlchemy it was a fault of the software's."""
    found = due(far_town)
    wrong = [(*row[:2], -1, *row[3:]) for row in rows_of(far_town, found)]
    with pytest.raises(IntegrityError), far_town.market.store.write() as connection:
        keep_offers(connection, found.round_id, wrong)
    assert kept(far_town, found) == 0
