"""Receipts that a device has kept, held to what the terms promise of them; and those that are still missing.

A receipt that says less than its round's terms promise is none of those that were promised: it is kept as evidence,
told at every look, and asked for again, like one that was lost on its way. The browser's twin: ``browser/kept.mjs``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import final

from pdqs.model.money import exact_money
from pdqs.owner.account import StoredBid, StoredReport
from pdqs.owner.checks import refuse
from pdqs.owner.client import OwnerClient
from pdqs.owner.errors import OfferRefused
from pdqs.owner.review import Device
from pdqs.owner.short_receipts import SAYS_LESS, falls_short
from pdqs.present.text import quoted
from pdqs.protocol.device_messages import RoundNotice
from pdqs.protocol.problems import MarketError, NotFoundError, ProblemType
from pdqs.protocol.summaries import NoticeSummary

_MOST_LOOKS = 20
"""A market is not asked about every bid of years that never came to it."""
_MOST_SILENT = 3
"""Nor is it waited for once it has not answered about so many rounds."""
LOST_REPORT = (
    "your report was drawn here, and the market says that it has none: send it again while it takes reports, which"
    " draws nothing and costs nothing"
)


def renew_report_receipt(device: Device, client: OwnerClient, notice: RoundNotice) -> None:
    """Where the receipt of a report that is kept says less than the terms promise: ask for what was promised."""
    account, where = device.ledger.account(), (device.market, notice.round_id)
    made = account.report(*where)
    if made is None or not falls_short(account.bid(*where), made.receipt):
        return
    there = client.report_if_any(notice.round_id)
    if there is None:
        raise OfferRefused(f"round {notice.round_id}: {SAYS_LESS}")
    device.take_receipt(notice, there)


def ask_for_report(device: Device, client: OwnerClient, notice: RoundNotice, made: StoredReport, now_ms: int) -> str:
    """Ask for what the market signed for a report of which no receipt has come, and keep it if it is true.

    What is wrong with it is refused. That the market has none comes back as a sentence, while it may be sent again.
    """
    there = client.report_if_any(notice.round_id)
    if there is not None:
        device.take_receipt(notice, there)
        return ""
    return LOST_REPORT if made.refused is None and not _is_closed(device, notice, now_ms) else ""


def _is_closed(device: Device, notice: RoundNotice, now_ms: int) -> bool:
    """Whether reports of hers are closed by this device's clock: those of her own stage, where there are stages.

    It goes by the end that was told with her question or offer. Where that is not known, they may be open still.
    """
    account, where = device.ledger.account(), (device.market, notice.round_id)
    asked, first = account.question(*where), account.offer(*where)
    if asked is not None:
        ends = [asked.closes_at_ms]
    else:
        ends = [first.closes_at_ms if first else 0, notice.reports_close_at_ms or 0]
    return all(0 < end <= now_ms for end in ends)


def ask_for_bid(device: Device, client: OwnerClient, notice: RoundNotice) -> str:
    """Ask again for what the market signed for her bid, where that is missing, and keep it if it is true.

    What is wrong with it is refused. That it has no bid is no fault of its own: that comes back as a sentence.
    """
    account, where = device.ledger.account(), (device.market, notice.round_id)
    bid = account.bid(*where)
    if bid is None or not _is_missing(bid, account.unsigned_bids(*where)):
        return ""
    there = client.bid_if_any(notice.round_id)
    if there is None:
        return _none_there(bid, notice.state)
    device.catch_up(notice, there)
    told = replace(device.look(notice), bid_there=there)
    refuse("offer", told, {name: check for name, check in device.checks.items() if name == "bid there"})
    return ""


def _is_missing(bid: StoredBid, unsigned: Sequence[StoredBid]) -> bool:
    return not bid.accepted or bool(unsigned) or falls_short(bid, bid.receipt)


def _none_there(bid: StoredBid, state: str) -> str:
    if bid.accepted:
        if falls_short(bid, bid.receipt):
            raise OfferRefused(f"round {bid.round_id}: {SAYS_LESS}")
        return ""
    price = exact_money(bid.bid_micros)
    if state == "open":
        return f"a bid of {price} left this device, and the market says that it has none: bid again if it is to stand"
    return f"a bid of {price} left this device, and the market says that none came before bids closed"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Of rounds that were looked at: what is at fault, and what is to be known, in sentences.

    Whoever does not answer about one round hides nothing about another: ``unseen`` has a sentence for each that could
    not be looked at, ``left_out`` those that were not asked about then.
    """

    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)

    def look_at(self, round_id: str, look: Callable[[], str], *, asks: bool = True) -> bool:
        """Keep what is wrong about one round, in words; gives whether it was looked at and nothing is wrong.

        ``asks``: whether the market is asked for it. What is known without its word, it cannot hide by silence.
        """
        if asks and len(self.unseen) >= _MOST_SILENT:
            self.left_out.add(round_id)
            return False
        try:
            fault = _fault_of(round_id, look)
        except MarketError as silence:
            self.unseen.append(f"Round {round_id} could not be looked at: {silence_in_words(silence)}.")
            return False
        self.faults.extend([fault] if fault else [])
        return not fault

    def unseen_in_words(self) -> list[str]:
        """A sentence for each round that could not be looked at, and one for those left out."""
        count = len(self.left_out)
        others = "another round was" if count == 1 else f"{count} other rounds were"
        return [*self.unseen, *([f"The market did not answer, so that {others} not looked at."] if count else [])]


def silence_in_words(fault: MarketError) -> str:
    """Why nothing is known, the market's words as a quotation."""
    return str(fault) if fault.type is ProblemType.UNREACHABLE else f"the market said: {quoted(str(fault))}"


def ask_for_bids(device: Device, client: OwnerClient, notices: Sequence[NoticeSummary], found: Found) -> None:
    """The same for the rounds of a market's list; of those that are over, only where the market has a bid."""
    account = device.ledger.account()

    def lacks(round_id: str) -> bool:
        bid = account.bid(device.market, round_id)
        return bid is not None and _is_missing(bid, account.unsigned_bids(device.market, round_id))

    missing = [each for each in notices if each.state != "cancelled" and lacks(each.round_id)]
    for each in missing[:_MOST_LOOKS]:
        _look_at(device, client, each, found)


def _look_at(device: Device, client: OwnerClient, listed: NoticeSummary, found: Found) -> None:
    notes: list[str] = []

    def look() -> str:
        notice = client.notice(listed.round_id)
        device.is_asked(notice, listed.round_id)
        if said := ask_for_bid(device, client, notice):
            notes.append(f"Round {listed.round_id}: {said}.")
        return ""

    found.look_at(listed.round_id, look)
    found.notes.extend(notes if listed.state in ("open", "reporting") else [])


def _fault_of(round_id: str, look: Callable[[], str]) -> str:
    """What is wrong about one round, as a sentence that quotes a market's words; no answer about it is raised."""
    try:
        wrong = look()
    except OfferRefused as fault:
        wrong = str(fault).removeprefix(f"round {round_id}: ")
    except NotFoundError as fault:
        wrong = f"the market said: {quoted(str(fault))}"
    except MarketError as fault:
        if fault.type is not ProblemType.BAD_ANSWER:
            raise
        wrong = str(fault)
    return f"Round {round_id}: {wrong}." if wrong else ""
