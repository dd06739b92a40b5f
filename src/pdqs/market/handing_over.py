"""Large rounds are cleared and settled by the process that keeps the clock; a request for it waits.

Clearing a million bids is seconds of a processor. In the process that answers requests those seconds would be missed by
every other caller; in the clock's own process they are missed by none.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlalchemy import func, select

from pdqs.market import round_steps
from pdqs.market.clock_state import last_tick
from pdqs.market.context import Market
from pdqs.market.store.schema import bids, reports
from pdqs.market.store.sql import Found
from pdqs.market.stuck_rounds import told_why
from pdqs.market.views import round_message, visible_round
from pdqs.protocol.market_messages import Round, User

LARGE = 5_000
"""Bids from which on a round is left to the clock."""
_PATIENCE_SECONDS = 20.0
_BETWEEN_SECONDS = 0.25

Step = Callable[[Market, User, str], Round]


def clear_or_wait(market: Market, actor: User, round_id: str) -> Round:
    """Clear a round, or wait a while for the clock to do it; the round as it then stands."""
    return _done_or_awaited(round_steps.clear_round, market, actor, round_id)


def settle_or_wait(market: Market, actor: User, round_id: str) -> Round:
    """Settle a round, or wait a while for the clock to do it; the round as it then stands."""
    return _done_or_awaited(round_steps.settle_round, market, actor, round_id)


def _done_or_awaited(step: Step, market: Market, actor: User, round_id: str) -> Round:
    if not _is_left_to_the_clock(market, actor, round_id):
        with told_why(actor, round_id):
            return step(market, actor, round_id)
    end = time.monotonic() + _PATIENCE_SECONDS
    before = _state(market, actor, round_id)
    while _state(market, actor, round_id) == before and time.monotonic() < end:
        time.sleep(_BETWEEN_SECONDS)
    with market.store.read() as connection:
        return round_message(connection, round_id)


def _is_left_to_the_clock(market: Market, actor: User, round_id: str) -> bool:
    """Whether a large round is due, and another process keeps the deadlines."""
    now = market.clock()
    if market.store.dialect == "sqlite" or last_tick(market).is_late(now):
        return False
    with market.store.read() as connection:
        row = visible_round(connection, actor, round_id)
        of_bids = select(func.count()).select_from(bids).where(bids.c.round_id == round_id)
        of_reports = select(func.count()).select_from(reports).where(reports.c.round_id == round_id)
        if int(connection.scalar(of_bids) or 0) < LARGE:
            return False
        return _is_due(row, int(connection.scalar(of_reports) or 0), now)


def _is_due(row: Found, reported: int, now: int) -> bool:
    if row.state == "open":
        return bool(row.bids_close_at_ms <= now and row.bids_root is None)
    return bool(row.state == "reporting" and (row.reports_close_at_ms <= now or reported >= row.offers))


def _state(market: Market, actor: User, round_id: str) -> str:
    with market.store.read() as connection:
        return str(visible_round(connection, actor, round_id).state)
