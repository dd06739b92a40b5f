"""What owners do in a round: bid, change or withdraw the bid until bids close, and report, once and for good.

Both hold the round's row while they look at its state and the clock, so that a bid is either in before clearing reads
the bids, or refused; and the same for reports and settling.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import final

from sqlalchemy import ColumnElement, Connection, Executable, Table, bindparam, delete, select, update

from pdqs.market import access
from pdqs.market.bid_statement import keep_statement
from pdqs.market.context import Market, Promise
from pdqs.market.groups import require_eligible
from pdqs.market.receipts import signed
from pdqs.market.revocation import refuse_over, require_not_ended
from pdqs.market.round_terms import receipt_form_of, receipt_key_of
from pdqs.market.store.schema import bids, offers, questions, reports, rounds, stages, users
from pdqs.market.store.sql import Found
from pdqs.market.views import plan_of
from pdqs.market.withdrawals import ANY_TIME, hold_turn, keep_withdrawal, last_withdrawal
from pdqs.model.money import exact_money
from pdqs.model.names import QuestionKind
from pdqs.protocol.device_messages import Bid, BidReceipt, Report, ReportReceipt, Withdrawal
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import ConflictError, MarketError, NotFoundError, ProblemType, UnprocessableError
from pdqs.rounds.commitments import pseudonym_of
from pdqs.rounds.terms import Terms

_REMEMBERED = 10_000
_ANOTHER = "you have another bid in this round: look at it, then change it"


def place_bid(market: Market, actor: User, round_id: str, bid: Bid, after: int | None = None) -> BidReceipt:
    """Keep an owner's bid if the round is still open by the server's clock. It stands until she replaces it.

    ``after`` is the time of the last withdrawal that she knew of when she made it (0: none): with a later one it is
    refused, for she withdrew it on its way here.
    """
    access.require(actor, "owner")
    promise, made_after = promise_of(market, round_id), ANY_TIME if after is None else after
    refusal = bid_refusal(promise, bid)
    if bid.replaces is not None:
        _require_eligible(market, actor, round_id, promise)
        if refusal is not None:
            raise refusal
        return _replace_bid(market, actor, round_id, bid, made_after)
    with market.store.write() as connection:
        hold_turn(connection, round_id, actor.user_id)
        require_not_ended(connection, actor)
        now = market.clock()
        fresh = {"round": round_id, "owner": actor.user_id, "bid": bid.bid_micros, "now": now, "after": made_after}
        fits = refusal is None and keep_if_open(connection, fresh)
        if not fits and promise.for_groups:
            require_eligible(connection, actor, round_id)
        # Acknowledged before, by this request's twin or long ago?
        kept = None if fits else _own(connection, bids, round_id, actor)
        if kept is None and not fits:
            takes_bids = _takes_bids(_round_for_owner(connection, round_id), now)
            is_withdrawn = last_withdrawal(connection, round_id, actor.user_id) > made_after
            raise refusal or _not_kept(takes_bids and is_withdrawn)
    if kept is None:
        return bid_receipt(market, actor.user_id, round_id, bid.bid_micros, now)
    if (kept.bid_micros, promise.terms_hash) != (bid.bid_micros, bid.terms_hash):
        raise ConflictError(ProblemType.BID_STANDS, _ANOTHER)
    return bid_receipt(market, actor.user_id, round_id, kept.bid_micros, kept.placed_at_ms)


def _require_eligible(market: Market, actor: User, round_id: str, promise: Promise) -> None:
    """Refuse whoever neither is in a group that the round is for nor has bid in it."""
    if promise.for_groups:
        with market.store.look() as connection:
            require_eligible(connection, actor, round_id)


def _not_kept(is_withdrawn: bool) -> ConflictError:
    """Why a bid that is right in itself was not kept."""
    if is_withdrawn:
        return ConflictError(
            ProblemType.BID_WITHDRAWN,
            "you withdrew from this round after this bid was made, so it does not stand: bid again if you want to",
        )
    return ConflictError(ProblemType.BIDS_CLOSED, "bids in this round are closed")


def _replace_bid(market: Market, actor: User, round_id: str, bid: Bid, made_after: int) -> BidReceipt:
    """Put a new price in the place of the one she names by its receipt; the same request again gets the same receipt.

    The root over the bids is made when they close, and nothing is drawn or charged before: a change leaves no trace.
    """
    with market.store.write() as connection:
        kept = _bid_while_open(connection, market, round_id, actor)
        if kept is None:
            is_withdrawn = last_withdrawal(connection, round_id, actor.user_id) > made_after
            raise _not_kept(is_withdrawn) if is_withdrawn else _no_bid(round_id)
        placed = max(market.clock(), kept.placed_at_ms + 1)  # so that a receipt's time names one bid
        changed = update(bids).where(*_this_bid(round_id, actor, bid.replaces))
        if connection.execute(changed.values(bid_micros=bid.bid_micros, placed_at_ms=placed)).rowcount == 0:
            if kept.bid_micros != bid.bid_micros:
                raise ConflictError(ProblemType.BID_STANDS, _ANOTHER)
            placed = kept.placed_at_ms  # replaced before, by this request's twin
    return bid_receipt(market, actor.user_id, round_id, bid.bid_micros, placed)


def withdraw_bid(market: Market, actor: User, round_id: str, placed_at_ms: int | None = None) -> Withdrawal:
    """Forget an owner's bid, until bids close, and refuse those that are still on their way here.

    Where a receipt's time is given, forget that bid and no other; 0 says that she knows of none that has arrived.
    """
    access.require(actor, "owner")
    _require_eligible(market, actor, round_id, promise_of(market, round_id))
    with market.store.write() as connection:
        kept = _bid_while_open(connection, market, round_id, actor)
        if kept is not None:
            this = kept.placed_at_ms if placed_at_ms is None else placed_at_ms
            if connection.execute(delete(bids).where(*_this_bid(round_id, actor, this))).rowcount == 0:
                raise ConflictError(ProblemType.BID_STANDS, _ANOTHER)
        now = max(market.clock(), 0 if kept is None else kept.placed_at_ms)  # no bid is withdrawn before it was placed
        at = keep_withdrawal(connection, round_id, actor.user_id, now)
    return Withdrawal(round_id=round_id, withdrawn_at_ms=at)


def _this_bid(round_id: str, actor: User, placed_at_ms: int | None) -> tuple[ColumnElement[bool], ...]:
    """Her bid of that receipt and no other: of two changes at once, the second finds it gone."""
    return bids.c.round_id == round_id, bids.c.owner_id == actor.user_id, bids.c.placed_at_ms == placed_at_ms


def _bid_while_open(connection: Connection, market: Market, round_id: str, actor: User) -> Found | None:
    """Her bid, if any, in a round that still takes bids and is held, so that it cannot be cleared meanwhile."""
    hold_turn(connection, round_id, actor.user_id)
    require_not_ended(connection, actor)
    row = _round_for_owner(connection, round_id)
    kept = _own(connection, bids, round_id, actor)
    if not _takes_bids(row, market.clock()):
        if kept is None:
            raise _no_bid(round_id)
        raise ConflictError(ProblemType.BIDS_CLOSED, "bids in this round are closed: yours stands as it was")
    return kept


def _takes_bids(row: Found, now: int) -> bool:
    return row.state == "open" and row.bids_close_at_ms > now and row.bids_root is None


def _no_bid(round_id: str) -> NotFoundError:
    return NotFoundError(ProblemType.NO_BID, f"you have no bid in round {round_id}")


def submit_report(market: Market, actor: User, round_id: str, report: Report) -> ReportReceipt:
    """Keep an owner's report, once and for good. The same report again gets the same receipt."""
    access.require(actor, "owner")
    promise = promise_of(market, round_id)
    with market.store.write() as connection:
        row = _round_for_owner(connection, round_id)
        made = _reports_made(connection, actor)
        offer = _own(connection, offers, round_id, actor)
        if offer is None or offer.q_numerator == 0:
            if promise.for_groups:
                require_eligible(connection, actor, round_id)
            raise ConflictError(ProblemType.NO_OFFER, "there is no offer to you in this round")
        now = market.clock()
        kept = _own(connection, reports, round_id, actor)
        if kept is None:
            _refuse_report(row, report, now, _Turn.of(connection, row, offer, promise))
            kept = _keep_report(connection, actor, round_id, report, now, ordinal=made + 1)
        if (kept.code, row.terms_hash) != (report.code, report.terms_hash):
            raise ConflictError(
                ProblemType.REPORT_STANDS, "your report in this round stands: resend the same, never draw again"
            )
        side = _side_of(connection, round_id, actor) if promise.by_sides else None
    return report_receipt(market, kept, offer, side)


