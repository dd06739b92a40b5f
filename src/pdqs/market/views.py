"""Rows as messages. A consumer's view holds counts and sums; an owner's holds what is hers and what is public."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypedDict

from sqlalchemy import Connection, Select, Table, bindparam, func, select

from pdqs.market.ledger import account_of
from pdqs.market.round_terms import question_of, terms_of
from pdqs.market.store.schema import accounts, bids, offers, reports, rounds, stages
from pdqs.market.store.sql import Found
from pdqs.protocol.device_messages import BidsRoot, Lots, Offer, Question, RoundNotice, StageNotice
from pdqs.protocol.market_messages import Round, RoundPlan, RoundState, User
from pdqs.protocol.problems import NotFoundError, ProblemType
from pdqs.protocol.round_questions import AskedMessage, StageStanding
from pdqs.protocol.summaries import NoticeSummary, PlanSummary, RoundSummary


def plan_of(row: Found) -> RoundPlan:
    """The plan that a round was made from."""
    return _parsed_plan(row.plan)


@lru_cache(maxsize=256)
def _parsed_plan(text: str) -> RoundPlan:
    """A plan is frozen, and the same one is asked for with every bid."""
    return RoundPlan.model_validate_json(text)


@lru_cache(maxsize=256)
def _question(text: str) -> Question:
    """What owners are asked under a plan, which is as frozen as the plan is."""
    return question_of(_parsed_plan(text))


def round_messages(connection: Connection, rows: Sequence[Found]) -> list[Round]:
    """Rounds with their counts, a fixed number of statements for any number of rounds."""
    counted = _counted(connection, rows)
    opened = opened_stages(connection, [row.round_id for row in rows])
    return [
        _round_message(row, counts, opened.get(row.round_id, [])) for row, counts in zip(rows, counted, strict=True)
    ]


def round_summaries(connection: Connection, rows: Sequence[Found]) -> list[RoundSummary]:
    """The same for a list, from rows of :data:`LISTED` columns."""
    return [
        RoundSummary(plan=PlanSummary.model_validate_json(row.summary), **_standing(row), **counts)
        for row, counts in zip(rows, _counted(connection, rows), strict=True)
    ]


LISTED = tuple(column for column in rounds.c if column.name not in ("plan", "terms", "answer"))
"""What lists read of a round: not the columns that a consumer can make large."""


def summary_of(plan: RoundPlan) -> PlanSummary:
    """What lists show of a plan."""
    return PlanSummary(
        kind=plan.query.kind,
        text=plan.query.text,
        attribute=plan.attribute,
        domain_kind=plan.query.domain.kind,
        domain_size=plan.query.domain.size,
        budget_micros=plan.budget_micros,
        bid_low_micros=plan.bid_low_micros,
        bid_high_micros=plan.bid_high_micros,
        epsilon_max=plan.epsilon_max,
        retention_days=plan.retention_days,
        purpose=plan.purpose,
    )


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


def _every_opened_stage() -> Select[Any]:
    """The stages of rounds that have opened, with how many of each have reported."""
    ids = bindparam("ids", expanding=True, type_=stages.c.round_id.type)
    hers = (reports.c.round_id == offers.c.round_id) & (reports.c.owner_id == offers.c.owner_id)
    came = (
        select(offers.c.round_id, offers.c.stage, func.count().label("reports"))
        .select_from(offers.join(reports, hers))
        .where(offers.c.round_id.in_(ids))
        .group_by(offers.c.round_id, offers.c.stage)
        .subquery()
    )
    theirs = (came.c.round_id == stages.c.round_id) & (came.c.stage == stages.c.number)
    return (
        select(stages, (func.coalesce(came.c.reports, 0) + stages.c.reports_purged).label("reports"))
        .outerjoin(came, theirs)
        .where(stages.c.round_id.in_(ids))
        .order_by(stages.c.round_id, stages.c.number)
    )


_OPENED = _every_opened_stage()


def opened_stages(connection: Connection, ids: Sequence[str]) -> dict[str, list[Found]]:
    """The stages of rounds that have opened, in order, with how many of each have reported (those purged too)."""
    found: dict[str, list[Found]] = {}
    for row in connection.execute(_OPENED, {"ids": list(ids)}):
        found.setdefault(row.round_id, []).append(row)
    return found


def _stage_notices(found: Sequence[Found]) -> list[StageNotice]:
    names = StageNotice.model_fields
    return [StageNotice.model_validate({name: getattr(row, name) for name in names}) for row in found]


def notice_message(row: Found, opened: Sequence[Found]) -> RoundNotice:
    """A round as owners see it, from its row and those of its stages."""
    plan = plan_of(row)
    return RoundNotice(
        round_id=row.round_id,
        state=row.state,
        question=_question(row.plan),
        bid_low_micros=plan.bid_low_micros,
        bid_high_micros=plan.bid_high_micros,
        epsilon_max=plan.epsilon_max,
        bids_close_at_ms=row.bids_close_at_ms,
        reports_close_at_ms=row.reports_close_at_ms,
        terms=row.terms,
        terms_hash=row.terms_hash,
        bids_root=_root(row),
        stages=_stage_notices(opened),
    )


def notice_summary(row: Found) -> NoticeSummary:
    """A round in an owner's list, from a row of :data:`LISTED` columns."""
    plan = PlanSummary.model_validate_json(row.summary)
    return NoticeSummary(
        round_id=row.round_id,
        state=row.state,
        text=plan.text,
        purpose=plan.purpose,
        attribute=plan.attribute,
        domain_kind=plan.domain_kind,
        domain_size=plan.domain_size,
        bid_low_micros=plan.bid_low_micros,
        bid_high_micros=plan.bid_high_micros,
        epsilon_max=plan.epsilon_max,
        bids_close_at_ms=row.bids_close_at_ms,
        reports_close_at_ms=row.reports_close_at_ms,
        terms_hash=row.terms_hash,
        stages_in_all=row.stages,
    )


