"""What a device's entries add up to: privacy spent, bids, reports, and what the owner has agreed to.

The account is a list of entries, each chained to those before it by a hash, and nothing else: every figure is read off
it. An entry is a flat JSON object whose ``kind`` is one of

    cap             a lifetime cap was set: ``attribute`` (empty: over all attributes), ``cap_nanos``
    admitted        the owner agreed to be asked about a new fact: ``attribute``, ``text``
    elsewhere       the owner knows of reports that this device did not make: ``market``, ``reports``; the last holds
    enrolled        a code was used here: ``market``, and ``owner_id``, who the market said it was for; the last holds
    bid             a bid was made: the terms' hash and question it is for, and the bytes to send
    bid-accepted    ... and the market signed for it: ``receipt``
    bid-withdrawn   ... and was withdrawn before bids closed, there at ``withdrawn_at_ms`` by the market's clock
    lots            who was asked went by lot: ``asked``, draw, chance, posted price, and the evidence for them
    offer           the offer as it was told first: ``q_numerator``, ``payment_micros``, ``stage``; no other is taken;
                    ``closes_at_ms`` is the end of reporting as it was told then
    question        the side that she was asked about first: ``stage``, ``side``; no other is answered in the round;
                    ``closes_at_ms`` is the end of that stage as it was told then
    drawn           a report was drawn, and its eps charged for life
    sent, accepted, refused, paid     what became of it; ``accepted`` holds the signed receipt
    received        she says that a payout came: ``transaction_id``, ``amount_micros`` (below nought)
    taken-back      what was noted as paid is no longer there, or not all of it: ``taken_back_micros``, and what is
                    left as ``paid_micros``; it and ``paid`` hold the lines of the market's ``statement`` at that time,
                    the first of each kind in full and the others as ``statement_hash``, their SHA-256

eps is added up twice: per attribute, and over all attributes and markets together (section 7 of docs/theory), for a
name is the market's choice and costs it nothing to change. The browser's twin is ``browser/account.mjs``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

from pdqs.owner.by_round import ByRound
from pdqs.owner.entry_shapes import read_object
from pdqs.owner.lifetime_cap import DEFAULT_CAP_NANOS, DEFAULT_OVERALL_CAP_NANOS, OVERALL, Spending
from pdqs.owner.words import plain_words
from pdqs.present.text import quoted

FIRST_HASH = "0" * 64

Fields = dict[str, Any]


def entry_text(fields: Fields) -> str:
    """An entry as it is stored and hashed."""
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def chained(before: str, text: str) -> str:
    """The hash of an entry and, through the hash before it, of all earlier ones.

    >>> chained(FIRST_HASH, '{"kind":"cap"}')[:16]
    'ef6d0138715b98f2'
    """
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBid:
    """The owner's own record of her bid: price, and exactly what she bid on. Offers are held against it."""

    market: str
    round_id: str
    bid_micros: int
    terms_hash: str
    question: str
    """The question's JSON."""
    terms: str
    """The frozen document, for the record."""
    body: str
    accepted: bool
    owner_id: str = ""
    """Who the market took her for when she bid: her name in the round, and so her draw, follows from it."""
    after_ms: int = 0
    """The time of the last withdrawal that was known when it was stored; with a later one the market refuses it."""
    receipt: str | None = None
    """The market's signed word for it, as JSON, once that has come."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredQuestion:
    """The first question that a device was asked in a round, where owners are asked about different ones."""

    stage: int
    side: int
    closes_at_ms: int = field(default=0, compare=False)
    """When her stage closes, as it was told with the question; 0 in accounts from before this was kept."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOffer:
    """How much a round asked for, and for how much money, as it was told first."""

    q_numerator: int
    payment_micros: int
    stage: int
    closes_at_ms: int = field(default=0, compare=False)
    """When reports close, as it was told with the offer; 0 in accounts from before this was kept."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLots:
    """What a round's lot decided, and the proof: the signed root, the two secrets, her bid's place in the tree."""

    asked: bool
    draw: int
    chance_numerator: int
    posted_micros: int | None
    evidence: str
    """JSON: ``root`` and ``lots``, as the market told them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one report costs: decided before it is drawn."""

    market: str
    round_id: str
    attribute: str
    text: str
    terms_hash: str
    epsilon_nanos: int
    payment_micros: int
    drawn_at_ms: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReport(Charge):
    """A charge and the report it was for, as it was stored: these bytes, and no others, are sent however often."""

    body: str
    sent_at_ms: int | None = None
    accepted_at_ms: int | None = None
    refused: str | None = None
    paid_micros: int | None = None
    """What the market's statement has for it, as far as is known; None where none was ever seen there."""
    receipt: str | None = None
    taken_back_micros: int | None = None
    """What was there and was taken back since."""

    @property
    def noted_micros(self) -> int:
        """What was noted as paid, whether it is still there or not."""
        return (self.paid_micros or 0) + (self.taken_back_micros or 0)

    @property
    def ordinal(self) -> int:
        """How the market numbered it when it signed for it; 0 where it has not."""
        return int(read_object(self.receipt or "{}").get("ordinal", 0))

    @property
    def facts(self) -> str:
        """What is known to have happened, in words of the device's own."""
        known = [
            ("drawn", True),
            ("sent", self.sent_at_ms is not None),
            ("accepted", self.accepted_at_ms is not None),
            ("paid", self.paid_micros is not None),
            ("taken back", bool(self.taken_back_micros)),
        ]
        said = ", ".join(word for word, true in known if true)
        return f"{said}; refused" if self.refusal else said

    @property
    def refusal(self) -> str:
        """What the market said as it refused it, in the market's words; nothing once it has signed for it."""
        return "" if self.refused is None or self.accepted_at_ms is not None else self.refused

    @property
    def facts_and_words(self) -> str:
        """Both in one line: the facts, and the market's words as a quotation."""
        return f"{self.facts}; the market said: {quoted(self.refusal)}" if self.refusal else self.facts


