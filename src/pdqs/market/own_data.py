"""A person's own data: all of it to take away, and her name to be forgotten. The books stay whole."""

from __future__ import annotations

from sqlalchemy import Connection, and_, or_, select, update

from pdqs.market import access, given_up, ledger, letter_choices, reads, trail
from pdqs.market.context import Market
from pdqs.market.groups import groups_by_user, leave_groups
from pdqs.market.people import is_first_operator, member_by_id
from pdqs.market.revocation import require_signed_in
from pdqs.market.store.payout_tables import payout_lines
from pdqs.market.store.schema import bids, offers, questions, reports, rounds, users
from pdqs.market.views import plan_of
from pdqs.market.withdrawals import withdrawals_of
from pdqs.protocol.market_messages import AnswerMessage, Member, User
from pdqs.protocol.own_data import Erasure, Export, OwnPayout, OwnRound, TakenPart
from pdqs.protocol.problems import ConflictError, ProblemType, TooManyRequestsError
from pdqs.protocol.summaries import PlanSummary
from pdqs.protocol.transport import paged

ERASED = "erased"
_PAGE = 1000


def export(market: Market, actor: User) -> Export:
    """Everything that the market holds on the caller, as it is at one moment."""
    with market.store.read() as connection:
        own = reads.me_in(connection, actor)
        postings = paged(lambda after: reads.statement_in(connection, actor, after, _PAGE))
        events = paged(lambda after: reads.access_in(connection, actor, after, _PAGE))
        return Export(
            exported_at_ms=market.clock(),
            user=member_by_id(connection, actor.user_id),
            balance_micros=own.balance_micros,
            reports_made=own.reports_made,
            postings=list(postings),
            access=list(events),
            sign_ins=access.sign_ins_in(market, connection, actor),
            letters=letter_choices.choices_in(market, connection, actor),
            groups=groups_by_user(connection, [actor.user_id]).get(actor.user_id, []),
            payouts=_payouts(connection, actor),
            taken_part=_taken_part(connection, actor),
            withdrawals=withdrawals_of(connection, actor.user_id),
            rounds=_rounds(connection, actor),
        )


def export_text(market: Market, actor: User, indent: int | None = None) -> str:
    """The same as a file. One is made at a time and few wait: many at once would take memory and threads from all."""
    hers = actor.user_id
    found = market.exports.get(hers, lambda: export(market, actor).model_dump_json(indent=indent), caller=hers)
    if found is None:
        raise TooManyRequestsError(ProblemType.TOO_MANY_REQUESTS, "other files are being made: ask again in a moment")
    return found


def erase(market: Market, actor: User, wish: Erasure, most_micros: int | None = None) -> Member:
    """Forget the caller's name, end her sign-ins and close her account. The ledger keeps its lines, under her id.

    ``most_micros``: how much she was told that she gives up, if she was; of more than that she is told first.
    """
    if is_first_operator(market, actor.user_id):
        raise ConflictError(
            ProblemType.WRONG_ACCOUNT, "the first operator cannot be erased: the market would be nobody's"
        )
    with market.store.write() as connection:
        # A bid that is under way holds her row: it is in before this looks, or finds her gone.
        connection.execute(select(users.c.user_id).where(users.c.user_id == actor.user_id).with_for_update())
        require_signed_in(connection, actor)
        _refuse_unfinished(connection, actor)
        kind: ledger.AccountKind = "owner" if actor.role == "owner" else "consumer"
        account = ledger.account_of(kind, actor.user_id)
        own_payouts = select(payout_lines.c.reference).where(payout_lines.c.user_id == actor.user_id)
        # Payouts, then balances, as whoever reads a confirmation holds them: else each would wait for the other.
        connection.execute(own_payouts.order_by(payout_lines.c.reference).with_for_update())
        held = given_up.held_balance(connection, account)
        if held and not (wish.forgo_balance and (most_micros is None or held <= most_micros)):
            detail = f"{market.settings.money.exact(held)} is still yours: be paid first, or say that you give it up"
            raise ConflictError(ProblemType.MONEY_TO_COME, detail)
        now = market.clock()
        given_up.give_up(connection, account, held, now)
        gone = {"name": ERASED, "erased_at_ms": now, "disabled_at_ms": now}
        connection.execute(update(users).where(users.c.user_id == actor.user_id).values(gone))
        access.end_all(connection, actor.user_id)
        leave_groups(connection, actor.user_id)
        letter_choices.forget(connection, actor.user_id)
        waiting = (payout_lines.c.user_id == actor.user_id) & (payout_lines.c.state == "waiting")
        connection.execute(update(payout_lines).where(waiting).values(state="failed"))  # nobody can name her to be paid
        trail.note(connection, actor.user_id, "erased", by=actor.user_id, at_ms=now)
        kept = member_by_id(connection, actor.user_id)
    market.callers.forget(actor.user_id)
    return kept


