"""What became of the money: every report that a market signed for, held to what its statement says now.

What was noted as paid is looked at again each time, for what a statement says today it need not say tomorrow. A fault
of one round is a sentence, and the others are looked at all the same. The browser's twin: ``browser/settling.mjs``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from pdqs.model.money import exact_money
from pdqs.owner.account import StoredReport
from pdqs.owner.checks import refuse
from pdqs.owner.client import OwnerClient
from pdqs.owner.errors import OfferRefused
from pdqs.owner.receipt_checks import lines_of, paid_by
from pdqs.owner.review import Device
from pdqs.present.text import printable
from pdqs.protocol.device_messages import ReportReceipt, RoundNotice
from pdqs.protocol.market_messages import Posting
from pdqs.protocol.problems import MarketError, NotFoundError, ProblemType
from pdqs.protocol.summaries import NoticeSummary

OVER = ("settled", "cancelled")
_MOST_LINES = 20
"""So many lines of a statement about one round are kept as evidence; an honest market has one."""


def settle_up(
    device: Device, client: OwnerClient, notice: RoundNotice, now_ms: int, statement: Sequence[Posting] | None = None
) -> None:
    """Of a round that is over: what was paid, held to what was promised; of one noted as paid: whether it still is."""
    stored = device.ledger.account().report(device.market, notice.round_id)
    if stored is None or (stored.paid_micros is None and notice.state not in OVER):
        return
    if stored.paid_micros is not None:
        look_again(device, stored, client.statement() if statement is None else statement, now_ms)
        return
    receipt = client.report_if_any(notice.round_id)
    if receipt is not None:
        device.take_receipt(notice, receipt)
    elif stored.accepted_at_ms is None:
        return
    take_payment(device, notice, receipt, client.statement() if statement is None else statement, now_ms)


def take_payment(
    device: Device, notice: RoundNotice, receipt: ReportReceipt | None, statement: Sequence[Posting], now_ms: int
) -> None:
    """Hold what the market says it paid against what the offer promised, and keep it, with the lines that say so."""
    lines = lines_of(notice.round_id, statement)
    told = replace(device.look(notice), report_there=receipt, paid_micros=paid_by(lines))
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
    """Keep what became of the money, and the lines of the statement that say so."""
    said = json.dumps([line.model_dump() for line in lines[:_MOST_LINES]], sort_keys=True, separators=(",", ":"))
    device.ledger.note(kind, market=device.market, round_id=round_id, at_ms=now_ms, **micros, statement=said)


def look_over(device: Device, client: OwnerClient, notices: Sequence[NoticeSummary], now_ms: int) -> list[str]:
    """All that was reported from here in a market, beside its list of rounds: a sentence for each that is at fault."""
    reports = [each for each in device.ledger.account().reports() if each.market == device.market]
    if not reports:
        return []
    try:
        statement = client.statement()
    except MarketError as fault:
        if fault.type is not ProblemType.BAD_ANSWER:
            raise
        return [f"What the market says of your money cannot be read: {fault}."]
    states = {notice.round_id: notice.state for notice in notices}
    looking = _Looking(device=device, client=client, statement=statement, now_ms=now_ms)
    found = [looking.fault(each, states.get(each.round_id, "")) for each in reports]
    return [sentence for sentence in found if sentence]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Looking:
    device: Device
    client: OwnerClient
    statement: Sequence[Posting]
    now_ms: int

    def fault(self, made: StoredReport, state: str) -> str:
        """What is wrong about one report; ``state`` is its round's in the market's list, empty if it is not there."""
        where = f"Round {made.round_id}: "
        try:
            wrong = self._wrong(made, state)
        except OfferRefused as fault:
            wrong = str(fault).removeprefix(f"round {made.round_id}: ")
        except NotFoundError as fault:
            wrong = f"the market said: {printable(str(fault))}"
        except MarketError as fault:
            if fault.type is not ProblemType.BAD_ANSWER:
                raise
            wrong = str(fault)
        return f"{where}{wrong}." if wrong else ""

    def _wrong(self, made: StoredReport, state: str) -> str:
        signed = f"the market signed for your report, promised {exact_money(made.payment_micros)} and"
        if made.paid_micros is not None:
            look_again(self.device, made, self.statement, self.now_ms)
        elif not state and made.accepted_at_ms is not None:
            paid = paid_by(lines_of(made.round_id, self.statement)) or 0
            return f"{signed} no longer tells of the round" if paid < made.payment_micros else ""
        elif state in OVER:
            notice = self.client.notice(made.round_id)
            self.device.is_asked(notice, made.round_id)
            settle_up(self.device, self.client, notice, self.now_ms, self.statement)
            unpaid = state == "cancelled" and made.accepted_at_ms is not None and notice.state not in OVER
            return f"{signed} lists the round as cancelled" if unpaid else ""
        return ""
