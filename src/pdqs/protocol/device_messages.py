"""What passes between an owner's device and the market, as strict, bounded messages.

The device sees a *question* (a domain and a text), never the consumer's query, so that other protocols (one bit at a
time) can be served without changing it. Amounts are whole micro-units, times whole milliseconds since 1970 by the
server's clock, and q is an integer numerator out of 2^32. No message says whether a coin chose the truth: there is no
such field, and unknown fields are refused.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
    model_validator,
)

from pdqs.model.domain import Domain
from pdqs.model.errors import DomainError
from pdqs.model.question import MOST_STAGES
from pdqs.model.question import Question as CoreQuestion

MOST_MICROS = 10**15
MOST_BID_MICROS = 10**9
MOST_MILLIS = 10**14
MOST_CODES = 10_000
MOST_TERMS = 3 * 2**18 + 2**14
"""Letters of a frozen document: a plan of 256 KiB, each byte of which comes to three letters at most in plain ASCII,
and what the market adds to it. A device keeps the document with each bid."""

# No control characters, and none that turn the direction of writing: what is shown is what was said.
_PRINTED = r"^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$"

MOST_TEXT = 400
Text = Annotated[str, StringConstraints(max_length=MOST_TEXT, pattern=_PRINTED)]
MOST_LETTERS = 80
"""Of a name."""
Name = Annotated[str, StringConstraints(min_length=1, max_length=MOST_LETTERS, pattern=_PRINTED)]
Reference = Annotated[str, StringConstraints(max_length=200, pattern=_PRINTED)]
"""What a line of money is called, and where it stands."""
Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z]{1,3}_[0-9a-f]{24}$", max_length=28)]
Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$", max_length=64)]
Signature = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{128})?$", max_length=128)]
Attribute = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_.-]{0,59}$", max_length=60)]
Micros = Annotated[int, Field(ge=0, le=MOST_MICROS)]
BidMicros = Annotated[int, Field(ge=0, le=MOST_BID_MICROS)]
Millis = Annotated[int, Field(ge=0, le=MOST_MILLIS)]
StageNumber = Annotated[int, Field(ge=1, le=MOST_STAGES)]
EpsilonMax = Annotated[float, Field(gt=0, le=20)]
Finite = Annotated[float, Field(ge=-1e12, le=1e12, allow_inf_nan=False)]


class Message(BaseModel):
    """A frozen message: types are not coerced, unknown fields are refused, numbers are finite."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class DomainMessage(Message):
    """A public domain: ``binary``, ``categories`` with labels, or ``grid`` with start, step and size.

    The code of a label or grid value is its place, counted from 0. ``size`` is k, which decides what a report costs: a
    message whose size is not that of its own labels, or which says what its kind does not have, is refused.
    """

    kind: Literal["binary", "categories", "grid"]
    labels: Annotated[list[Name], Field(max_length=MOST_CODES)] = []
    start: Finite = 0.0
    step: Annotated[float, Field(gt=0, le=1e12, allow_inf_nan=False)] = 1.0
    size: Annotated[int, Field(ge=2, le=MOST_CODES)] = 2

    @model_validator(mode="after")
    def _is_what_its_domain_would_write(self) -> Self:
        try:
            self.domain()
        except DomainError as fault:
            raise ValueError(str(fault)) from None
        return self

    def domain(self) -> Domain:
        """The core's domain; refuses what is none.

        >>> DomainMessage(kind="grid", start=10.0, step=5.0, size=3).domain().numbers.tolist()
        [10.0, 15.0, 20.0]
        """
        return Domain(kind=self.kind, labels=tuple(self.labels), start=self.start, step=self.step, size=self.size)

    @staticmethod
    def of(domain: Domain) -> DomainMessage:
        """The message that says this domain.

        >>> DomainMessage.of(Domain.categories(["tea", "coffee"])).labels
        ['tea', 'coffee']
        """
        if domain.kind == "categories":
            labels = [str(label) for label in domain.labels]
            return DomainMessage(kind="categories", labels=labels, size=domain.size)
        if domain.kind == "binary":
            return DomainMessage(kind="binary")
        return DomainMessage(kind="grid", start=domain.start, step=domain.step, size=domain.size)


