"""Plans that are kept and not yet promised to anybody: made, and changed as often as their consumer likes."""

from __future__ import annotations

from sqlalchemy import update

from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.groups import require_known
from pdqs.market.idempotency import derived_id, refuse_other_body
from pdqs.market.retention import with_retention
from pdqs.market.round_terms import refuse_unreadable, terms_of
from pdqs.market.store.schema import rounds
from pdqs.market.store.sql import insert_new
from pdqs.market.views import round_message, summary_of, visible_round
from pdqs.model.errors import PdqsError
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.protocol.market_messages import Round, RoundPlan, User
from pdqs.protocol.problems import ConflictError, ProblemType, UnprocessableError


def draft_round(market: Market, actor: User, plan: RoundPlan, key: str) -> Round:
    """Keep a plan, checked. Nothing is promised yet and no money moves."""
    access.require(actor, "consumer")
    row = {
        "round_id": draft_id(actor, key),
        "consumer_id": actor.user_id,
        "state": "draft",
        "created_at_ms": market.clock(),
        **_kept(market, plan),
    }
    with market.store.write() as connection:
        require_known(connection, plan.groups)
        insert_new(connection, rounds, row)
        refuse_other_body(visible_round(connection, actor, str(row["round_id"])).plan == row["plan"])
        return round_message(connection, str(row["round_id"]))


def draft_id(actor: User, key: str) -> str:
    """The id of the round that a key makes."""
    return derived_id("r", actor, key)


def change_draft(market: Market, actor: User, round_id: str, plan: RoundPlan) -> Round:
    """Put another plan in the place of a draft's; once a round is open its terms are frozen."""
    access.require(actor, "consumer")
    kept = _kept(market, plan)
    with market.store.write() as connection:
        row = visible_round(connection, actor, round_id, lock=True)
        if row.state == "cancelled":
            raise ConflictError(ProblemType.CANCELLED, "this round was cancelled: clone it to use its plan again")
        if row.state != "draft":
            raise ConflictError(
                ProblemType.TOO_LATE, "this round is open and its terms are frozen: clone it to ask otherwise"
            )
        require_known(connection, plan.groups)
        connection.execute(update(rounds).where(rounds.c.round_id == round_id).values(**kept))
        return round_message(connection, round_id)


def _kept(market: Market, plan: RoundPlan) -> dict[str, str]:
    """A plan as it is stored, once it is known to hold."""
    least = market.settings.least_budget
    if plan.budget_micros < least * MICROS_PER_UNIT:
        raise UnprocessableError(ProblemType.BAD_TERMS, f"the budget of a round is at least {least:g} here")
    plan = with_retention(market.settings, plan)
    try:
        terms_of(plan)
    except PdqsError as fault:
        raise UnprocessableError(ProblemType.BAD_TERMS, str(fault)) from fault
    refuse_unreadable(plan)
    return {"plan": plan.model_dump_json(), "summary": summary_of(plan).model_dump_json()}
