"""People of one name: a short mark tells them apart, wherever operators see them. It is the end of the person's id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from sqlalchemy import Connection, func, select

from pdqs.market.store.schema import users

LETTERS = 6
Named = tuple[str, str]
"""An id, and the name that goes with it."""


class OfAName(Protocol):
    """Whatever has an id and a name."""

    @property
    def user_id(self) -> str:
        """The id of a person."""
        ...

    @property
    def name(self) -> str:
        """Her name."""
        ...


def named(*lists: Sequence[OfAName]) -> list[Named]:
    """The people of some lists, one list after the other."""
    return [(one.user_id, one.name) for people in lists for one in people]


def mark_of(user_id: str) -> str:
    """The mark of a person, the same for ever.

    >>> mark_of("u_5d41402abc4b2a76b9719d91")
    '719d91'
    """
    return user_id[-LETTERS:]


def marks(connection: Connection, people: Iterable[Named]) -> dict[str, str]:
    """The marks of those of these whose name somebody else has too, by id."""
    known = dict(people)
    counted = select(users.c.name).where(users.c.name.in_(set(known.values())))
    shared = set(connection.scalars(counted.group_by(users.c.name).having(func.count() > 1)))
    return {user_id: mark_of(user_id) for user_id, name in known.items() if name in shared}


def called(connection: Connection, user_id: str, name: str) -> str:
    """A name that can be nobody else's."""
    mark = marks(connection, [(user_id, name)]).get(user_id)
    return f"{name} ({mark})" if mark else name