class Question(Message):
    """What one owner is asked. ``attribute`` names the fact about her that the answer spends privacy on."""

    attribute: Attribute
    text: Text
    domain: DomainMessage

    def core(self) -> CoreQuestion:
        """The core's question: text and domain."""
        return CoreQuestion(domain=self.domain.domain(), text=self.text)


class BidsRoot(Message):
    """The root over all bids of a round, published when bids are closed and before any draw is known. Signed.

    How it is made: :mod:`pdqs.rounds.commitments`. Two of them for one round that differ show a market that lies.
    """

    round_id: Identifier
    terms_hash: Hash
    root: Hash
    bids: Annotated[int, Field(ge=0, le=10**9)]
    published_at_ms: Millis
    signature: Signature = ""


class StageNotice(Message):
    """A stage of a round that asks about sides, published as it opens.

    It asks about what the reports of the stages before it leave open: the codes from ``low`` to ``high``, so that every
    side that it asks about lies from ``low - 1`` (0 at the least) to ``high``. Its owners may report until
    ``closes_at_ms``.
    """

    number: StageNumber
    opened_at_ms: Millis
    closes_at_ms: Millis
    low: Annotated[int, Field(ge=0, lt=MOST_CODES)]
    high: Annotated[int, Field(ge=0, lt=MOST_CODES)]


class RoundNotice(Message):
    """A round as an owner sees it.

    ``terms`` is the frozen document as canonical JSON text and ``terms_hash`` its SHA-256 in hexadecimal: the device
    hashes the text as it stands. The document's keys: ``round``, ``attribute``, ``bids_close_at_ms``,
    ``report_seconds``, ``minimum_owners``, ``receipt_key`` (the public Ed25519 key of the market's receipts, in
    hexadecimal), ``receipt_form`` (2: receipts say whose they are and what was asked), ``seed_hash``, ``nonce_hash``,
    ``nonce_by`` and ``nonce_seconds`` (what the draws are committed to, who holds the nonce and how long it may take to
    be told), ``asked_by``, ``purpose`` and ``use`` (who asks, why and what for, where it is said), and ``terms`` (the
    core's canonical terms).

    What is asked of a value, whole or less of it, is in the terms (``question``). ``report_seconds`` is the time of
    each stage; ``stages`` has those that have opened, and ``reports_close_at_ms`` is the end of the last one.
    """

    round_id: Identifier
    state: Literal["open", "reporting", "settled", "cancelled"]
    question: Question
    bid_low_micros: BidMicros
    bid_high_micros: BidMicros
    epsilon_max: EpsilonMax
    bids_close_at_ms: Millis
    reports_close_at_ms: Millis | None
    terms: Annotated[str, StringConstraints(max_length=MOST_TERMS)]
    terms_hash: Hash
    bids_root: BidsRoot | None = None
    stages: Annotated[list[StageNotice], Field(max_length=MOST_STAGES)] = []


class Bid(Message):
    """An owner's price in micro-units of money for one unit of epsilon. One to a round.

    ``replaces`` is the ``placed_at_ms`` of the receipt of the bid whose place this one takes, until bids close; without
    it a bid that differs from the one kept is refused, so that a request that comes late undoes nothing.
    """

    terms_hash: Hash
    bid_micros: BidMicros
    replaces: Millis | None = None


class OwnersReceipt(Message):
    """What the market signs for: see :mod:`pdqs.protocol.receipts`.

    ``pseudonym`` is whose it is: her name in the round, as the record and the tree over the bids have it, so that a
    market cannot give one receipt to two owners and call it the other's. It and what else receipts have said since are
    all there, or none: a round whose terms do not say ``receipt_form`` 2 was frozen before.
    """

    round_id: Identifier
    terms_hash: Hash
    pseudonym: Hash | None = None
    said_since: ClassVar[frozenset[str]] = frozenset({"pseudonym"})
    may_be_none: ClassVar[frozenset[str]] = frozenset()

    @property
    def is_of_form_2(self) -> bool:
        """Whether it says whose it is, and what was asked."""
        return self.pseudonym is not None

    @model_validator(mode="after")
    def _says_all_of_it_or_nothing(self) -> Self:
        said = self.model_fields_set & self.said_since
        held = {name for name in said if getattr(self, name) is not None} | (said & self.may_be_none)
        if said and held != self.said_since:
            raise ValueError("a receipt says whose it is and all of what was asked, or nothing of it")
        return self

    @model_serializer(mode="wrap")
    def _written(self, inner: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]  # else it has no schema
        told: dict[str, object] = inner(self)
        return told if self.is_of_form_2 else {k: v for k, v in told.items() if k not in self.said_since}


