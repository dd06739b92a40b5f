"""What parties do to rounds. Each command is one transaction: it happens wholly or not at all, and once.

    draft ──open──► open ──clear──► reporting ──settle──► settled;   draft or open ──cancel──► cancelled

(Where sides are asked, ``reporting`` has stages, and :mod:`pdqs.market.staging` opens one after the other.)

Clearing is two: the root over the bids is published first, and only when that is on the disk are the draws known and
the offers made. Every command takes the row of its round under lock before it looks at state or clock.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, and_, not_, select, update

from pdqs.market import access, escrow, groups, round_letters
from pdqs.market.as_shown import refuse_otherwise
from pdqs.market.bidding import place_bid, submit_report
from pdqs.market.clearing_ahead import NOTHING, Ahead, offers_ahead, tree_ahead
from pdqs.market.context import Market, Stuck
from pdqs.market.deeds import note_deed
from pdqs.market.drafts import draft_round
from pdqs.market.http.observe import where
from pdqs.market.lots import NONCE_SECONDS, NamedBids, bids_found, new_secrets, promised_of, refuse_copied, root_over
from pdqs.market.offer_rows import keep_offers
from pdqs.market.people import first_operator, register_user, renew_code
from pdqs.market.receipts import current_key
from pdqs.market.revocation import require_not_ended, require_signed_in
from pdqs.market.round_terms import frozen, receipt_form_of, receipt_key_of, refuse_short, refuse_unreadable, terms_of
from pdqs.market.settling_ahead import Settlement, may_settle, settlement_ahead
from pdqs.market.staging import is_over, last_stage, open_first_stage, open_next_stage
from pdqs.market.store.schema import rounds
from pdqs.market.store.sql import Found
from pdqs.market.times import moment_text, too_early
from pdqs.market.transfers import deposit, pay_out
from pdqs.market.views import plan_of, round_message, visible_round
from pdqs.model.errors import InvariantError, ensure
from pdqs.planning.promised import promised_half_width
from pdqs.protocol.market_messages import NonceReveal, Round, User
from pdqs.protocol.problems import ConflictError, MarketError, ProblemType, UnprocessableError
from pdqs.rounds.commitments import commitment_to
from pdqs.verifying.figures import why_hopeless

__all__ = [
    "advance_due",
    "cancel_round",
    "clear_round",
    "close_bids",
    "deposit",
    "draft_round",
    "first_operator",
    "open_next_stage",
    "open_round",
    "pay_out",
    "place_bid",
    "register_user",
    "renew_code",
    "reveal_nonce",
    "settle_round",
    "submit_report",
]

HOPELESS = "and reports of all whom the budget could pay would be too little for an answer"
"""Why a round is called off that can have no answer, and whose terms say that it is then."""

THE_CLOCK = User(user_id=f"u_{'0' * 24}", role="operator", name="the clock", created_at_ms=0)
"""Who clears and settles when a deadline passes."""


def open_round(market: Market, actor: User, round_id: str, shown: str | None = None) -> Round:
    """Put the budget in escrow, freeze and hash the terms, and let owners bid; ``shown``: the plan she looked at."""
    access.require(actor, "consumer")
    with market.store.write() as connection:
        asking = require_signed_in(connection, actor)
        row = visible_round(connection, actor, round_id, lock=True)
        if row.state == "cancelled":
            raise ConflictError(ProblemType.CANCELLED, "this round was cancelled")
        if row.state == "draft":
            now, plan = market.clock(), plan_of(row)
            refuse_otherwise(plan, shown, market.settings.money)
            refuse_unreadable(plan)  # it may have been drafted before that was looked at
            refuse_short(plan, market.settings.least_report_seconds)
            refuse_copied(connection, plan)
            closes = now + 1000 * plan.bid_seconds
            secrets = new_secrets(market, plan)
            promised = {**secrets.promised, "asked_by": asking.name}  # the name by which the operator let her in
            terms = frozen(round_id, plan, closes, current_key(connection, now), promised)
            groups.keep_groups(connection, round_id, plan)
            escrow.set_aside(connection, row, now, plan.budget_micros)
            figures = {"terms": terms.document, "terms_hash": terms.hash, "opened_at_ms": now}
            held = {"seed": secrets.seed, "nonce": secrets.nonce}
            _change(connection, round_id, state="open", bids_close_at_ms=closes, **figures, **held)
            round_letters.tell_opened(connection, round_id, now)
        return round_message(connection, round_id)


def close_bids(market: Market, actor: User, round_id: str) -> NamedBids | None:
    """Publish the root over the bids, once they are closed: from here on nobody's bid can be left out unseen.

    Gives the bids over which it did, if it did.
    """
    access.require(actor, "consumer", "operator")
    with market.store.read() as connection:
        visible_round(connection, actor, round_id)  # nobody makes the market work on a round that is not hers
    ahead = tree_ahead(market, round_id)
    with market.store.write() as connection:
        row = visible_round(connection, actor, round_id, lock=True)
        if row.state == "draft":
            raise ConflictError(ProblemType.NOT_OPEN, "this round has not been opened")
        if row.state != "open" or row.bids_root is not None:
            return None
        now = market.clock()
        if now < row.bids_close_at_ms:
            raise ConflictError(ProblemType.TOO_EARLY, too_early("bids", row.bids_close_at_ms, now))
        if row.seed is None:  # rounds that were opened before there were draws have none to commit to
            return None
        found = ahead.named(round_id, bids_found(connection, round_id))
        root = root_over(market, row, ahead.tree_over(found), len(found), now)
        _change(connection, round_id, bids_root=root.model_dump_json())
        if row.nonce is None:
            round_letters.tell_waiting(connection, round_id, now)
    return found


def clear_round(market: Market, actor: User, round_id: str) -> Round:
    """Turn the frozen bids into offers; with too few of them, cancel and give the escrow back.

    A round whose consumer holds the nonce waits for it (:func:`reveal_nonce`), and is called off when it does not come.
    """
    ahead = offers_ahead(market, round_id, close_bids(market, actor, round_id))
    with market.store.write() as connection:
        row = visible_round(connection, actor, round_id, lock=True)
        if row.state == "open":
            _go_on(connection, row, market.clock(), ahead)
        return round_message(connection, round_id)


def reveal_nonce(market: Market, actor: User, round_id: str, told: NonceReveal) -> Round:
    """Take the consumer's nonce, once the root over the bids is published, and make the offers that follow."""
    access.require(actor, "consumer")
    close_bids(market, actor, round_id)
    with market.store.write() as connection:
        require_not_ended(connection, actor)
        row = visible_round(connection, actor, round_id, lock=True)
        if row.state == "cancelled":
            raise ConflictError(ProblemType.CANCELLED, "this round was cancelled")
        if row.seed is None or plan_of(row).nonce_hash is None:
            raise ConflictError(ProblemType.NO_NONCE, "this round waits for no nonce: the market drew it")
        if commitment_to("nonce", bytes.fromhex(told.nonce)) != plan_of(row).nonce_hash:
            raise UnprocessableError(ProblemType.OTHER_NONCE, "this is not the nonce that the round is committed to")
        if row.state == "open":
            now = market.clock()
            if now >= _nonce_due(row):
                raise ConflictError(
                    ProblemType.TOO_LATE, f"the nonce had to be told before {moment_text(_nonce_due(row))}"
                )
            _change(connection, round_id, nonce=told.nonce)
            _go_on(connection, visible_round(connection, actor, round_id), now)
        return round_message(connection, round_id)


