"""What became of the money: every report that a market signed for, held to what its statement says now.

What was noted as paid is looked at again each time, for what a statement says today it need not say tomorrow. A fault
of one round is a sentence, and the others are looked at all the same. The browser's twin: ``browser/settling.mjs``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import final

from pdqs.model.money import exact_money
from pdqs.owner.account import Account, StoredReport
from pdqs.owner.checks import refuse
from pdqs.owner.client import OwnerClient
from pdqs.owner.dropped import look_for_offers
from pdqs.owner.errors import OfferRefused
from pdqs.owner.kept_receipts import Found, ask_for_bids, ask_for_report, renew_report_receipt, silence_in_words
from pdqs.owner.overdue import is_overdue, may_be_deleted, overdue_in_words
from pdqs.owner.receipt_checks import lines_of, paid_by
from pdqs.owner.review import Device
from pdqs.owner.short_receipts import SAYS_LESS, falls_short
from pdqs.owner.statement import Money, adds_up, repeated, taken, unconfirmed
from pdqs.protocol.device_messages import ReportReceipt, RoundNotice
from pdqs.protocol.market_messages import Posting
from pdqs.protocol.problems import MarketError, ProblemType
from pdqs.protocol.summaries import NoticeSummary

OVER = ("settled", "cancelled")
_MOST_LINES = 20
"""So many lines of a statement about one round are kept as evidence; an honest market has one."""
_MOST_NOTES = 12
"""So often is it kept that a report was paid or taken back; a fault is told at each look all the same."""


def settle_up(
    device: Device, client: OwnerClient, notice: RoundNotice, now_ms: int, statement: Sequence[Posting] | None = None
) -> None:
    """Of a round that is over: what was paid, held to what was promised; of one noted as paid: whether it still is. A
    receipt that says less than was promised is told after that, and asked for again."""
    _settle(device, client, notice, now_ms, statement)
    renew_report_receipt(device, client, notice)


def _settle(
    device: Device, client: OwnerClient, notice: RoundNotice, now_ms: int, statement: Sequence[Posting] | None
) -> None:
    stored = device.ledger.account().report(device.market, notice.round_id)
    if stored is None or (stored.paid_micros is None and notice.state not in OVER):
        return
    if stored.paid_micros is not None:
        look_again(device, stored, client.statement() if statement is None else statement, now_ms)
        return
    receipt = client.report_if_any(notice.round_id)
    if stored.accepted_at_ms is None:
        if receipt is None:
            return
        device.take_receipt(notice, receipt)
    take_payment(device, notice, receipt, client.statement() if statement is None else statement, now_ms)


def take_payment(
    device: Device, notice: RoundNotice, receipt: ReportReceipt | None, statement: Sequence[Posting], now_ms: int
) -> None:
    """Hold what the market says it paid against what the offer promised, and keep it, with the lines that say so."""
    lines = lines_of(notice.round_id, statement)
    heard = device.look(notice)
    deleted = heard.bid is not None and may_be_deleted(heard.bid.terms, now_ms)
    told = replace(heard, report_there=receipt, paid_micros=paid_by(lines), may_be_deleted=deleted)
    refuse("payment", told, device.checks)
    if told.report is not None and told.report.paid_micros is None:
        _note(device, "paid", notice.round_id, lines, now_ms, paid_micros=told.paid_micros)


def look_again(device: Device, made: StoredReport, statement: Sequence[Posting], now_ms: int) -> None:
    """Of a report noted as paid: if the market has taken money back since, keep that, and say so each time."""
    lines = lines_of(made.round_id, statement)
    left = max(paid_by(lines) or 0, 0)
    found = [check(made, lines) for stage, check in device.checks.values() if stage == "afterwards"]
    wrong = next(filter(None, found), None)
    if wrong is None and made.taken_back_micros and left >= made.noted_micros:  # and it was given again
        _note(device, "paid", made.round_id, lines, now_ms, paid_micros=left)
    if wrong is None:
        return
    if left != made.paid_micros:
        gone = {"paid_micros": left, "taken_back_micros": made.noted_micros - left}
        _note(device, "taken-back", made.round_id, lines, now_ms, **gone)
    raise OfferRefused(f"round {made.round_id}: {wrong}")


def _note(
    device: Device, kind: str, round_id: str, lines: Sequence[Posting], now_ms: int, **micros: int | None
) -> None:
    """Keep what became of the money, and the lines of the statement that say so.

    What a statement says is the market's to change at every look, and her account must not grow with it: the lines are
    kept the first time that she was paid and the first time that it was taken back, later their hash, and not for ever.
    """
    said = json.dumps(
        [line.model_dump() for line in lines[:_MOST_LINES]], sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    before = device.ledger.account().money(device.market, round_id)
    if len(before) >= _MOST_NOTES:
        return
    is_first = all(entry["kind"] != kind for entry in before)
    shown = {"statement": said} if is_first else {"statement_hash": hashlib.sha256(said.encode()).hexdigest()}
    device.ledger.note(kind, market=device.market, round_id=round_id, at_ms=now_ms, **micros, **shown)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What is at fault, in sentences, and the payouts that she has not said she got, newest first.

    ``notes`` are sentences that are to be known, and nobody's fault; ``unseen`` says what could not be looked at.
    """

    faults: list[str]
    payouts: list[Posting]
    notes: list[str]
    unseen: list[str]


