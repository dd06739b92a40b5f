"""The rounds of a market as ``pdqs owner list`` shows them: how each stands for her, and what to know beside that."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from pdqs.cli.offer_words import folded, is_wide
from pdqs.model.money import exact_money
from pdqs.owner.account import Account, StoredReport
from pdqs.owner.visit import Visit
from pdqs.present.text import printable, table
from pdqs.present.times import moment_text
from pdqs.protocol.device_messages import Offer
from pdqs.protocol.problems import NotFoundError
from pdqs.protocol.summaries import NoticeSummary

_HEAD = ("round", "state", "question", "you")
_MOST_TEXT = 40
_APART = 2
"""Between the columns of a table."""


def rounds_in_words(visit: Visit, account: Account, notices: Sequence[NoticeSummary]) -> str:
    """A line to each round, and then a sentence for each that needs one."""
    texts = _shortened([notice.text or "(no text)" for notice in notices], _ahead(notices))
    rows = [
        (notice.round_id, notice.state, text, _standing(visit, account, notice))
        for notice, text in zip(notices, texts, strict=True)
    ]
    shown = table(_HEAD, rows) if rows else "No rounds are open."
    reports = [each for each in account.reports() if each.market == visit.device.market]
    return "\n".join([shown, *_refusals(reports, notices)])


def _ahead(notices: Sequence[NoticeSummary]) -> int:
    """The places that a line has before the question."""
    firsts = [_HEAD[:2], *((notice.round_id, notice.state) for notice in notices)]
    return sum(max(map(len, column)) + _APART for column in zip(*firsts, strict=True))


def _shortened(texts: Sequence[str], ahead: int) -> list[str]:
    """Consumers' words, so short that a terminal does not fold them: what begins a line is the device's to say."""
    room = min(_MOST_TEXT, shutil.get_terminal_size((ahead + _MOST_TEXT, 0)).columns - ahead)
    most = max(10, room) // (2 if is_wide("".join(texts)) else 1)
    return [printable(" ".join(text.split()), most) for text in texts]


def _standing(visit: Visit, account: Account, notice: NoticeSummary) -> str:
    reported = account.report(visit.device.market, notice.round_id)
    if reported is not None:
        return reported.facts.partition(":")[0]  # a refusal's words are the market's: they come below
    made = account.bid(visit.device.market, notice.round_id)
    if made is None:
        return ""
    offer = _offer(visit, notice.round_id) if notice.state == "reporting" else None
    return f"bid {exact_money(made.bid_micros)}" if offer is None else _asked(offer, notice.stages_in_all)


def _offer(visit: Visit, round_id: str) -> Offer | None:
    """A first look, to tell her that there is one: nothing is checked before she looks at it herself."""
    try:
        return visit.client.offer(round_id)
    except NotFoundError:
        return None


def _asked(offer: Offer, stages: int) -> str:
    if offer.q_numerator == 0:
        return "not drawn" if offer.lots else "not asked"
    until = moment_text(offer.reports_close_at_ms)
    if offer.now_ms >= offer.reports_close_at_ms:
        return f"was asked until {until}"
    stage = f" in stage {offer.stage}" if stages > 1 else ""
    return f"asked{stage}: report by {until}"


def _refusals(reports: Sequence[StoredReport], notices: Sequence[NoticeSummary]) -> list[str]:
    listed = {notice.round_id for notice in notices}
    return [
        line
        for each in reports
        if each.round_id in listed and each.refused and each.accepted_at_ms is None
        for line in folded("Refused", f"{each.round_id}: the market said: {printable(each.refused)}")
    ]
