"""What a market has told a device, beside what the device itself has kept, for the checks to look at.

The frozen document is read by the core's own reader, and must be what the core would write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, final

from pdqs.model.errors import PdqsError
from pdqs.owner.account import StoredBid, StoredLots, StoredOffer, StoredQuestion, StoredReport
from pdqs.owner.errors import OfferRefused
from pdqs.owner.reading import read_document
from pdqs.present.text import printable
from pdqs.pricing import rules
from pdqs.protocol.device_messages import BidReceipt, Offer, ReportReceipt, RoundNotice
from pdqs.rounds.terms import Terms

MARGIN_MS = 5_000
"""A report is not drawn when reports close so soon by the server's clock: it might come too late to be paid. Nor may
that clock go back by more, or a time that it tells lie further ahead of it."""

Stage = Literal[
    "answer", "notice", "looks", "bidding", "offer", "drawing", "bid receipt", "report receipt", "payment", "afterwards"
]
"""When a check is made. ``looks``, of what a question looks like, is for as long as it may still be answered."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """The facts of the frozen document that the owner's side relies on."""

    round_id: object
    attribute: object
    receipt_key: str
    bids_close_at_ms: object
    report_seconds: int
    terms: Terms
    is_canonical: bool
    by_lot: bool
    """Whether a draw decides who is asked."""
    seed_hash: str
    nonce_hash: str
    """What the draws are committed to; empty for a round that was opened before there were draws."""
    receipt_form: int
    """2: receipts say whose they are and what was asked; 1 in a round from before they did."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the market has said so far, beside what the device itself has kept."""

    notice: RoundNotice
    promise: Promise
    bid: StoredBid | None = None
    bid_there: BidReceipt | None = None
    offer: Offer | None = None
    shown: Offer | None = None
    report: StoredReport | None = None
    report_there: ReportReceipt | None = None
    made: int = 0
    """Reports in this market: those from here, and those elsewhere that she knows of."""
    accepted: int = 0
    """Reports from here that it signed for."""
    accepted_before: int = 0
    """Of these, those signed for before the one in this round was drawn: what is drawn first may arrive last."""
    ordinals: frozenset[int] = frozenset()
    """How the market numbered the reports in other rounds that it signed for."""
    counted: int = 0
    paid_micros: int | None = None
    may_be_deleted: bool = False
    """Whether the market may have deleted her report by now, as the terms say."""
    lots: StoredLots | None = None
    """The draw as the market told it before."""
    first: StoredOffer | None = None
    """The offer as the market told it first."""
    asked: StoredQuestion | None = None
    """The question that it asked first, where owners are asked about different sides."""
    asked_for: str = ""
    """The round that the device asked about."""
    seen_hash: str = ""
    """The hash of the terms that the owner looked at before she bid; empty where she was shown none."""
    owner_id: str = ""
    """Who the market takes her for now."""
    known_as: frozenset[str] = frozenset()
    """Who it took her for in her bids before, or when she enrolled."""
    known_secrets: frozenset[str] = frozenset()
    """Commitments to secrets of other rounds that are known by now (:mod:`pdqs.owner.commitments_before`)."""


Check = Callable[..., str | None]
"""Says in a sentence what is wrong, or nothing: of a :class:`Told`, and afterwards of a report and of its lines in the
market's statement, for then the market may no longer tell of the round."""

Checks = Mapping[str, tuple[Stage, Check]]


def promise_of(notice: RoundNotice) -> Promise:
    """Read the frozen document; one that cannot be read is refused."""
    try:
        return _promised(notice.terms)
    except (ValueError, KeyError, TypeError, RecursionError, PdqsError, OverflowError) as fault:
        said = printable(str(fault), 200) if isinstance(fault, PdqsError) else "they are not written as terms are"
        raise OfferRefused(f"round {notice.round_id}: the terms cannot be read ({said})") from None


def _whole_seconds(said: object) -> int:
    if type(said) is not int or not 0 < said < 2**31:
        raise ValueError("no number of seconds")
    return said


def _goes_by_lot(terms: Terms) -> bool:
    """What the rule is, and not how it is called or spelled, says whether a draw decides who is asked."""
    rule = rules.named(terms.rule) if isinstance(terms.rule, str) else terms.rule
    return isinstance(rule, rules.Asks)


@lru_cache(maxsize=16)
def _promised(terms_text: str) -> Promise:
    """A visit looks at the same text again and again, and what it says depends on nothing else."""
    document = read_document(terms_text)
    said, terms = document.said, document.terms
    return Promise(
        round_id=said["round"],
        attribute=said["attribute"],
        receipt_key=str(said["receipt_key"]),
        bids_close_at_ms=said["bids_close_at_ms"],
        report_seconds=_whole_seconds(said["report_seconds"]),
        terms=terms,
        is_canonical=document.as_written,
        by_lot=_goes_by_lot(terms),
        seed_hash=str(said.get("seed_hash", "")),
        nonce_hash=str(said.get("nonce_hash", "")),
        receipt_form=2 if said.get("receipt_form") == 2 else 1,
    )
