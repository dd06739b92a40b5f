"""Who hears of what happens in a round. Each is called in the transaction that does it, or by the clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Select, and_, exists, select

from pdqs.market.context import Market, Stuck
from pdqs.market.groups import eligible
from pdqs.market.outbox import tell
from pdqs.market.store.schema import bids, offers, reports, rounds, users

_MINUTE_MS = 60_000
_LAST_PART = 4

Ids = Select[tuple[str]]


def tell_opened(connection: Connection, round_id: str, now: int) -> None:
    """A round is open: all owners hear of it whom it is for."""
    tell(connection, "opened", round_id, _role("owner").where(eligible(round_id)), now)


def tell_waiting(connection: Connection, round_id: str, now: int) -> None:
    """Bids are fixed and the draw waits for the consumer's nonce: she hears that her round will not wait for ever."""
    tell(connection, "closing", round_id, _consumer(round_id), now, part="nonce")


def tell_offered(connection: Connection, round_id: str, now: int) -> None:
    """Offers are made: those hear of it who are asked for a report."""
    tell(connection, "offer", round_id, _asked(round_id), now)


def tell_stage(connection: Connection, round_id: str, number: int, now: int) -> None:
    """The next stage of a round begins: those hear of it whose turn it is."""
    tell(connection, "stage", round_id, _asked(round_id).where(offers.c.stage == number), now, part=str(number))


def tell_settled(connection: Connection, round_id: str, now: int) -> None:
    """A round is answered and paid: whoever reported and its consumer hear of it."""
    tell(connection, "paid", round_id, select(reports.c.owner_id).where(reports.c.round_id == round_id), now)
    tell(connection, "paid", round_id, _consumer(round_id), now)


def tell_cancelled(connection: Connection, round_id: str, now: int) -> None:
    """A round is called off: whoever bid and its consumer hear of it."""
    tell(connection, "cancelled", round_id, select(bids.c.owner_id).where(bids.c.round_id == round_id), now)
    tell(connection, "cancelled", round_id, _consumer(round_id), now)


def tell_stuck(market: Market) -> None:
    """Rounds cannot go on: operators hear of each once for every time that it happens."""
    for one in list(market.stuck.values()):
        with _once(market, f"stuck:{one.round_id}:{one.since_ms}") as connection:
            if connection is not None:
                _tell_operators(connection, one)


def tell_closing(market: Market) -> None:
    """Bids or reports close soon: those hear of it, once, who could still send theirs."""
    now, soon_ms = market.clock(), int(market.settings.closing_minutes * _MINUTE_MS)
    open_now = and_(rounds.c.state == "open", rounds.c.bids_close_at_ms.between(now, now + soon_ms))
    reporting = and_(rounds.c.state == "reporting", rounds.c.reports_close_at_ms.between(now, now + soon_ms))
    with market.store.look() as connection:
        found = connection.execute(select(rounds).where(open_now | reporting)).all()
    for row in found:
        bidding = row.state == "open"
        began, ends = (
            (row.opened_at_ms, row.bids_close_at_ms) if bidding else (row.bids_close_at_ms, row.reports_close_at_ms)
        )
        late = ends - now <= (ends - began) // _LAST_PART  # a short round is not closing soon when it opens
        if not late:
            continue
        waiting = _without_bid(row.round_id) if bidding else _without_report(row.round_id)
        with _once(market, f"closing:{row.round_id}:{row.state}") as connection:
            if connection is not None:
                tell(connection, "closing", row.round_id, waiting, now, part="bids" if bidding else "reports")


@contextmanager
def _once(market: Market, what: str) -> Iterator[Connection | None]:
    """A transaction to say this in, unless this process has said it; said is what was committed.

    Another process may have said it too, and then the outbox has the letters already.
    """
    if what in market.written_at:
        yield None
        return
    with market.store.write() as connection:
        yield connection
    market.written_at[what] = market.clock()


def _tell_operators(connection: Connection, one: Stuck) -> None:
    tell(connection, "stuck", one.round_id, _role("operator"), one.since_ms, part=str(one.since_ms))


def _role(role: str) -> Ids:
    return select(users.c.user_id).where(users.c.role == role)


def _consumer(round_id: str) -> Ids:
    return select(rounds.c.consumer_id).where(rounds.c.round_id == round_id)


def _asked(round_id: str) -> Ids:
    return select(offers.c.owner_id).where(offers.c.round_id == round_id, offers.c.q_numerator > 0)


def _without_bid(round_id: str) -> Ids:
    hers = select(1).where(bids.c.round_id == round_id, bids.c.owner_id == users.c.user_id)
    return _role("owner").where(~exists(hers), eligible(round_id))


def _without_report(round_id: str) -> Ids:
    hers = select(1).where(reports.c.round_id == round_id, reports.c.owner_id == offers.c.owner_id)
    return _asked(round_id).where(~exists(hers))
