"""Plans that are kept and not yet promised to anybody: made, and changed as often as their consumer likes."""

from __future__ import annotations

from sqlalchemy import Connection, and_, func, or_, select, update

from pdqs.market import access
from pdqs.market.as_shown import refuse_otherwise
from pdqs.market.context import Market
from pdqs.market.groups import require_known
from pdqs.market.idempotency import derived_id, refuse_other_body
from pdqs.market.retention import with_retention
from pdqs.market.revocation import require_signed_in
from pdqs.market.round_terms import refuse_short, refuse_unreadable, terms_of
from pdqs.market.store.schema import rounds
from pdqs.market.store.sql import insert_new
from pdqs.market.views import plan_of, round_message, summary_of, visible_round
from pdqs.model.errors import PdqsError
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.protocol.market_messages import Round, RoundPlan, User
from pdqs.protocol.problems import ConflictError, ProblemType, UnprocessableError

_DAY_MS = 86_400_000


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
        require_signed_in(connection, actor)
        require_known(connection, plan.groups)
        if insert_new(connection, rounds, row):
            _refuse_too_many(market, connection, actor)
        refuse_other_body(visible_round(connection, actor, str(row["round_id"])).plan == row["plan"])
        return round_message(connection, str(row["round_id"]))


def _refuse_too_many(market: Market, connection: Connection, actor: User) -> None:
    """Drafts cost nothing, so they are counted: those there are, and those made and called off since yesterday.

    What was opened in between counts as well: its escrow came back, and everyone was told of it.
    """
    lately = rounds.c.created_at_ms > market.clock() - _DAY_MS
    counted = or_(rounds.c.state == "draft", and_(rounds.c.state == "cancelled", lately))
    hers = select(func.count()).where(rounds.c.consumer_id == actor.user_id, counted)
    most = market.settings.most_drafts
    if int(connection.scalar(hers) or 0) > most:
        raise ConflictError(
            ProblemType.TOO_MANY,
            f"you have {most} drafts, with rounds called off since yesterday, and there can be no more:"
            " open one, call off an old one, or change one that you have",
        )


def draft_id(actor: User, key: str) -> str:
    """The id of the round that a key makes."""
    return derived_id("r", actor, key)


def change_draft(market: Market, actor: User, round_id: str, plan: RoundPlan, shown: str | None = None) -> Round:
    """Put another plan in the place of a draft's; once a round is open its terms are frozen.

    ``shown`` is the hash of the plan that she looked at: where another is kept by now, it is not written over unseen.
    """
    access.require(actor, "consumer")
    kept = _kept(market, plan)
    with market.store.write() as connection:
        require_signed_in(connection, actor)
        row = visible_round(connection, actor, round_id, lock=True)
        if row.state == "cancelled":
            raise ConflictError(ProblemType.CANCELLED, "this round was cancelled: plan another like this to ask again")
        if row.state != "draft":
            raise ConflictError(
                ProblemType.TOO_LATE,
                "this round is open and its terms are frozen: plan another like this to ask otherwise",
            )
        require_known(connection, plan.groups)
        if row.plan != kept["plan"]:  # sent twice, the second time changes nothing
            refuse_otherwise(plan_of(row), shown, market.settings.money)
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
    refuse_short(plan, market.settings.least_report_seconds)
    return {"plan": plan.model_dump_json(), "summary": summary_of(plan).model_dump_json()}