class BidReceipt(OwnersReceipt):
    """The market has kept this bid. Signed."""

    bid_micros: BidMicros
    placed_at_ms: Millis
    signature: Signature = ""


class Withdrawal(Message):
    """The market keeps no bid of hers in this round any more."""

    round_id: Identifier
    withdrawn_at_ms: Millis


class Lots(Message):
    """What shows an owner that her draw was nobody's choice: the two secrets, told, and her bid's place in the tree."""

    seed: Hash
    nonce: Hash
    place: Annotated[int, Field(ge=0, le=10**9)]
    path: Annotated[list[Hash], Field(max_length=40)]


class Offer(Message):
    """What the market asks of one owner: tell the truth with chance ``q_numerator`` / 2^32, for this payment.

    A numerator of 0 means that nothing is asked and nothing is paid: there is no report to make. Under a lottery she is
    asked if and only if her ``draw`` is below ``chance_numerator`` (2^32: for certain); ``posted_micros`` is the
    highest price at which her draw would have been asked, where it can be said. ``lots`` shows where the draw came
    from. ``now_ms`` is the server's clock as it answers, so that a device does not draw what would come too late.

    Where sides are asked, ``stage`` is hers, which follows from her words, ``reports_close_at_ms`` the end of that
    stage, and ``side`` the code m of her question, "is it at most the value of code m?": none before her stage opens.
    """

    round_id: Identifier
    terms_hash: Hash
    question: Question
    q_numerator: Annotated[int, Field(ge=0, lt=2**32)]
    payment_micros: Micros
    reports_close_at_ms: Millis
    now_ms: Millis
    chance_numerator: Annotated[int, Field(ge=0, le=2**32)] = 2**32
    draw: Annotated[int, Field(ge=0, lt=2**32)] = 0
    posted_micros: Micros | None = None
    lots: Lots | None = None
    stage: StageNumber = 1
    side: Annotated[int, Field(ge=0, lt=MOST_CODES)] | None = None


class Report(Message):
    """The randomised answer: the code of a value, a level or a bucket, or 1 for "at most" and 0 for "above". Nothing
    else leaves the device."""

    terms_hash: Hash
    code: Annotated[int, Field(ge=0, lt=MOST_CODES)]


class ReportReceipt(OwnersReceipt):
    """The market has kept this report; the payment follows when the round is settled. Signed.

    ``ordinal`` counts the owner's reports in this market, this one among them: a device that goes back to an older file
    finds that the market has counted on.

    ``q_numerator``, ``stage`` and ``side`` are what the offer asked of her, so that a market which asks for more than
    its record says is convicted by its own signature.
    """

    code: Annotated[int, Field(ge=0, lt=MOST_CODES)]
    received_at_ms: Millis
    payment_micros: Micros
    ordinal: Annotated[int, Field(ge=0, le=10**9)]
    q_numerator: Annotated[int, Field(ge=0, lt=2**32)] | None = None
    stage: StageNumber | None = None
    side: Annotated[int, Field(ge=0, lt=MOST_CODES)] | None = None
    signature: Signature = ""
    said_since: ClassVar[frozenset[str]] = frozenset({"pseudonym", "q_numerator", "stage", "side"})
    may_be_none: ClassVar[frozenset[str]] = frozenset({"side"})


class MyRound(Message):
    """Everything that the market has of one owner in a round, in one answer: what a device asks for before it acts.

    Each part is what its own route would tell, all of one moment; None where that route would say that there is none.
    """

    owner_id: Identifier
    reports_made: Annotated[int, Field(ge=0, le=10**9)]
    notice: RoundNotice
    bid: BidReceipt | None = None
    offer: Offer | None = None
    report: ReportReceipt | None = None
    withdrawn_at_ms: Millis = 0
    """Of her last withdrawal from the round; 0: none. A bid from before it is refused: here her device learns of it."""
