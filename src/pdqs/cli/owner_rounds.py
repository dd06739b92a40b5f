"""The rounds of a market as ``pdqs owner list`` shows them: how each stands for her, and what to know beside that."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from pdqs.cli.offer_words import folded, is_wide
from pdqs.model.money import PLAIN, exact_money
from pdqs.owner.account import Account, StoredReport
from pdqs.owner.dealing import asks_when_over, is_late
from pdqs.owner.settling import Looked
from pdqs.owner.statement import payout_in_words
from pdqs.owner.visit import Visit
from pdqs.present.text import printable, quoted, table
from pdqs.present.times import moment_text
from pdqs.protocol.device_messages import Offer
from pdqs.protocol.market_messages import Posting
from pdqs.protocol.problems import MarketError, NotFoundError, ProblemType
from pdqs.protocol.summaries import NoticeSummary

_HEAD = ("round", "state", "question", "you")
_MOST_TEXT = 40
_MOST_PAYOUTS = 3
_MOST_LOOKS = 20
"""A market is not asked about every round of years."""
_APART = 2
"""Between the columns of a table."""


def rounds_in_words(visit: Visit, account: Account, notices: Sequence[NoticeSummary]) -> str:
    """A line to each round, and then a sentence for each that needs one."""
    texts = _shortened([notice.text or "(no text)" for notice in notices], _ahead(notices))
    recent = _recent(visit, account, notices)
    rows = [
        (notice.round_id, notice.state, text, _standing(visit, account, notice, recent))
        for notice, text in zip(notices, texts, strict=True)
    ]
    shown = table(_HEAD, rows) if rows else "No rounds are open."
    reports = [each for each in account.reports() if each.market == visit.device.market]
    listed = {notice.round_id for notice in notices}
    return "\n".join([shown, *refusals_in_words([each for each in reports if each.round_id in listed])])


def looked_in_words(looked: Looked) -> list[str]:
    """What was found as all that was bid and reported from here was looked over, each line by what it is."""
    told = {"Wrong": looked.faults, "Not seen": looked.unseen, "Note": looked.notes}
    lines = [line for name, sentences in told.items() for each in sentences for line in folded(name, each)]
    return [*lines, *payouts_in_words(looked.payouts)]


def payouts_in_words(told: Sequence[Posting]) -> list[str]:
    """The payouts that wait for her word, the newest first."""
    said = [payout_in_words(each) for each in told[:_MOST_PAYOUTS]]
    more = told[_MOST_PAYOUTS:]
    if more:
        said.append(
            f"And {len(more)} more before that, {exact_money(-sum(each.amount_micros for each in more))} in all."
        )
    if told:
        said.append("Once you have: pdqs owner received. If it never came, the market owes it to you still.")
    return [line for sentence in said for line in folded("Paid out", sentence)]


def _ahead(notices: Sequence[NoticeSummary]) -> int:
    """The places that a line has before the question."""
    firsts = [_HEAD[:2], *((notice.round_id, notice.state) for notice in notices)]
    return sum(max(map(len, column)) + _APART for column in zip(*firsts, strict=True))


def _shortened(texts: Sequence[str], ahead: int) -> list[str]:
    """Consumers' words, so short that a terminal does not fold them: what begins a line is the device's to say."""
    room = min(_MOST_TEXT, shutil.get_terminal_size((ahead + _MOST_TEXT, 0)).columns - ahead)
    most = max(10, room) // (2 if is_wide("".join(texts)) else 1)
    return [printable(" ".join(text.split()), most) for text in texts]


def _recent(visit: Visit, account: Account, notices: Sequence[NoticeSummary]) -> frozenset[str]:
    """The last rounds that are settled and that she bid in and did not report in: she may have been asked."""
    market = visit.device.market
    settled = [notice.round_id for notice in notices if notice.state == "settled"]
    silent = [each for each in settled if account.bid(market, each) and account.report(market, each) is None]
    return frozenset(silent[:_MOST_LOOKS])


def _standing(visit: Visit, account: Account, notice: NoticeSummary, recent: frozenset[str]) -> str:
    reported = account.report(visit.device.market, notice.round_id)
    if reported is not None:
        return reported.facts
    made = account.bid(visit.device.market, notice.round_id)
    if made is None:
        return ""
    named = f"bid {exact_money(made.bid_micros)}{'' if made.accepted else ', not signed for'}"
    try:
        offer = _offer(visit, notice.round_id) if notice.state == "reporting" or notice.round_id in recent else None
    except MarketError as fault:
        if fault.type is not ProblemType.BAD_ANSWER:
            raise
        return f"{named}; what the market says of your offer cannot be read"
    return named if offer is None else _asked(offer, notice)


def _offer(visit: Visit, round_id: str) -> Offer | None:
    """A first look, to tell her that there is one: nothing is checked before she looks at it herself."""
    try:
        return visit.client.offer(round_id)
    except NotFoundError:
        return None


def _asked(offer: Offer, notice: NoticeSummary) -> str:
    if offer.q_numerator == 0:
        return "not drawn" if offer.lots else "not asked"
    until = moment_text(offer.reports_close_at_ms)
    if is_late(offer):
        return f"missed: {PLAIN.owed(offer.payment_micros)} was offered until {until}"
    if notice.state != "reporting":
        return asks_when_over(notice.state)
    stage = f" in stage {offer.stage}" if notice.stages_in_all > 1 else ""
    return f"asked{stage}: report by {until}"


def refusals_in_words(reports: Sequence[StoredReport]) -> list[str]:
    """What the market said against each that it refused, as a quotation: it is not to pass for what the device says."""
    return [
        line
        for each in reports
        if each.refusal
        for line in folded("Refused", f"{each.round_id}: the market said: {quoted(each.refusal)}")
    ]
