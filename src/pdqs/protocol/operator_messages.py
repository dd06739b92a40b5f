"""Messages of an operator with very many people: invitations by the hundred, payouts by the batch, who did what."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pdqs.protocol.device_messages import Message, Name
from pdqs.protocol.market_messages import Invitation, Role

MOST_AT_ONCE = 500
"""How many people are invited by one request."""


class NewUsers(Message):
    """People of one role to let into the market, by their names."""

    role: Role
    names: Annotated[list[Name], Field(min_length=1, max_length=MOST_AT_ONCE)]


class Invitations(Message):
    """A one-time code for each of them, in the order of their names."""

    items: list[Invitation]
