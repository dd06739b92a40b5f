"""The stages of a round that asks about sides: opened one after the other, each from the reports of those before it.

Bids, offers and payments are settled before the first of them and do not depend on what is asked. A stage opens when
the one before it is over: its time has passed, or all of its owners have reported. Every stage has the time that the
terms promise (``report_seconds``), counted from its opening or from the end of the one before it, whichever is later:
an early opening takes nothing from anyone, and one that comes late, as after a standstill, neither.

What a stage asks about is a pure function of the terms, the public words and the earlier reports, and is stored in the
same transaction that opens it: a server that dies between two stages goes on from where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from sqlalchemy import Connection, func, select, update

from pdqs.estimate import left_before, narrowed
from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.round_letters import tell_stage
from pdqs.market.round_lines import kept_lines
from pdqs.market.round_terms import terms_of
from pdqs.market.store.schema import offers, questions, reports, rounds, stages
from pdqs.market.store.sql import Found, insert_many
from pdqs.market.times import too_early
from pdqs.market.views import plan_of, round_message, visible_round
from pdqs.model.names import QuestionKind
from pdqs.protocol.market_messages import Round, User
from pdqs.protocol.problems import ConflictError, ProblemType
from pdqs.rounds.offers import Offers
from pdqs.rounds.stages import Window, whole_domain
from pdqs.verifying.figures import reports_of


def open_next_stage(market: Market, actor: User, round_id: str) -> Round:
    """Ask the next stage, once the one before it is over; a round in its last stage stays as it is."""
    access.require(actor, "consumer", "operator")
    with market.store.write() as connection:
        row = visible_round(connection, actor, round_id, lock=True)
        if row.state in ("draft", "open", "cancelled"):
            raise ConflictError(ProblemType.NOT_CLEARED, f"this round is {row.state}: it has no stages yet")
        last = last_stage(connection, round_id)
        if row.state == "reporting" and last is not None and last.number < row.stages:
            now = market.clock()
            if not is_over(connection, last, now):
                what = f"reports of stage {last.number}"
                raise ConflictError(ProblemType.TOO_EARLY, too_early(what, last.closes_at_ms, now))
            _open_after(connection, row, last, now)
        return round_message(connection, round_id)


def open_first_stage(
    connection: Connection, row: Found, owner_ids: Sequence[str], made: Offers, now: int
) -> dict[str, int]:
    """Ask the first stage of a round that is being cleared; what its row says of stages from now on."""
    if made.question.kind != QuestionKind.SIDE:
        return {}
    opened = _Opening(number=1, now=now, not_before=now, left=whole_domain(made.question))
    return {"stages": made.question.stages, **_ask(connection, row, opened, owner_ids, made)}


def last_stage(connection: Connection, round_id: str) -> Found | None:
    """The stage that opened last, if sides are asked."""
    newest = select(stages).where(stages.c.round_id == round_id).order_by(stages.c.number.desc()).limit(1)
    return connection.execute(newest).one_or_none()


def is_over(connection: Connection, stage: Found, now: int) -> bool:
    """Whether a stage's time has passed, or all whom it asked have reported."""
    if now >= stage.closes_at_ms:
        return True
    hers = (reports.c.round_id == offers.c.round_id) & (reports.c.owner_id == offers.c.owner_id)
    came = (
        select(func.count())
        .select_from(offers.join(reports, hers))
        .where(offers.c.round_id == stage.round_id, offers.c.stage == stage.number)
    )
    return int(connection.scalar(came) or 0) >= int(stage.asked)


def _open_after(connection: Connection, row: Found, last: Found, now: int) -> None:
    """The stage after this one: what is left open, each owner's side, and its times, all at once."""
    terms, kept, number = terms_of(plan_of(row)), kept_lines(connection, row), last.number + 1
    made = kept.offers(terms)
    told = reports_of(kept.codes, made, terms)
    opened = _Opening(number=number, now=now, not_before=last.closes_at_ms, left=left_before(made, told, terms, number))
    ends = _ask(connection, row, opened, kept.owner_ids, narrowed(made, told, terms, number))
    connection.execute(update(rounds).where(rounds.c.round_id == row.round_id).values(ends))
    tell_stage(connection, row.round_id, number, now)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Opening:
    """A stage as it opens: its time is counted from now, or from ``not_before`` if that is later."""

    number: int
    now: int
    not_before: int
    left: Window


def _ask(
    connection: Connection, row: Found, opened: _Opening, owner_ids: Sequence[str], made: Offers
) -> dict[str, int]:
    """Store a stage and its questions; when the last of all stages will close."""
    turn, each_ms = made.of_stage(opened.number), 1000 * plan_of(row).report_seconds
    closes = max(opened.now, opened.not_before) + each_ms
    connection.execute(
        stages.insert().values(
            round_id=row.round_id,
            number=opened.number,
            opened_at_ms=opened.now,
            closes_at_ms=closes,
            low=opened.left.low,
            high=opened.left.high,
            asked=int(turn.sum()),
        )
    )
    asked = [
        {"round_id": row.round_id, "owner_id": owner_ids[place], "side": int(made.side[place])}
        for place in turn.nonzero()[0].tolist()
    ]
    if asked:
        insert_many(connection, questions, asked)
    return {"reports_close_at_ms": closes + each_ms * (made.question.stages - opened.number)}