def bid_receipt(market: Market, owner_id: str, round_id: str, bid_micros: int, placed_at_ms: int) -> BidReceipt:
    """The market's word that it has an owner's bid, signed."""
    promise = promise_of(market, round_id)
    whose = {"pseudonym": pseudonym_of(round_id, owner_id).hex()} if promise.receipt_form > 1 else {}
    placed = {"bid_micros": bid_micros, "placed_at_ms": placed_at_ms}
    plain = BidReceipt.model_validate({"round_id": round_id, "terms_hash": promise.terms_hash, **placed, **whose})
    return signed(market, promise.receipt_key, plain)


def report_receipt(market: Market, kept: Found, offer: Found, side: int | None) -> ReportReceipt:
    """The market's word that it has a report, what it asked and what it will pay, signed; from rows of reports and
    offers, and the side that was asked about."""
    promise = promise_of(market, kept.round_id)
    said: dict[str, object] = {"q_numerator": offer.q_numerator, "stage": offer.stage, "side": side}
    said["pseudonym"] = pseudonym_of(kept.round_id, kept.owner_id).hex()
    kept_so = {
        "round_id": kept.round_id,
        "terms_hash": promise.terms_hash,
        "code": kept.code,
        "received_at_ms": kept.received_at_ms,
        "payment_micros": offer.payment_micros,
        "ordinal": kept.ordinal,
    }
    plain = ReportReceipt.model_validate(kept_so | (said if promise.receipt_form > 1 else {}))
    return signed(market, promise.receipt_key, plain)