def _root(row: Found) -> BidsRoot | None:
    return None if row.bids_root is None else BidsRoot.model_validate_json(row.bids_root)


def offer_message(row: Found, lots: Lots | None, now_ms: int) -> Offer:
    """One owner's offer, from a row of offers, rounds, stages and questions together, and what the server's clock says.

    Before her stage opens, it closes as many stages' times before the last one as there are between them.
    """
    later = 1000 * plan_of(row).report_seconds * (row.stages - row.stage)
    return Offer(
        round_id=row.round_id,
        terms_hash=row.terms_hash,
        question=_question(row.plan),
        q_numerator=row.q_numerator,
        payment_micros=row.payment_micros,
        reports_close_at_ms=row.closes_at_ms or row.reports_close_at_ms - later,
        now_ms=now_ms,
        chance_numerator=row.chance_numerator,
        draw=row.draw,
        posted_micros=row.posted_micros,
        lots=lots,
        stage=row.stage,
        side=row.side,
    )


class _Counts(TypedDict):
    bids: int
    reports: int
    escrow_micros: int
    answered: bool


def _counted(connection: Connection, rows: Sequence[Found]) -> list[_Counts]:
    """Bids, reports (those purged too), escrow and whether there is an answer, of each round."""
    ids = [row.round_id for row in rows]
    settled = [row.round_id for row in rows if row.state == "settled"]
    # No text in JSON holds these signs but as a list of its own: quotes within one are marked.
    said = select(rounds.c.round_id).where(rounds.c.round_id.in_(settled), rounds.c.answer.not_like('%"values":[]%'))
    answered = set(connection.scalars(said)) if settled else set()
    bid_counts, report_counts = _counts(connection, bids, ids), _counts(connection, reports, ids)
    names = [account_of("escrow", identifier) for identifier in ids]
    held = select(accounts.c.account, accounts.c.balance_micros).where(accounts.c.account.in_(names))
    escrow = {name: int(balance) for name, balance in connection.execute(held)}
    return [
        _Counts(
            bids=bid_counts.get(row.round_id, 0) + row.bids_purged,
            reports=report_counts.get(row.round_id, 0) + row.reports_purged,
            escrow_micros=escrow.get(name, 0),
            answered=row.round_id in answered,
        )
        for row, name in zip(rows, names, strict=True)
    ]


def _counts(connection: Connection, table: Table, ids: list[str]) -> dict[str, int]:
    counted = select(table.c.round_id, func.count()).where(table.c.round_id.in_(ids)).group_by(table.c.round_id)
    return {identifier: int(count) for identifier, count in connection.execute(counted)}


class _Standing(TypedDict):
    round_id: str
    consumer_id: str
    state: RoundState
    terms_hash: str | None
    created_at_ms: int
    opened_at_ms: int | None
    bids_close_at_ms: int | None
    reports_close_at_ms: int | None
    ended_at_ms: int | None
    offers: int
    committed_micros: int
    paid_micros: int
    reason: str | None


def _standing(row: Found) -> _Standing:
    """What a round's own row says of how it stands."""
    return _Standing(
        round_id=row.round_id,
        consumer_id=row.consumer_id,
        state=row.state,
        terms_hash=row.terms_hash,
        created_at_ms=row.created_at_ms,
        opened_at_ms=row.opened_at_ms,
        bids_close_at_ms=row.bids_close_at_ms,
        reports_close_at_ms=row.reports_close_at_ms,
        ended_at_ms=row.ended_at_ms,
        offers=row.offers,
        committed_micros=row.committed_micros,
        paid_micros=row.paid_micros,
        reason=row.reason,
    )


@lru_cache(maxsize=256)
def _asked(plan: str) -> AskedMessage:
    """What a plan asks of values; a plan is frozen, and choosing for it takes a moment."""
    asked = terms_of(_parsed_plan(plan)).asking
    return AskedMessage(kind=asked.kind, codes=asked.codes, stages=asked.stages, reason=asked.reason)


def _round_message(row: Found, counts: _Counts, opened: Sequence[Found]) -> Round:
    plan = plan_of(row)
    told = row.state in ("reporting", "settled")  # the draws are known: their secrets are none any more
    return Round(
        plan=plan,
        question=_question(row.plan),
        forecast_half_width=row.forecast_half_width,
        asked=_asked(row.plan),
        stages=[
            StageStanding(asked=each.asked, reports=each.reports, **told.model_dump())
            for each, told in zip(opened, _stage_notices(opened), strict=True)
        ],
        nonce_by=None if row.seed is None else "market" if plan.nonce_hash is None else "consumer",
        bids_root=_root(row),
        seed=row.seed if told else None,
        nonce=row.nonce if told else None,
        **_standing(row),
        **counts,
    )
