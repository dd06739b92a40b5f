"""A large round's answer and payments, worked out before its transaction begins, so that others' bids wait for neither.

As clearing has :mod:`pdqs.market.clearing_ahead`. By the time that a round may settle, its bids are closed and its
offers and questions are written, none of which changes any more: what still can is its row and the reports. The
transaction reads these again, and takes what was worked out only if they are the same to the last one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sqlalchemy import Connection, func, select

from pdqs.market import escrow
from pdqs.market.context import Market
from pdqs.market.lots import root_over_reports
from pdqs.market.round_lines import kept_lines
from pdqs.market.round_terms import outcome_of, terms_of
from pdqs.market.staging import last_stage
from pdqs.market.store.schema import reports, rounds
from pdqs.market.store.sql import Found, cells_found
from pdqs.market.views import plan_of
from pdqs.protocol.market_messages import AnswerMessage


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """How a round ends: its answer, and what each account gains or gives. ``came`` are the reports that it is made of,
    by owner."""

    came: list[tuple[str, int]]
    answer: AnswerMessage
    amounts: dict[str, int]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SettlementAhead:
    """A settlement as it would be for a round's row and reports as they were when they were read."""

    row: Found | None = None
    worked_out: Settlement | None = None

    def settlement(self, connection: Connection, row: Found) -> Settlement:
        """The settlement of the round as it is found now."""
        if self.worked_out is not None and self.row == row and self.worked_out.came == _came(connection, row.round_id):
            return self.worked_out
        return settlement_of(connection, row)


NOT_WORKED_OUT = SettlementAhead()


def settlement_ahead(market: Market, round_id: str) -> SettlementAhead:
    """The settlement of a round that may settle now."""
    with market.store.read() as connection:
        row = connection.execute(
            select(rounds).where(rounds.c.round_id == round_id, rounds.c.state == "reporting")
        ).one_or_none()
        if row is None or not may_settle(connection, row, market.clock()):
            return NOT_WORKED_OUT
        return SettlementAhead(row=row, worked_out=settlement_of(connection, row))


def settlement_of(connection: Connection, row: Found) -> Settlement:
    """Answer and settle from what was offered and what was reported."""
    plan, kept = plan_of(row), kept_lines(connection, row)
    root = root_over_reports(row.round_id, dict(zip(kept.owner_ids, kept.codes, strict=True)))
    outcome = outcome_of(row.round_id, row.terms_hash, terms_of(plan), kept, root)
    paid = {
        owner_id: micros
        for owner_id, micros in zip(kept.owner_ids, outcome.payment_micros.tolist(), strict=True)
        if micros
    }
    return Settlement(
        came=[(owner, code) for owner, code in zip(kept.owner_ids, kept.codes, strict=True) if code is not None],
        answer=outcome.answer,
        amounts=escrow.shares(row, paid, outcome.answer.returned_micros, plan.budget_micros),
    )


def may_settle(connection: Connection, row: Found, now: int) -> bool:
    """Whether every offer was reported on, or the time of the last stage has passed."""
    counted = select(func.count()).select_from(reports).where(reports.c.round_id == row.round_id)
    if int(connection.scalar(counted) or 0) >= row.offers:
        return True
    last = last_stage(connection, row.round_id)
    return bool(now >= row.reports_close_at_ms and (last is None or last.number == row.stages))


def _came(connection: Connection, round_id: str) -> list[tuple[str, int]]:
    mine = select(reports.c.owner_id, reports.c.code).where(reports.c.round_id == round_id)
    return cells_found(connection, mine.order_by(reports.c.owner_id))