@final
@dataclass(frozen=True, slots=True)
class Account:
    """Entries, oldest first, and what follows from them."""

    entries: Sequence[Fields]
    _rounds: ByRound = field(default_factory=ByRound, init=False, compare=False, repr=False)

    def spending(self, attribute: str) -> Spending:
        """What was spent on an attribute in all markets together; of ``OVERALL``, on everything."""
        charges = [e for e in self._all("drawn") if attribute in (OVERALL, e["attribute"])]
        caps = [e["cap_nanos"] for e in self._all("cap") if e["attribute"] == attribute]
        usual = DEFAULT_CAP_NANOS if attribute else DEFAULT_OVERALL_CAP_NANOS
        return Spending(
            attribute=attribute,
            spent_nanos=sum(e["epsilon_nanos"] for e in charges),
            cap_nanos=caps[-1] if caps else usual,
            reports=len(charges),
        )

    def all_spending(self) -> list[Spending]:
        """Every attribute that was ever reported on or given a cap, by name."""
        names = {e["attribute"] for e in self.entries if e["kind"] in ("drawn", "cap")} - {OVERALL}
        return [self.spending(name) for name in sorted(names)]

    def knows(self, attribute: str) -> bool:
        """Whether the owner was asked about this attribute before, and agreed."""
        return any(e["attribute"] == attribute for e in self.entries if e["kind"] in ("drawn", "admitted"))

    def asked_so(self, attribute: str, text: str) -> bool:
        """Whether these words were asked before under this attribute."""
        return attribute in self._names_of(text)

    def also_asked_as(self, attribute: str, text: str) -> tuple[str, ...]:
        """Other attributes under which the same words were asked before."""
        return tuple(sorted(self._names_of(text) - {attribute}))

    def _names_of(self, text: str) -> set[str]:
        words = plain_words(text)
        known = [e for e in self.entries if e["kind"] in ("drawn", "admitted")]
        return {e["attribute"] for e in known if words and plain_words(e["text"]) == words}

    def elsewhere(self, market: str) -> int:
        """How many reports in a market the owner knows to have been made by another device."""
        said = [int(e["reports"]) for e in self._all("elsewhere") if e["market"] == market]
        return said[-1] if said else 0

    def made(self, market: str) -> int:
        """How many reports this device made in a market."""
        return sum(e["market"] == market for e in self._all("drawn"))

    def answered_as_another(self, market: str, terms_hash: str) -> bool:
        """Whether a report on these very terms was made from here under another name."""
        return any(e["terms_hash"] == terms_hash and e["market"] != market for e in self._all("drawn"))

    def bid(self, market: str, round_id: str) -> StoredBid | None:
        """The bid of this device that stands in a round: the last the market signed for, else the last it stored."""
        standing, sent = self._bids(market, round_id)
        return standing or (sent[-1] if sent else None)

    def unsigned_bids(self, market: str, round_id: str) -> list[StoredBid]:
        """Bids stored since the one that stands, of which no receipt has come: the market may have any of them."""
        return self._bids(market, round_id)[1]

    def _bids(self, market: str, round_id: str) -> tuple[StoredBid | None, list[StoredBid]]:
        standing: StoredBid | None = None
        sent: list[StoredBid] = []
        for entry in self._of(market, round_id):
            if entry["kind"] == "bid":
                fields = {name: entry[name] for name in _BID} | {k: entry[k] for k in _BID_SINCE if k in entry}
                sent.append(StoredBid(**fields, accepted=False))
            elif entry["kind"] == "bid-accepted" and (sent or standing):
                standing, sent = _signed(entry["receipt"], standing, sent)
            elif entry["kind"] == "bid-withdrawn":
                standing, sent = None, []
        return standing, sent

    def withdrawn_ms(self, market: str, round_id: str) -> int:
        """When she last withdrew from a round, by the market's clock, as far as this device knows; 0 for never."""
        gone = [e for e in self._of(market, round_id) if e["kind"] == "bid-withdrawn"]
        return max((int(e.get("withdrawn_at_ms", 0)) for e in gone), default=0)

    def known_as(self, market: str) -> frozenset[str]:
        """Who a market took her for when she bid; before her first bid, when she enrolled."""
        bids = {str(e["owner_id"]) for e in self._all("bid") if e["market"] == market and e.get("owner_id")}
        enrolled = [str(e["owner_id"]) for e in self._all("enrolled") if e["market"] == market]
        return frozenset(bids or enrolled[-1:])

    def keys(self, market: str) -> frozenset[str]:
        """The keys of a market's receipts in the rounds that she reported in."""
        reported = {e["round_id"] for e in self._all("drawn") if e["market"] == market}
        bids = [e for e in self._all("bid") if e["market"] == market and e["round_id"] in reported]
        return frozenset(str(read_object(e["terms"]).get("receipt_key")) for e in bids)

    def lots(self, market: str, round_id: str) -> StoredLots | None:
        """What the lot decided in a round, as it was first told."""
        told = [e for e in self._of(market, round_id) if e["kind"] == "lots"]
        return StoredLots(**{name: told[0][name] for name in StoredLots.__slots__}) if told else None

    def offer(self, market: str, round_id: str) -> StoredOffer | None:
        """The offer in a round as it was first told; nothing in accounts from before this was kept."""
        told = [e for e in self._of(market, round_id) if e["kind"] == "offer"]
        return StoredOffer(**{n: told[0][n] for n in StoredOffer.__slots__ if n in told[0]}) if told else None

    def kinds(self, market: str, round_id: str) -> frozenset[str]:
        """What kinds of entries there are of a round."""
        return frozenset(str(e["kind"]) for e in self._of(market, round_id))

    def question(self, market: str, round_id: str) -> StoredQuestion | None:
        """The question that this device was asked in a round, as it was first told."""
        told = [e for e in self._of(market, round_id) if e["kind"] == "question"]
        return StoredQuestion(**{n: told[0][n] for n in StoredQuestion.__slots__ if n in told[0]}) if told else None

    def money(self, market: str, round_id: str) -> list[Fields]:
        """What was kept of money that came for a report, and that was taken back."""
        return [e for e in self._of(market, round_id) if e["kind"] in ("paid", "taken-back")]

    def received(self, market: str) -> list[tuple[str, int]]:
        """The payouts that she says came, by name and amount, each as often as she said so."""
        said = [e for e in self._all("received") if e["market"] == market]
        return [(str(e["transaction_id"]), int(e["amount_micros"])) for e in said]

    def report(self, market: str, round_id: str) -> StoredReport | None:
        """The report this device made in a round, if it made one."""
        drawn = next((e for e in self._of(market, round_id) if e["kind"] == "drawn"), None)
        return None if drawn is None else self._made(drawn)

    def reports(self) -> list[StoredReport]:
        """Everything that ever left this device (or is about to), oldest first."""
        return [self._made(drawn) for drawn in self._all("drawn")]

    def _made(self, drawn: Fields) -> StoredReport:
        later: Fields = {}
        for entry in self._of(drawn["market"], drawn["round_id"]):
            if entry["kind"] in _LATER:
                later[_LATER[entry["kind"]]] = entry.get("at_ms")
                later |= {name: entry[name] for name in _KEPT if name in entry}
                later |= {"taken_back_micros": None} if entry["kind"] == "paid" else {}
        return StoredReport(**{name: drawn[name] for name in _DRAWN}, **later)

    def _all(self, kind: str) -> list[Fields]:
        return [e for e in self.entries if e["kind"] == kind]

    def _of(self, market: str, round_id: str) -> list[Fields]:
        return self._rounds.of(self.entries, market, round_id)


def _signed(receipt: str, standing: StoredBid | None, sent: list[StoredBid]) -> tuple[StoredBid, list[StoredBid]]:
    """What stands once a receipt came, and what waits for one; it may be a second one for the bid that stands."""
    price = read_object(receipt).get("bid_micros")
    named = [bid for bid in sent if bid.bid_micros == price]
    if standing is not None and not named and (not sent or standing.bid_micros == price):
        return replace(standing, receipt=receipt), sent
    return replace((named or sent)[-1], accepted=True, receipt=receipt), []


_BID = ("market", "round_id", "bid_micros", "terms_hash", "question", "terms", "body")
_BID_SINCE = ("owner_id", "after_ms")  # what bids have that were stored since there is such a thing
_DRAWN = (*Charge.__slots__, "body")
_LATER = {
    "sent": "sent_at_ms",
    "accepted": "accepted_at_ms",
    "refused": "refused",
    "paid": "paid_micros",
    "taken-back": "taken_back_micros",
}
_KEPT = ("refused", "paid_micros", "receipt", "taken_back_micros")
