"""Rows as messages. A consumer's view holds counts and sums; an owner's holds what is hers and what is public."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import Connection, Table, func, select

from pdqs.market.ledger import account_of
from pdqs.market.round_terms import question_of
from pdqs.market.store.schema import accounts, bids, reports, rounds
from pdqs.market.store.sql import Found
from pdqs.protocol.device_messages import Offer, RoundNotice
from pdqs.protocol.market_messages import Round, RoundPlan, User
from pdqs.protocol.problems import NotFoundError, ProblemType


def plan_of(row: Found) -> RoundPlan:
    """The plan that a round was made from."""
    return _parsed_plan(row.plan)


@lru_cache(maxsize=256)
def _parsed_plan(text: str) -> RoundPlan:
    """A plan is frozen, and the same one is asked for with every bid."""
    return RoundPlan.model_validate_json(text)


def round_messages(connection: Connection, rows: Sequence[Found]) -> list[Round]:
    """Rounds with their counts, a fixed number of statements for any number of rounds."""
    ids = [row.round_id for row in rows]
    bid_counts, report_counts = _counts(connection, bids, ids), _counts(connection, reports, ids)
    names = [account_of("escrow", identifier) for identifier in ids]
    escrow = {
        name: int(held)
        for name, held in connection.execute(
            select(accounts.c.account, accounts.c.balance_micros).where(accounts.c.account.in_(names))
        )
    }
    return [
        _round_message(row, bid_counts.get(row.round_id, 0), report_counts.get(row.round_id, 0), escrow.get(name, 0))
        for row, name in zip(rows, names, strict=True)
    ]


def round_message(connection: Connection, round_id: str) -> Round:
    """One round as it now is."""
    row = connection.execute(select(rounds).where(rounds.c.round_id == round_id)).one()
    return round_messages(connection, [row])[0]


def visible_round(connection: Connection, actor: User, round_id: str, *, lock: bool = False) -> Found:
    """The row of a round that its consumer or an operator may see; to anyone else it does not exist."""
    query = select(rounds).where(rounds.c.round_id == round_id)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    if row is None or (actor.role != "operator" and row.consumer_id != actor.user_id):
        raise NotFoundError(ProblemType.NO_ROUND, f"there is no round {round_id} that you can see")
    return row


def notice_message(row: Found) -> RoundNotice:
    """A round as owners see it."""
    plan = plan_of(row)
    return RoundNotice(
        round_id=row.round_id,
        state=row.state,
        question=question_of(plan),
        bid_low_micros=plan.bid_low_micros,
        bid_high_micros=plan.bid_high_micros,
        epsilon_max=plan.epsilon_max,
        bids_close_at_ms=row.bids_close_at_ms,
        reports_close_at_ms=row.reports_close_at_ms,
        terms=row.terms,
        terms_hash=row.terms_hash,
    )


def offer_message(row: Found, now_ms: int) -> Offer:
    """One owner's offer, from a row of offers and rounds together, and what the server's clock says."""
    return Offer(
        round_id=row.round_id,
        terms_hash=row.terms_hash,
        question=question_of(plan_of(row)),
        q_numerator=row.q_numerator,
        payment_micros=row.payment_micros,
        reports_close_at_ms=row.reports_close_at_ms,
        now_ms=now_ms,
    )


def _counts(connection: Connection, table: Table, ids: list[str]) -> dict[str, int]:
    counted = select(table.c.round_id, func.count()).where(table.c.round_id.in_(ids)).group_by(table.c.round_id)
    return {identifier: int(count) for identifier, count in connection.execute(counted)}


def _round_message(row: Found, bid_count: int, report_count: int, escrow: int) -> Round:
    plan = plan_of(row)
    return Round(
        round_id=row.round_id,
        consumer_id=row.consumer_id,
        state=row.state,
        plan=plan,
        question=question_of(plan),
        terms_hash=row.terms_hash,
        created_at_ms=row.created_at_ms,
        opened_at_ms=row.opened_at_ms,
        bids_close_at_ms=row.bids_close_at_ms,
        reports_close_at_ms=row.reports_close_at_ms,
        ended_at_ms=row.ended_at_ms,
        bids=bid_count,
        offers=row.offers,
        reports=report_count,
        committed_micros=row.committed_micros,
        paid_micros=row.paid_micros,
        escrow_micros=escrow,
        forecast_half_width=row.forecast_half_width,
        reason=row.reason,
    )
