"""Every request and response of ``/v1`` that is not the device's (those are :mod:`pdqs.protocol.device_messages`)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from pdqs.model.names import EstimatorName, QueryKind, QuestionKind, RuleName
from pdqs.protocol.choices import OneOf
from pdqs.protocol.device_messages import (
    Attribute,
    BidMicros,
    BidsRoot,
    DomainMessage,
    Hash,
    Identifier,
    Message,
    Micros,
    Millis,
    Name,
    Question,
    Reference,
    StageNumber,
    Text,
)
from pdqs.protocol.groups import Groups
from pdqs.protocol.round_questions import AskedMessage, QuestionName, StageStanding
from pdqs.rounds.defaults import DEFAULT_EPSILON_MAX, DEFAULT_ESTIMATOR, DEFAULT_RULE

MOST_BUDGET_MICROS = 10**12
"""A budget of this many micro-units is still exact as a float amount of money, which is what the core's terms hold."""

MARKET_RULES = tuple(rule for rule in RuleName if rule not in (RuleName.FLAT, RuleName.LAPLACE))
"""What a round may be priced by: anything but the baselines of the literature."""

MARKET_ESTIMATORS = tuple(estimator for estimator in EstimatorName if estimator != EstimatorName.NAIVE)
"""How a round's reports may be read: the paper's own reading leans, and is kept for reproduction only."""

Role = Literal["consumer", "owner", "operator"]
RoundState = Literal["draft", "open", "reporting", "settled", "cancelled"]
Whole = Annotated[int, Field(ge=0, le=2**53)]
MOST_COUNTED_MICROS = 2**53 - 1
"""No sum of money is larger that every program counts exactly, to the last micro-unit."""
LineMicros = Annotated[int, Field(ge=-MOST_COUNTED_MICROS, le=MOST_COUNTED_MICROS)]
SignedMicros = Annotated[int, Field(ge=-(10**18), le=10**18)]
Secret = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{20,80}$", max_length=80)]
Cursor = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:-]{1,120}$", max_length=120)]
MOST_ON_A_PAGE = 1_000
"""Lines of a list on one page of it; a market gives 200 at most."""
IdempotencyKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{8,64}$", max_length=64)]


USUAL_TOKEN_NAME = "device"
"""What a token is called unless it is given a name."""


class Redemption(Message):
    """A one-time code, to be exchanged for a token of this name; the token of the same name before it is void."""

    code: Secret
    name: Name = USUAL_TOKEN_NAME


class User(Message):
    """A party to the market."""

    user_id: Identifier
    role: Role
    name: Name
    created_at_ms: Millis


class Token(Message):
    """A bearer token, shown this once; the market keeps its hash only."""

    token: Secret
    user: User


class Me(Message):
    """The caller, the money that is hers to use, and how many reports the market has had of her.

    A device compares the count with its own: more than it made, and another device reports for her or its file is old.
    """

    user: User
    balance_micros: Micros
    reports_made: Annotated[int, Field(ge=0, le=10**9)] = 0


class NewUser(Message):
    """Someone to let into the market."""

    role: Role
    name: Name


class Invitation(Message):
    """A user and a one-time code to hand to them, good until ``expires_at_ms``; asking again voids the code before."""

    user: User
    code: Secret
    expires_at_ms: Millis


class Member(Message):
    """A user as operators see her."""

    user_id: Identifier
    role: Role
    name: Name
    created_at_ms: Millis
    disabled_at_ms: Millis | None
    """Since when she is shut out; her money and her rounds stand."""
    erased_at_ms: Millis | None
    """Since when the market has forgotten her name, at her own wish."""


class UserPage(Message):
    """Users, newest first; pass ``next`` as ``after`` for more."""

    items: list[Member]
    next: Cursor | None


class QueryMessage(Message):
    """What the consumer asks. ``p`` is for a quantile only; a count's domain is binary."""

    kind: Annotated[str, OneOf(QueryKind)]
    text: Text
    domain: DomainMessage = DomainMessage(kind="binary")
    p: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.5


class RoundPlan(Message):
    """A round to be: everything that its terms are made from. The contract is always ``on-report``.

    ``nonce_hash`` is what a consumer commits to who draws a nonce of her own
    (:func:`pdqs.rounds.commitments.commitment_to`) and will tell it once bids are closed; without it the market draws
    one for her, and the terms say so.

    ``question`` is what is asked of values, as in :class:`pdqs.Terms`: `auto`, `value`, `level:5`, `side`, `bucket:8`
    and so on; ``report_seconds`` is the time of each of the ``stages``.
    """

    query: QueryMessage
    attribute: Attribute
    budget_micros: Annotated[int, Field(ge=1, le=MOST_BUDGET_MICROS)]
    bid_low_micros: BidMicros = 0
    bid_high_micros: BidMicros = 1_000_000
    rule: Annotated[str, OneOf(MARKET_RULES)] = DEFAULT_RULE
    estimator: Annotated[str, OneOf(MARKET_ESTIMATORS)] = DEFAULT_ESTIMATOR
    epsilon_max: Annotated[float, Field(ge=0.01, le=16, allow_inf_nan=False)] = DEFAULT_EPSILON_MAX
    minimum_owners: Annotated[int, Field(ge=2, le=1_000_000)] = 2
    bid_seconds: Annotated[int, Field(ge=1, le=31_536_000)] = 86_400
    report_seconds: Annotated[int, Field(ge=1, le=31_536_000)] = 86_400
    nonce_hash: Hash | None = None
    question: QuestionName = QuestionKind.AUTO.value
    stages: StageNumber | None = None
    retention_days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    """For how many days after its end the round's bids and reports are kept; none: as long as the market does."""
    purpose: Text = ""
    """Why the question is asked, for owners to read before they name a price; frozen with the terms."""
    use: Text = ""
    """What the answer will be used for; the same."""
    groups: Groups = Field(default_factory=list)
    """Whom the round is for: owners in any of these groups, and nobody else; none: every owner. The same."""
    only_with_answer: bool = False
    """Whether the round is called off when bids close and even reports of all who would be asked could not answer: then
    nobody is asked and the escrow goes back. Rounds that are planned on the pages always are. The same."""