def look_over(
    device: Device,
    client: OwnerClient,
    notices: Sequence[NoticeSummary],
    now_ms: int,
    owed: Callable[[], int] | None = None,
) -> Looked:
    """All that was bid and reported from here in a market, beside its list of rounds: a sentence for each that is at
    fault, and for money that no round accounts for. ``owed`` asks for what she is shown as owed to her, where that is
    shown."""
    found = Found()
    ask_for_bids(device, client, notices, found)
    look_for_offers(device, client, notices, now_ms, found)
    account = device.ledger.account()
    reports = [each for each in account.reports() if each.market == device.market]
    payouts: list[Posting] = []
    if reports:
        try:
            money, apart = _money(client, owed)
        except MarketError as fault:
            _tell_unread(fault, found)
        else:
            states = {notice.round_id: notice.state for notice in notices}
            looking = _Looking(device=device, client=client, statement=money.lines, now_ms=now_ms, before=account)
            for each in reports:
                looking.look_at(each, states.get(each.round_id, ""), found)
            found.faults.extend([*apart, *taken(money.lines)])
            payouts = unconfirmed(money.lines, account.received(device.market))
    return Looked(faults=found.faults, payouts=payouts, notes=found.notes, unseen=found.unseen_in_words())


def _tell_unread(fault: MarketError, found: Found) -> None:
    """That nothing is known of the money, and so of what was reported."""
    if fault.type is ProblemType.BAD_ANSWER:
        found.faults.append(f"What the market says of your money cannot be read: {fault}.")
    else:
        found.unseen.append(f"What the market says of your money could not be looked at: {silence_in_words(fault)}.")


def _money(client: OwnerClient, owed: Callable[[], int] | None) -> tuple[Money, list[str]]:
    """The statement, and why it is none: asked for twice before that is said, for it may change meanwhile."""
    for _ in range(2):
        money = client.money()
        apart = [*adds_up(money, () if owed is None else (owed(),)), *repeated(money.lines)]
        if not apart:
            break
    return money, apart


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Looking:
    device: Device
    client: OwnerClient
    statement: Sequence[Posting]
    now_ms: int
    before: Account
    """As it was before: read anew for a report that is at fault, and not for each of years."""

    def look_at(self, made: StoredReport, state: str, found: Found) -> None:
        """Keep what is wrong about one report; ``state`` is its round's in the market's list, empty if not there."""
        if made.accepted_at_ms is None and state == "reporting":  # it is not too late for one that was lost on its way
            found.look_at(made.round_id, lambda: self._ask_again(made, found))
            return
        asks = made.paid_micros is None and state in OVER  # all else is told by what is here already
        if found.look_at(made.round_id, lambda: self._wrong(made, state), asks=asks) and self._is_short(made):
            found.look_at(made.round_id, lambda: self._less(made, state), asks=bool(state))

    def _ask_again(self, made: StoredReport, found: Found) -> str:
        notice = self.client.notice(made.round_id)
        self.device.is_asked(notice, made.round_id)
        if said := ask_for_report(self.device, self.client, notice, made, self.now_ms):
            found.notes.append(f"Round {made.round_id}: {said}.")
        return ""

    def _is_short(self, made: StoredReport) -> bool:
        return falls_short(self.before.bid(made.market, made.round_id), made.receipt)

    def _less(self, made: StoredReport, state: str) -> str:
        """That the receipt still says less than was promised; it is asked for again while the round is listed."""
        now = self.device.ledger.account().report(made.market, made.round_id)
        if now is None or not self._is_short(now):
            return ""
        if not state:
            return SAYS_LESS
        renew_report_receipt(self.device, self.client, self.client.notice(made.round_id))
        return ""

    def _wrong(self, made: StoredReport, state: str) -> str:
        signed = f"the market signed for your report, promised {exact_money(made.payment_micros)} and"
        if made.paid_micros is not None:
            look_again(self.device, made, self.statement, self.now_ms)
        elif not state and made.accepted_at_ms is not None:
            return "" if self._paid_unlisted(made) else f"{signed} no longer tells of the round"
        elif state in OVER:
            notice = self.client.notice(made.round_id)
            self.device.is_asked(notice, made.round_id)
            settle_up(self.device, self.client, notice, self.now_ms, self.statement)
            unpaid = state == "cancelled" and made.accepted_at_ms is not None and notice.state not in OVER
            return f"{signed} lists the round as cancelled" if unpaid else ""
        elif made.accepted_at_ms is not None:
            late = self._overdue(made)
            return f"{signed} {late}" if late else ""
        return ""

    def _paid_unlisted(self, made: StoredReport) -> bool:
        """Whether what was promised is in the statement, of a round that is listed no more, as none is for ever: it is
        kept now, for nothing will be told of the round again."""
        lines = lines_of(made.round_id, self.statement)
        paid = paid_by(lines)
        if paid == made.payment_micros:
            _note(self.device, "paid", made.round_id, lines, self.now_ms, paid_micros=paid)
        return (paid or 0) >= made.payment_micros

    def _overdue(self, made: StoredReport) -> str:
        """That the round should be over by now, where it should and what was promised is not in the statement."""
        bid = self.before.bid(made.market, made.round_id)
        paid = paid_by(lines_of(made.round_id, self.statement)) or 0
        if bid is None or paid >= made.payment_micros or not is_overdue(bid.terms, self.now_ms):
            return ""
        return overdue_in_words(bid.terms, self.now_ms)
