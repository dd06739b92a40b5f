"""What the device holds a market's receipts and payments to; part of :mod:`pdqs.owner.checks`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from types import MappingProxyType

from pdqs.model.money import exact_money
from pdqs.owner.account import StoredBid, StoredReport
from pdqs.owner.entry_shapes import read_object
from pdqs.owner.errors import OfferRefused
from pdqs.owner.short_receipts import SAYS_LESS
from pdqs.owner.told import Checks, Told
from pdqs.privacy.loss import NANOS_PER_EPSILON, epsilon_nanos
from pdqs.protocol.device_messages import BidReceipt, ReportReceipt
from pdqs.protocol.market_messages import Posting
from pdqs.protocol.receipts import is_signed
from pdqs.rounds.commitments import pseudonym_of


def _receipt_of(told: Told) -> ReportReceipt:
    if told.report_there is None:
        raise OfferRefused(f"round {told.notice.round_id}: there is no receipt")
    return told.report_there


def _wrong(what: str, good: bool) -> str | None:
    return None if good else f"the market's receipt {what}"


def _bid_of(told: Told) -> tuple[StoredBid, BidReceipt]:
    if told.bid is None or told.bid_there is None:
        raise OfferRefused(f"round {told.notice.round_id}: there is no receipt for a bid of this device")
    return told.bid, told.bid_there


def _in_turn(told: Told) -> str | None:
    """A receipt's time names one bid: what was signed for a price before is no word for the same price named again."""
    bid, receipt = _bid_of(told)
    if receipt.placed_at_ms >= told.notice.bids_close_at_ms:
        return _wrong("says that the bid came late", False)
    before = read_object(bid.body).get("replaces")
    good = before is None or receipt.placed_at_ms > before
    return _wrong("is no later than that of the bid whose place yours takes", good)


def _report_of(told: Told) -> tuple[StoredReport, ReportReceipt]:
    if told.report is None or told.report_there is None:
        raise OfferRefused(f"round {told.notice.round_id}: there is no receipt for a report of this device")
    return told.report, told.report_there


def _closed_ms(told: Told) -> int:
    """When reports of hers closed: those of her own stage, where there are stages, as it was first told."""
    if told.asked is None:
        now, first = [told.notice.reports_close_at_ms or 0], told.first.closes_at_ms if told.first else 0
    else:
        now = [stage.closes_at_ms for stage in told.notice.stages if stage.number == told.asked.stage]
        first = told.asked.closes_at_ms
    return min([*now, *([first] if first else [])], default=0)


def _asked(told: Told) -> str | None:
    """What the market signs that it asked for, against the offer that was drawn from."""
    made, receipt = _report_of(told)
    if not receipt.is_of_form_2:
        good = told.promise.receipt_form < 2
        return _wrong("does not say what you were asked for, as its terms promise", good)
    nanos = epsilon_nanos(receipt.q_numerator or 0, told.promise.terms.kappa)
    offered, side = told.first, None if told.asked is None else told.asked.side
    if nanos != made.epsilon_nanos or (offered is not None and offered.q_numerator != receipt.q_numerator):
        yours, theirs = (f"{some / NANOS_PER_EPSILON:.9f}" for some in (made.epsilon_nanos, nanos))
        return _wrong(f"says that you were asked for epsilon {theirs}, and the offer asked for {yours}", False)
    if offered is not None and offered.stage != receipt.stage:
        return _wrong(f"is for stage {receipt.stage}, and you were asked in stage {offered.stage}", False)
    return _wrong("says that you were asked about another side than you were", receipt.side == side)


def _whose(told: Told, receipt: BidReceipt | ReportReceipt) -> str | None:
    """Whose the market signs that a receipt is, against her name in the round."""
    if not receipt.is_of_form_2:
        return None if told.promise.receipt_form < 2 else SAYS_LESS
    hers = pseudonym_of(told.notice.round_id, told.bid.owner_id if told.bid else "").hex()
    return _wrong("is another owner's: it does not have your name in this round", receipt.pseudonym == hers)


def _counted(told: Told) -> str | None:
    """The market's number of her report; one beyond those known of here may come from another device of hers."""
    ordinal = _receipt_of(told).ordinal
    if ordinal > told.made:
        return _wrong(
            "counts your reports wrongly, or another device reported for you meanwhile (it counts"
            f" {ordinal}, and this device knows of {told.made}): if so, say that at your next offer, and it is taken",
            False,
        )
    good = told.accepted_before < ordinal and ordinal not in told.ordinals
    return _wrong("counts your reports wrongly", good)