def _side_of(connection: Connection, round_id: str, actor: User) -> int | None:
    """What an owner was asked about, once her stage has opened."""
    asked = _own(connection, questions, round_id, actor)
    return None if asked is None else int(asked.side)


def _reports_made(connection: Connection, actor: User) -> int:
    """How many reports this owner has made; refused, if her sign-in is over.

    Her row is held, so that a twin of this request waits for its end. Not her key (on PostgreSQL FOR NO KEY UPDATE):
    bids of hers, which only need her to be there, need not wait.
    """
    mine = select(users.c.reports_made, users.c.disabled_at_ms).where(users.c.user_id == actor.user_id)
    row = connection.execute(mine.with_for_update(key_share=True)).one_or_none()
    refuse_over(connection, actor, row and row.disabled_at_ms)
    return int(row.reports_made) if row else 0


def _keep_report(
    connection: Connection, actor: User, round_id: str, report: Report, now: int, *, ordinal: int
) -> Found:
    """Keep a report and count it; the row as it was kept."""
    fresh = {"round_id": round_id, "owner_id": actor.user_id, "code": report.code, "received_at_ms": now}
    connection.execute(reports.insert().values(**fresh, ordinal=ordinal))
    connection.execute(update(users).where(users.c.user_id == actor.user_id).values(reports_made=ordinal))
    return connection.execute(_mine(reports, round_id, actor)).one()


def promise_of(market: Market, round_id: str) -> Promise:
    """What a round holds its bids to."""
    known = market.promises.get(round_id)
    if known is None:
        with market.store.look() as connection:
            row = connection.execute(select(rounds).where(rounds.c.round_id == round_id)).one_or_none()
        if row is None or row.terms_hash is None:
            raise NotFoundError(ProblemType.NO_ROUND, f"there is no round {round_id} that you can see")
        low, high = plan_of(row).bid_low_micros, plan_of(row).bid_high_micros
        asked = Terms.read(json.loads(row.terms)["terms"]).asking
        known = Promise(
            terms_hash=row.terms_hash,
            bid_low_micros=low,
            bid_high_micros=high,
            receipt_key=receipt_key_of(row.terms),
            receipt_form=receipt_form_of(row.terms),
            codes=asked.kappa,
            by_sides=asked.kind == QuestionKind.SIDE,
            for_groups=bool(plan_of(row).groups),
        )
        if len(market.promises) >= _REMEMBERED:
            market.promises.clear()
        market.promises[round_id] = known
    return known


