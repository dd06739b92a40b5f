"""How long bids, offers and reports are kept: as the operator set it, as the terms say, and then no longer.

What stays of a purged round is its terms, its counts, its answer and the ledger.
"""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, select, update

from pdqs.market.context import Market
from pdqs.market.settings import Settings
from pdqs.market.store.schema import bids, offers, outbox, questions, reports, rounds, stages
from pdqs.market.store.withdrawal_table import withdrawals
from pdqs.market.views import opened_stages
from pdqs.protocol.market_messages import RoundPlan
from pdqs.protocol.problems import ProblemType, UnprocessableError
from pdqs.protocol.summaries import PlanSummary

_DAY_MS = 86_400_000
_HOUR_MS = 3_600_000


def with_retention(settings: Settings, plan: RoundPlan) -> RoundPlan:
    """The plan with the days that its bids and reports are kept: the market's, unless it asks for fewer.

    >>> from pdqs.protocol.market_messages import QueryMessage
    >>> asked = RoundPlan(query=QueryMessage(kind="count", text="Ill?"), attribute="ill", budget_micros=10**6)
    >>> with_retention(Settings(retention_days=30), asked).retention_days
    30
    """
    most = settings.retention_days
    if plan.retention_days is None:
        return plan.model_copy(update={"retention_days": most})
    if plan.retention_days > most:
        raise UnprocessableError(ProblemType.BAD_TERMS, f"bids and reports are kept for at most {most} days here")
    return plan


def purge_due(market: Market) -> list[str]:
    """Purge every round whose days are over, looked at once an hour; the ids of those that were."""
    now = market.clock()
    if 0 <= now - market.written_at.get("purge", -_HOUR_MS) < _HOUR_MS:
        return []
    ended = select(rounds.c.round_id, rounds.c.summary, rounds.c.ended_at_ms).where(
        rounds.c.state.in_(("settled", "cancelled")),
        rounds.c.purged_at_ms.is_(None),
        rounds.c.ended_at_ms <= now - _DAY_MS,
    )
    with market.store.read() as connection:
        found = connection.execute(ended).all()
    due = []
    for row in found:
        days = PlanSummary.model_validate_json(row.summary).retention_days
        if days is not None and now >= row.ended_at_ms + days * _DAY_MS:
            due.append(row.round_id)
    for round_id in due:
        with market.store.write() as connection:
            _purge(connection, round_id, now)
    market.written_at["purge"] = now
    return due


def _purge(connection: Connection, round_id: str, now: int) -> None:
    """Delete what owners sent and were offered; how many there were is kept."""
    locked = select(rounds.c.purged_at_ms).where(rounds.c.round_id == round_id).with_for_update()
    if connection.scalar(locked) is not None:
        return
    counts = {
        name: connection.scalar(select(func.count()).select_from(table).where(table.c.round_id == round_id))
        for name, table in (("bids_purged", bids), ("reports_purged", reports))
    }
    for each in opened_stages(connection, [round_id]).get(round_id, []):
        this = (stages.c.round_id == round_id) & (stages.c.number == each.number)
        connection.execute(update(stages).where(this).values(reports_purged=each.reports))
    # A letter that was never taken tells who was asked, and who had not reported.
    for table in (reports, questions, offers, bids, withdrawals, outbox):
        connection.execute(delete(table).where(table.c.round_id == round_id))
    connection.execute(update(rounds).where(rounds.c.round_id == round_id).values(purged_at_ms=now, **counts))