def settle_round(market: Market, actor: User, round_id: str) -> Round:
    """Answer, pay everyone whose report came, and give back what is left: all in one transaction."""
    access.require(actor, "consumer", "operator")
    with market.store.read() as connection:
        visible_round(connection, actor, round_id)  # nobody makes the market work on a round that is not hers
    ahead = settlement_ahead(market, round_id)
    with market.store.write() as connection:
        row = visible_round(connection, actor, round_id, lock=True)
        if row.state in ("draft", "open", "cancelled"):
            raise ConflictError(ProblemType.NOT_CLEARED, f"this round is {row.state}: there is nothing to settle")
        if row.state == "reporting":
            now = market.clock()
            if not may_settle(connection, row, now):
                raise ConflictError(ProblemType.TOO_EARLY, too_early("reports", row.reports_close_at_ms, now))
            _settle(connection, row, now, ahead.settlement(connection, row))
        return round_message(connection, round_id)


def cancel_round(market: Market, actor: User, round_id: str, shown: str | None = None) -> Round:
    """Call a round off before it is cleared; the escrow goes back. ``shown``: the state that she looked at."""
    access.require(actor, "consumer", "operator")
    with market.store.write() as connection:
        require_signed_in(connection, actor)
        row = visible_round(connection, actor, round_id, lock=True)
        if row.state in ("reporting", "settled"):
            raise ConflictError(
                ProblemType.TOO_LATE, "a cleared round cannot be cancelled: owners may have reported already"
            )
        if row.state == "open" and shown == "draft":
            detail = "this round was opened since you looked, and owners may have bid: look at it first"
            raise ConflictError(ProblemType.TOO_LATE, detail)
        if row.state != "cancelled":
            who = "its consumer" if actor.role == "consumer" else "the operator"
            _cancel(connection, row, market.clock(), f"cancelled by {who}")
            note_deed(connection, actor, "cancelled", round_id, at_ms=market.clock())
        return round_message(connection, round_id)


def advance_due(market: Market) -> list[str]:
    """Clear, narrow down and settle every round whose time has come; the ids of those that moved.

    Each on its own: one that cannot go on is noted in ``market.stuck`` with the reason, and does not stop the others.
    """
    moved, stuck = [], {}
    for step, round_id in _due(market):
        try:
            step(market, THE_CLOCK, round_id)
            moved.append(round_id)
        except Exception as fault:  # whatever it is, the other rounds' deadlines are kept
            stuck[round_id] = _stuck(market, round_id, fault)
    for mended in market.stuck.keys() - stuck.keys():
        market.stuck.pop(mended, None)
    market.stuck.update(stuck)
    return moved