class NonceReveal(Message):
    """A consumer's nonce, told once the root over the bids is published."""

    nonce: Hash


class RoundStanding(Message):
    """Where a round stands: counts and sums, never anyone's bid or report."""

    round_id: Identifier
    consumer_id: Identifier
    state: RoundState
    terms_hash: Hash | None
    created_at_ms: Millis
    opened_at_ms: Millis | None
    bids_close_at_ms: Millis | None
    reports_close_at_ms: Millis | None
    ended_at_ms: Millis | None
    bids: Whole
    offers: Whole
    reports: Whole
    committed_micros: Micros
    """What the offers add up to, fixed at clearing."""
    paid_micros: Micros
    escrow_micros: Micros
    reason: str | None
    """Why it was cancelled."""
    answered: bool = False
    """Whether it is settled with an answer; one that is settled without had too little to go by."""


class Round(RoundStanding):
    """A round as its consumer and the operator see it: counts and sums, never anyone's bid or report.

    ``bids_root`` is there once bids are closed; ``seed`` and ``nonce``, from which every draw follows, once the offers
    are made.
    """

    plan: RoundPlan
    question: Question
    forecast_half_width: Annotated[float, Field(ge=0, le=1e12)] | None
    """Half-width of a share at level 0.95 that the offers promise, once cleared; none when nothing was bought."""
    asked: AskedMessage
    stages: list[StageStanding] = Field(default_factory=list)
    """Those that have opened, where sides are asked."""
    nonce_by: Literal["consumer", "market"] | None = None
    bids_root: BidsRoot | None = None
    seed: Hash | None = None
    nonce: Hash | None = None


class AnswerMessage(Message):
    """What the consumer learns. For a histogram ``values``, ``raw`` and ``interval`` have a row for each of ``labels``;
    otherwise one row with an empty label. When the reports cannot answer, the lists are empty and a warning says why.

    ``interval`` is for owners who report as their device does; ``interval_if_dishonest`` still holds if a share of
    ``dishonest_share`` of them do not. ``asked`` counts owners whom the offers asked; reports are missing among them
    alone. ``reports_root`` stands for the reports that it was made from (:func:`pdqs.rounds.commitments.report_entry`).
    """

    round_id: Identifier
    terms_hash: Hash
    kind: str
    labels: list[str]
    values: list[float]
    raw: list[float]
    interval: list[Annotated[list[float], Field(min_length=2, max_length=2)]]
    level: float
    estimator: str
    owners: Whole
    reports: Whole
    information: float
    warnings: list[str]
    budget_micros: Micros
    paid_micros: Micros
    returned_micros: Micros
    asked: Whole | None = None
    interval_if_dishonest: list[Annotated[list[float], Field(min_length=2, max_length=2)]] = Field(default_factory=list)
    dishonest_share: float = 0.05
    sensitivity: str = ""
    reports_root: Hash | None = None


class Transfer(Message):
    """Money to move: into a consumer's balance (deposit), back out of it (refund), or out of an owner's (payout)."""

    user_id: Identifier
    amount_micros: Annotated[int, Field(ge=1, le=MOST_BUDGET_MICROS)]


EntryKind = Literal["deposit", "escrow", "settlement", "return", "payout", "refund", "reversal", "given-up"]
"""What a transaction is about; a reversal mirrors a deposit, a payout or a refund that was entered wrongly."""


class Posting(Message):
    """One line of the ledger: an amount added to an account (negative: taken from it)."""

    transaction_id: Reference
    kind: EntryKind
    account: Reference
    amount_micros: LineMicros
    at_ms: Millis
    round_id: Identifier | None


class Transaction(Message):
    """A whole transaction; its postings sum to zero."""

    transaction_id: str
    kind: EntryKind
    at_ms: Millis
    postings: list[Posting]


class Statement(Message):
    """The caller's own postings, newest first."""

    balance_micros: Micros
    items: Annotated[list[Posting], Field(max_length=MOST_ON_A_PAGE)]
    next: Cursor | None


class AccountBalance(Message):
    """One kind of account in the trial balance."""

    account: Literal["world", "consumer", "owner", "escrow", "given-up"]
    accounts: Whole
    balance_micros: SignedMicros
    postings_micros: SignedMicros
    """The same figure, added up from the postings."""


class TrialBalance(Message):
    """The books: every figure in ``lines`` adds up to zero, and each balance equals the sum of its postings."""

    lines: list[AccountBalance]
    total_micros: SignedMicros
    transactions: Whole
    unbalanced_transactions: Whole
    negative_accounts: Whole
    balanced: bool


class Payable(Message):
    """What the market owes an owner."""

    user_id: Identifier
    name: Name
    balance_micros: Micros


class PayablePage(Message):
    """Owners to be paid."""

    items: list[Payable]
    next: Cursor | None


class Health(Message):
    """That the market can serve: its database answers, and takes what is written to it."""

    status: Literal["ok"]
