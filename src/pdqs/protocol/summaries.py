"""What lists hold of rounds and of transfers: enough to choose one by, and none of what a consumer can make large."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pdqs.protocol.device_messages import (
    Attribute,
    BidMicros,
    EpsilonMax,
    Hash,
    Identifier,
    Message,
    Micros,
    Millis,
    StageNumber,
    Text,
)
from pdqs.protocol.market_messages import MOST_ON_A_PAGE, Cursor, EntryKind, RoundStanding, SignedMicros


class PlanSummary(Message):
    """What of a plan fits in a list: no labels, and nothing that a device could decide by."""

    kind: str
    text: Text
    attribute: Attribute
    domain_kind: Literal["binary", "categories", "grid"]
    domain_size: Annotated[int, Field(ge=2, le=10_000)]
    budget_micros: Micros
    bid_low_micros: BidMicros
    bid_high_micros: BidMicros
    epsilon_max: float
    retention_days: int | None = None
    purpose: Text = ""


class RoundSummary(RoundStanding):
    """A round in a list; ``GET /v1/rounds/{round_id}`` has all of it."""

    plan: PlanSummary


class RoundPage(Message):
    """Rounds, newest first; pass ``next`` as ``after`` for more."""

    items: list[RoundSummary]
    next: Cursor | None


class NoticeSummary(Message):
    """A round in an owner's list, to choose by. What a device acts on is ``GET /v1/notices/{round_id}`` alone."""

    round_id: Identifier
    state: Literal["open", "reporting", "settled", "cancelled"]
    text: Text
    attribute: Attribute
    domain_kind: Literal["binary", "categories", "grid"]
    domain_size: Annotated[int, Field(ge=2, le=10_000)]
    bid_low_micros: BidMicros
    bid_high_micros: BidMicros
    epsilon_max: EpsilonMax
    bids_close_at_ms: Millis
    reports_close_at_ms: Millis | None
    terms_hash: Hash
    purpose: Text = ""
    stages_in_all: StageNumber = 1
    """In how many stages owners are asked, once the offers are made."""


class NoticePage(Message):
    """Rounds an owner may bid in or has bid in, newest first."""

    items: Annotated[list[NoticeSummary], Field(max_length=MOST_ON_A_PAGE)]
    next: Cursor | None


class TransferLine(Message):
    """A deposit, a payout, a refund or the reversal of one, as it changed the balance of one person."""

    transaction_id: str
    kind: EntryKind
    at_ms: Millis
    user_id: str
    name: str
    amount_micros: SignedMicros
    undone: bool
    """Whether a later reversal mirrors it."""


class TransferPage(Message):
    """Money in and out, newest first."""

    items: list[TransferLine]
    next: Cursor | None
