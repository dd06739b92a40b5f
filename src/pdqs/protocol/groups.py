"""Messages of groups of owners."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from pdqs.protocol.device_messages import Message

MOST_GROUPS = 20
"""How many groups an owner is in, or a round is for, at most."""

# What is printed, but for the marks that part names in files and forms; words with one space between them.
_WORD = r"[^\s\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069|,;]+"

GroupName = Annotated[str, StringConstraints(min_length=1, max_length=40, pattern=rf"^{_WORD}( {_WORD})*$")]
"""1 to 40 letters, without comma, semicolon or bar."""

Groups = Annotated[list[GroupName], Field(max_length=MOST_GROUPS)]


class GroupNames(Message):
    """The groups of an owner."""

    groups: Groups


class Group(Message):
    """A group, and how many owners are in it who could bid; of a small one consumers are told ``fewer_than`` alone."""

    name: str
    owners: int | None
    fewer_than: int | None = None


class GroupList(Message):
    """Every group, by name."""

    items: list[Group]
