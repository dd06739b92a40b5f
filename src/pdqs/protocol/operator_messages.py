"""Messages of an operator with very many people: invitations by the hundred, payouts by the batch, who did what."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from pdqs.protocol.device_messages import Identifier, Message, Micros, Millis, Name
from pdqs.protocol.groups import Groups
from pdqs.protocol.market_messages import Cursor, EntryKind, Invitation, Role

Reference = Annotated[str, StringConstraints(pattern=r"^p_[0-9a-f]{36}$", max_length=38)]
"""Of a payout that a provider is asked for."""

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
    amount_micros: Micros | None = None
    """How much money it is about, where no entry of the ledger tells."""


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
    over_micros: Micros
    """What was paid beyond what was owed, as far as nobody has seen to it yet."""
    let_be_micros: Micros = 0
    """What was paid beyond what was owed and was let be: given up, or given back by other means."""


class PayoutBatchPage(Message):
    """Batches, newest first; pass ``next`` as ``after`` for more."""

    items: list[PayoutBatch]
    next: Cursor | None


class Confirmation(Message):
    """What a provider says of a batch, as the text of its CSV file: ``reference``, ``status`` and ``amount``.

    ``came_back``: what it tells as failed after it was entered as paid is with the operator again, and is undone.
    """

    text: Annotated[str, Field(max_length=200_000)]
    came_back: bool = False


class PayoutRemark(Message):
    """A row of a confirmation to look at: what the provider says does not go with what happened here meanwhile.

    ``beyond``: it paid more than is owed by now. ``paid-after-all``: it was told as failed before, or called off.
    ``by-hand``: she was paid by hand too since the batch was made. ``failed-after-all``: it was entered as paid, and
    stays so until it is said that it came back. ``paid-again``: what was entered of it was undone, and it is told as
    paid; whether it was is for an operator to say, and all of it is kept apart. ``entered_micros`` are
    taken off what is owed to her, or were; ``over_micros`` are what is beyond it.
    """

    row: int
    reference: str
    user_id: str
    name: str
    why: Literal["beyond", "paid-after-all", "by-hand", "failed-after-all", "paid-again"]
    amount_micros: Micros
    entered_micros: Micros
    over_micros: Micros
    by_hand_micros: Micros


class ConfirmedBatch(PayoutBatch):
    """A batch after a confirmation, and the rows of it to look at."""

    remarks: list[PayoutRemark]


class Overpaid(Message):
    """What a provider paid somebody beyond what was owed to her then, and what is owed to her now.

    ``given_up_micros``: what she gave up when her name was erased, and it can be taken off too.
    ``undone``: how often what was entered of it was undone; if it was, an operator says whether it is paid.
    """

    reference: Reference
    user_id: str
    name: str
    over_micros: Micros
    owed_micros: Micros
    given_up_micros: Micros = 0
    undone: int


class OverpaidPage(Message):
    """Those that nobody has seen to yet; pass ``next`` as ``after`` for more."""

    items: list[Overpaid]
    next: Cursor | None