def _refuse_unfinished(connection: Connection, actor: User) -> None:
    """Nobody leaves in the middle of a round: it could not pay her, or give back what is left."""
    mine = select(bids.c.round_id).where(bids.c.owner_id == actor.user_id)
    theirs = or_(rounds.c.consumer_id == actor.user_id, rounds.c.round_id.in_(mine))
    running = select(rounds.c.round_id).where(rounds.c.state.in_(("open", "reporting")), theirs).limit(1)
    found = connection.scalar(running)
    if found is not None:
        raise ConflictError(ProblemType.TOO_EARLY, f"you take part in round {found}, which has not ended")


def _payouts(connection: Connection, actor: User) -> list[OwnPayout]:
    own = select(payout_lines).where(payout_lines.c.user_id == actor.user_id).order_by(payout_lines.c.reference)
    return [
        OwnPayout(
            reference=row.reference,
            amount_micros=row.amount_micros,
            state=row.state,
            over_micros=row.over_micros,
            let_be_micros=row.let_be_micros,
        )
        for row in connection.execute(own)
    ]


def _taken_part(connection: Connection, actor: User) -> list[TakenPart]:
    offered = and_(offers.c.round_id == bids.c.round_id, offers.c.owner_id == bids.c.owner_id)
    asked = and_(questions.c.round_id == bids.c.round_id, questions.c.owner_id == bids.c.owner_id)
    reported = and_(reports.c.round_id == bids.c.round_id, reports.c.owner_id == bids.c.owner_id)
    listed = (
        select(
            bids,
            *(rounds.c.state, rounds.c.summary, rounds.c.terms_hash),
            *(offers.c.q_numerator, offers.c.payment_micros, reports.c.code, reports.c.received_at_ms),
            *(offers.c.chance_numerator, offers.c.draw, offers.c.posted_micros, offers.c.stage, questions.c.side),
        )
        .select_from(
            bids.join(rounds).outerjoin(offers, offered).outerjoin(reports, reported).outerjoin(questions, asked)
        )
        .where(bids.c.owner_id == actor.user_id)
        .order_by(bids.c.placed_at_ms, bids.c.round_id)
    )
    found = []
    for row in connection.execute(listed):
        plan = PlanSummary.model_validate_json(row.summary)
        found.append(
            TakenPart(
                round_id=row.round_id,
                state=row.state,
                text=plan.text,
                attribute=plan.attribute,
                terms_hash=row.terms_hash,
                bid_micros=row.bid_micros,
                placed_at_ms=row.placed_at_ms,
                q_numerator=row.q_numerator,
                payment_micros=row.payment_micros,
                chance_numerator=row.chance_numerator,
                draw=row.draw,
                posted_micros=row.posted_micros,
                stage=row.stage,
                side=row.side,
                code=row.code,
                received_at_ms=row.received_at_ms,
            )
        )
    return found


def _rounds(connection: Connection, actor: User) -> list[OwnRound]:
    listed = select(rounds).where(rounds.c.consumer_id == actor.user_id).order_by(rounds.c.created_at_ms)
    return [
        OwnRound(
            round_id=row.round_id,
            state=row.state,
            created_at_ms=row.created_at_ms,
            plan=plan_of(row),
            answer=AnswerMessage.model_validate_json(row.answer) if row.answer else None,
        )
        for row in connection.execute(listed)
    ]
