"""Messages of an operator with very many people: invitations by the hundred, payouts by the batch, who did what."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pdqs.protocol.device_messages import Identifier, Message, Micros, Millis, Name
from pdqs.protocol.groups import Groups
from pdqs.protocol.market_messages import Cursor, EntryKind, Invitation, Role

MOST_AT_ONCE = 500
"""How many people are invited by one request."""


class NewUsers(Message):
    """People of one role to let into the market, by their names."""

    role: Role
    names: Annotated[list[Name], Field(min_length=1, max_length=MOST_AT_ONCE)]
    groups: list[Groups] = Field(default_factory=list, max_length=MOST_AT_ONCE)
    """The groups of each, in the order of the names; none at all: nobody is put into a group."""


class Invitations(Message):
    """A one-time code for each of them, in the order of their names."""

    items: list[Invitation]


class Deed(Message):
    """What an operator did, and what it was about: a user, a transaction, a round or a batch."""

    at_ms: Millis
    actor_id: str
    actor_name: str
    what: str
    about: str
    about_name: str


class DeedPage(Message):
    """Deeds, newest first; pass ``next`` as ``after`` for more."""

    items: list[Deed]
    next: Cursor | None


class JournalLine(Message):
    """A transaction of the ledger: how many accounts it touched, and how much moved."""

    transaction_id: str
    kind: EntryKind
    at_ms: Millis
    round_id: str | None
    lines: int
    moved_micros: Micros


class JournalPage(Message):
    """Transactions, newest first; pass ``next`` as ``after`` for more."""

    items: list[JournalLine]
    next: Cursor | None


class PayoutBatch(Message):
    """Payouts that a provider is asked for together: how many wait, were paid and failed, and their sums."""

    batch_id: Identifier
    made_at_ms: Millis
    made_by: str
    waiting: int
    paid: int
    failed: int
    waiting_micros: Micros
    paid_micros: Micros


class PayoutBatchPage(Message):
    """Batches, newest first; pass ``next`` as ``after`` for more."""

    items: list[PayoutBatch]
    next: Cursor | None


class Confirmation(Message):
    """What a provider says of a batch, as the text of its CSV file: ``reference``, ``status`` and ``amount``."""

    text: Annotated[str, Field(max_length=200_000)]