def bid_refusal(promise: Promise, bid: Bid) -> MarketError | None:
    """What is wrong with a bid whatever the hour, or nothing."""
    if bid.terms_hash != promise.terms_hash:
        return ConflictError(ProblemType.OTHER_TERMS, "the bid is for other terms than this round's")
    low, high = promise.bid_low_micros, promise.bid_high_micros
    if not low <= bid.bid_micros <= high:
        return UnprocessableError(
            ProblemType.BID_OUT_OF_RANGE, f"bids in this round lie from {exact_money(low)} to {exact_money(high)}"
        )
    return None


def keep_if_open(connection: Connection, fresh: dict[str, object]) -> bool:
    """Insert a bid in the one statement that also looks whether the round takes hers; whether it was inserted.

    The round's row is held, so that clearing waits for this bid, or this bid sees the cleared round.
    """
    return connection.execute(keep_statement(connection.dialect.name), fresh).first() is not None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """When an owner may report, and with how many codes. ``closes_at_ms``: nothing before her stage has opened."""

    closes_at_ms: int | None
    codes: int

    @staticmethod
    def of(connection: Connection, row: Found, offer: Found, promise: Promise) -> _Turn:
        if not promise.by_sides:
            return _Turn(closes_at_ms=row.reports_close_at_ms, codes=promise.codes)
        from_hers = (stages.c.round_id == row.round_id) & (stages.c.number >= offer.stage)
        opened = connection.scalars(select(stages.c.closes_at_ms).where(from_hers).order_by(stages.c.number)).all()
        # What the next stage asks follows from the reports of hers: once it has opened, hers is over by any clock,
        # be it that of another server, or one that went back.
        closes = opened[0] if len(opened) == 1 else 0 if opened else None
        return _Turn(closes_at_ms=closes, codes=promise.codes)


def _refuse_report(row: Found, report: Report, now: int, turn: _Turn) -> None:
    if row.state == "reporting" and turn.closes_at_ms is None:
        raise ConflictError(ProblemType.TOO_EARLY, "your question in this round has not come yet")
    if row.state != "reporting" or now >= (turn.closes_at_ms or 0):
        raise ConflictError(ProblemType.REPORTS_CLOSED, "reports in this round are closed")
    if report.terms_hash != row.terms_hash:
        raise ConflictError(ProblemType.OTHER_TERMS, "the report is for other terms than this round's")
    if report.code >= turn.codes:
        raise UnprocessableError(ProblemType.CODE_OUT_OF_RANGE, f"codes in this round lie from 0 to {turn.codes - 1}")


def _round_for_owner(connection: Connection, round_id: str) -> Found:
    """A round that owners can see, held so that it cannot be cleared or settled meanwhile."""
    row = connection.execute(_HELD, {"wanted": round_id}).one_or_none()
    if row is None or row.terms_hash is None:
        raise NotFoundError(ProblemType.NO_ROUND, f"there is no round {round_id} that you can see")
    return row


_HELD = (
    select(
        rounds.c.round_id,
        rounds.c.state,
        rounds.c.terms_hash,
        rounds.c.bids_close_at_ms,
        rounds.c.reports_close_at_ms,
        rounds.c.bids_root,
    )
    .where(rounds.c.round_id == bindparam("wanted"))
    .with_for_update(read=True)
)


def _own(connection: Connection, table: Table, round_id: str, actor: User) -> Found | None:
    return connection.execute(_mine(table, round_id, actor)).one_or_none()


def _mine(table: Table, round_id: str, actor: User) -> Executable:
    return select(table).where(table.c.round_id == round_id, table.c.owner_id == actor.user_id)