def _still_there(told: Told) -> str | None:
    signed = told.report is not None and told.report.accepted_at_ms is not None
    gone = signed and told.report_there is None and not told.may_be_deleted
    return "the market signed for your report and now has none" if gone else None


def _paid(told: Told) -> str | None:
    promised = told.report.payment_micros if told.report else 0
    kept = told.paid_micros or 0  # below nought where more was taken, which is told by itself
    paid = exact_money(kept) if kept > 0 else "nothing"
    good = told.paid_micros == promised
    called = " (it calls the round cancelled)" if told.notice.state == "cancelled" else ""
    return None if good else f"{exact_money(promised)} was promised and {paid} was paid{called}"


def lines_of(round_id: str, statement: Iterable[Posting]) -> list[Posting]:
    """Of a statement, what is about one round."""
    return [line for line in statement if line.round_id == round_id]


def paid_by(lines: Sequence[Posting]) -> int | None:
    """What the lines of a round paid her, less what they took back; None where none says that it was settled."""
    if not any(line.kind == "settlement" for line in lines):
        return None
    return sum(line.amount_micros for line in lines if line.kind == "settlement" or line.amount_micros < 0)


def _gone(made: StoredReport, lines: Sequence[Posting]) -> str | None:
    """Of a report that was noted as paid: whether the money is still there, by the market's own statement."""
    left = max(paid_by(lines) or 0, 0)
    if left >= made.noted_micros:
        return None
    names = sorted({line.kind for line in lines if line.amount_micros < 0})
    how = f"the market calls it {' and '.join(names)}" if names else "the line is gone from the market's statement"
    paid, gone = exact_money(made.noted_micros), exact_money(made.noted_micros - left)
    return (
        f"{paid} was paid for your report, and {gone} of it was taken back since ({how}). This device keeps"
        " the market's signed receipt and the statement's lines as it saw them then and now: pdqs owner export"
    )


RECEIPT_CHECKS: Checks = MappingProxyType(
    {
        "bid receipt round": (
            "bid receipt",
            lambda t: _wrong("is for another round", _bid_of(t)[1].round_id == t.notice.round_id),
        ),
        "bid receipt terms": (
            "bid receipt",
            lambda t: _wrong("is for other terms", _bid_of(t)[1].terms_hash == t.notice.terms_hash),
        ),
        "bid receipt price": (
            "bid receipt",
            lambda t: _wrong("says another price", _bid_of(t)[0].bid_micros == _bid_of(t)[1].bid_micros),
        ),
        "bid receipt owner": ("bid receipt", lambda t: _whose(t, _bid_of(t)[1])),
        "bid receipt time": ("bid receipt", _in_turn),
        "bid receipt signature": (
            "bid receipt",
            lambda t: _wrong("is not signed by its key", is_signed(t.promise.receipt_key, _bid_of(t)[1])),
        ),
        "receipt round": (
            "report receipt",
            lambda t: _wrong("is for another round", _receipt_of(t).round_id == t.notice.round_id),
        ),
        "receipt terms": (
            "report receipt",
            lambda t: _wrong("is for other terms", _receipt_of(t).terms_hash == t.notice.terms_hash),
        ),
        "receipt owner": ("report receipt", lambda t: _whose(t, _receipt_of(t))),
        "receipt code": (
            "report receipt",
            lambda t: _wrong("says another answer", _receipt_of(t).code == json.loads(_report_of(t)[0].body)["code"]),
        ),
        "receipt payment": (
            "report receipt",
            lambda t: _wrong(
                f"promises {exact_money(_receipt_of(t).payment_micros)} where the offer said"
                f" {exact_money(_report_of(t)[0].payment_micros)}",
                _receipt_of(t).payment_micros == _report_of(t)[0].payment_micros,
            ),
        ),
        "receipt asked": ("report receipt", _asked),
        "receipt time": (
            "report receipt",
            lambda t: _wrong(
                "says that the report came late",
                t.notice.bids_close_at_ms <= _receipt_of(t).received_at_ms < _closed_ms(t),
            ),
        ),
        "receipt count": (
            "report receipt",
            _counted,
        ),
        "receipt signature": (
            "report receipt",
            lambda t: _wrong("is not signed by its key", is_signed(t.promise.receipt_key, _receipt_of(t))),
        ),
        "report still there": ("payment", _still_there),
        "payment": ("payment", _paid),
        "payment stays": ("afterwards", _gone),
    }
)
