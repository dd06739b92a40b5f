"""Everything that a market holds on the caller, as one message, and the wish to be forgotten."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pdqs.protocol.device_messages import BidMicros, Hash, Identifier, Message, Micros, Millis, Withdrawal
from pdqs.protocol.letters import LettersKept
from pdqs.protocol.market_messages import AnswerMessage, Member, Posting, RoundPlan, RoundState
from pdqs.protocol.sign_ins import AccessEvent, SignIns


class TakenPart(Message):
    """What the market has of an owner in one round: her bid, and then her offer and her report, if there were any."""

    round_id: Identifier
    state: RoundState
    text: str
    attribute: str
    terms_hash: Hash | None
    bid_micros: BidMicros
    placed_at_ms: Millis
    q_numerator: Annotated[int, Field(ge=0, le=2**32 - 1)] | None
    payment_micros: Micros | None
    chance_numerator: Annotated[int, Field(ge=0, le=2**32)] | None
    """Of a round that goes by lot: the chance of being asked, as a whole number of 2^-32."""
    draw: Annotated[int, Field(ge=0)] | None
    posted_micros: Micros | None
    stage: Annotated[int, Field(ge=1)] | None = None
    side: Annotated[int, Field(ge=0)] | None = None
    """Of a round in stages: hers, and the code of the value that she was asked about."""
    code: Annotated[int, Field(ge=0)] | None
    """What the device sent: randomised before it was."""
    received_at_ms: Millis | None


class OwnRound(Message):
    """A consumer's round, with what it found."""

    round_id: Identifier
    state: RoundState
    created_at_ms: Millis
    plan: RoundPlan
    answer: AnswerMessage | None


class OwnPayout(Message):
    """Money on its way to an owner, or gone to her, by a payment provider."""

    reference: str
    amount_micros: Micros
    state: Literal["waiting", "paid", "failed"]
    over_micros: Micros = 0
    """How much of it was beyond what was owed to her, as far as that is open."""
    let_be_micros: Micros = 0
    """How much of it was beyond what was owed to her, and was let be."""


class Export(Message):
    """Everything that the market holds on the caller. Secrets are held as hashes only, and are not in it."""

    exported_at_ms: Millis
    user: Member
    balance_micros: Micros
    reports_made: Annotated[int, Field(ge=0)]
    postings: list[Posting]
    access: list[AccessEvent]
    sign_ins: SignIns
    letters: LettersKept
    groups: list[str]
    payouts: list[OwnPayout]
    taken_part: list[TakenPart]
    withdrawals: list[Withdrawal]
    """When she last took her bid back, of each round where she did."""
    rounds: list[OwnRound]


class Erasure(Message):
    """A wish to be forgotten. ``forgo_balance``: money that is still to come is given up."""

    forgo_balance: bool = False