def _due(market: Market) -> list[tuple[Callable[[Market, User, str], Round], str]]:
    """Rounds whose time has come, each with what is to be done."""
    now = market.clock()
    with market.store.read() as connection:
        closed = and_(rounds.c.state == "open", rounds.c.bids_close_at_ms <= now)
        late = rounds.c.bids_close_at_ms + 1000 * NONCE_SECONDS <= now
        waiting = and_(
            rounds.c.bids_root.is_not(None), rounds.c.nonce.is_(None), not_(late)
        )  # for the consumer's nonce
        to_clear = connection.scalars(select(rounds.c.round_id).where(closed, not_(waiting))).all()
        reporting = connection.execute(select(rounds).where(rounds.c.state == "reporting")).all()
        to_settle = [row.round_id for row in reporting if may_settle(connection, row, now)]
        lasts = [last_stage(connection, row.round_id) for row in reporting if row.round_id not in to_settle]
        to_narrow = [last.round_id for last in lasts if last is not None and is_over(connection, last, now)]
    due = {clear_round: to_clear, settle_round: to_settle, open_next_stage: to_narrow}
    return [(step, found) for step, ids in due.items() for found in ids]


def _stuck(market: Market, round_id: str, fault: Exception) -> Stuck:
    known = market.stuck.get(round_id)
    # Messages of these two are written for people and quote nobody; any other may hold what someone sent.
    said = isinstance(fault, (InvariantError, MarketError))
    return Stuck(
        round_id=round_id,
        since_ms=known.since_ms if known else market.clock(),
        reason=str(fault) if said else "the software failed; the log has the place, beside this round's id",
        kind=type(fault).__name__,
        where=where(fault),
    )


def _nonce_due(row: Found) -> int:
    return int(row.bids_close_at_ms + 1000 * NONCE_SECONDS)


def _go_on(connection: Connection, row: Found, now: int, ahead: Ahead = NOTHING) -> None:
    """Clear a round whose bids are closed, or wait for its nonce, or call it off."""
    plan, found = plan_of(row), bids_found(connection, row.round_id)
    terms = terms_of(plan)
    # The software may have changed since the round was opened; what was promised may not.
    key, form = receipt_key_of(row.terms), receipt_form_of(row.terms)
    again = frozen(row.round_id, plan, row.bids_close_at_ms, key, promised_of(row.terms), receipt_form=form)
    same = again.hash == row.terms_hash
    ensure(same, "the terms, as this version reads them, are not those frozen when the round was opened")
    if len(found) < plan.minimum_owners:
        _cancel(connection, row, now, f"{_owners(len(found))} bid, and the round needs {plan.minimum_owners}")
        return
    if row.seed is not None and row.nonce is None:
        if now >= _nonce_due(row):
            _cancel(connection, row, now, "its consumer did not tell her nonce in time")
        return
    made = ahead.made_of(ahead.named(row.round_id, found), row)
    offered = made.cleared.offers
    if plan.only_with_answer and why_hopeless(offered, terms):
        _cancel(connection, row, now, f"{_owners(len(found))} bid, {HOPELESS}")
        return
    keep_offers(connection, row.round_id, made.rows)
    closes = {"reports_close_at_ms": now + 1000 * plan.report_seconds}
    half_width = promised_half_width(offered, terms)
    _change(
        connection,
        row.round_id,
        state="reporting",
        **{**closes, **open_first_stage(connection, row, made.bids.owner_ids, offered, now)},
        offers=offered.bought,
        committed_micros=offered.spent_micros,
        forecast_half_width=half_width if half_width < float("inf") else None,
    )
    round_letters.tell_offered(connection, row.round_id, now)


def _owners(count: int) -> str:
    return f"{count:,} {'owner' if count == 1 else 'owners'}"


def _settle(connection: Connection, row: Found, now: int, settlement: Settlement) -> None:
    escrow.pay_and_return(connection, row, now, settlement.amounts)
    figures = {"paid_micros": settlement.answer.paid_micros, "answer": settlement.answer.model_dump_json()}
    _change(connection, row.round_id, state="settled", ended_at_ms=now, **figures)
    round_letters.tell_settled(connection, row.round_id, now)


def _cancel(connection: Connection, row: Found, now: int, reason: str) -> None:
    escrow.give_back(connection, row, now)
    _change(connection, row.round_id, state="cancelled", ended_at_ms=now, reason=reason)
    round_letters.tell_cancelled(connection, row.round_id, now)


def _change(connection: Connection, round_id: str, **values: object) -> None:
    connection.execute(update(rounds).where(rounds.c.round_id == round_id).values(**values))
