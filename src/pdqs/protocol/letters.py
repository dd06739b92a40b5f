"""Letters: what the market tells people outside of its pages, by e-mail or webhook, and what could not be delivered."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from pdqs.protocol.device_messages import Identifier, Message, Millis
from pdqs.protocol.market_messages import Cursor

LetterKind = Literal["opened", "offer", "stage", "closing", "paid", "cancelled", "stuck"]
Channel = Literal["email", "webhook"]

Email = Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,190})?$", max_length=255)]
WebAddress = Annotated[str, StringConstraints(pattern=r"^(https?://[!-~]{1,400})?$", max_length=408)]


class LetterChoices(Message):
    """What to be told of, and where; an empty address is none."""

    email: Email = ""
    webhook: WebAddress = ""
    kinds: list[LetterKind] = Field(default_factory=list)


class LettersKept(LetterChoices):
    """The same as it is kept: letters go to an e-mail address once the word that was sent there was told."""

    email_confirmed: bool
    webhook_key: str
    """What letters to the webhook are signed with (HMAC-SHA-256); another for every address."""


class EmailWord(Message):
    """The word that was sent to an e-mail address, to show that letters arrive there."""

    word: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{10}$", max_length=10)]


class Letter(Message):
    """What a webhook is sent. No bid, value, answer or amount is in it: the pages have those, for who signs in."""

    letter_id: Cursor
    event: LetterKind
    round_id: Identifier
    at_ms: Millis


class DeadLetter(Message):
    """A letter that was tried as often as it is, in vain."""

    letter_id: Cursor
    user_id: Identifier
    name: str
    channel: Channel
    kind: str
    at_ms: Millis
    attempts: int
    fault: str


class DeadLetterPage(Message):
    """Letters that could not be delivered, newest first."""

    items: list[DeadLetter]
    next: Cursor | None
