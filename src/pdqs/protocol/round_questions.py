"""What a round asks of values, and how its stages stand, as messages to its consumer."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from pdqs.protocol.device_messages import Message, StageNotice, StageNumber

QuestionName = Annotated[
    str,
    StringConstraints(
        pattern=r"^(auto|value|(level|bucket)(:[1-9][0-9]{0,4})?|side(:-?[0-9.]{1,20}:-?[0-9.]{1,20})?)$", max_length=60
    ),
]
_Count = Annotated[int, Field(ge=0, le=2**53)]


class AskedMessage(Message):
    """What owners are asked of their values: ``kind`` and ``codes`` (kappa) as in :class:`pdqs.Terms`, in how many
    ``stages``, and the ``reason`` where it was chosen for the consumer."""

    kind: str
    codes: _Count
    stages: StageNumber
    reason: str


class StageStanding(StageNotice):
    """A stage that has opened, with how many owners it asks and how many have reported. Codes are those of the domain:
    what is outside ``low`` to ``high`` was ruled out before it."""

    asked: _Count
    reports: _Count
