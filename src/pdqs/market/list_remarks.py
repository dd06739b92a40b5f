"""What is to be known of a list of names before anybody is let in: who is here already, and what is not read of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import final

from sqlalchemy import select

from pdqs.market.context import Market
from pdqs.market.idempotency import user_ids
from pdqs.market.invitation_files import COLUMNS, GuestList
from pdqs.market.store.group_tables import group_members
from pdqs.market.store.schema import users
from pdqs.market.typed_names import alike
from pdqs.protocol.market_messages import Role, User

_NAMED = 5
"""How many are named at once."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ListRemarks:
    """Who of a list may be somebody's second account, by her place in it, and sentences about it and the rest."""

    doubted: frozenset[int]
    """Names that are here already, and all but the first of a name that the list has more than once."""
    sentences: list[str]
    """About those."""
    hints: list[str]
    """About columns that are not read, and about groups that look like one."""


def remarks_on(market: Market, actor: User, role: Role, listed: GuestList, key: str) -> ListRemarks:
    """What is to be known of a list; whom this very key let in is not here already."""
    own = user_ids(market, actor, [f"{key}|{place}" for place in range(len(listed.names))])
    with market.store.read() as connection:
        named = select(users.c.name).where(users.c.role == role, users.c.erased_at_ms.is_(None))
        here = {alike(name) for name in connection.scalars(named.where(users.c.user_id.not_in(own)))}
        groups = set(connection.scalars(select(group_members.c.name).distinct()))
    known = [place for place, name in enumerate(listed.names) if alike(name) in here]
    twice = namesakes_in(listed.names)
    return ListRemarks(
        doubted=frozenset(known).union(*(places[1:] for places in twice)),
        sentences=[*_known_words(listed, known), *_twice_words(listed, twice)],
        hints=[*_column_words(listed.ignored), *_group_words(listed, groups)],
    )


def namesakes_in(names: Sequence[str]) -> list[list[int]]:
    """The places of each name that stands more than once, however it is written.

    >>> namesakes_in(["Ann Lee", "Bo", "ann  lee"])
    [[0, 2]]
    """
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(alike(name), []).append(place)
    return [found for found in places.values() if len(found) > 1]


def in_words(words: Sequence[str], most: int = _NAMED) -> str:
    """Some things one after the other.

    >>> in_words(["2", "3", "7"]), in_words(["2", "3", "7"], 1)
    ('2, 3 and 7', '2 and 2 more')
    """
    shown = [*words[:most], f"{len(words) - most:,} more"] if len(words) > most else [*words]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _known_words(listed: GuestList, known: Sequence[int]) -> list[str]:
    if not known:
        return []
    count, names = len(listed.names), in_words([listed.names[place] for place in known])
    verb = "is" if len(known) == 1 else "are"
    return [f"{len(known):,} of {count:,} {'name' if count == 1 else 'names'} {verb} here already: {names}."]


def _twice_words(listed: GuestList, twice: Sequence[Sequence[int]]) -> list[str]:
    found = [
        f"Rows {in_words([str(listed.rows[place]) for place in places])} have one name: {listed.names[places[0]]}."
        for places in twice
    ]
    more = [f"So do others: {len(found) - _NAMED:,} more names stand there more than once."]
    return found[:_NAMED] + (more if len(found) > _NAMED else [])


def _column_words(ignored: Iterable[str]) -> list[str]:
    return [f"The column {name!r} is not read{_meant(name, COLUMNS)}." for name in ignored]


def _meant(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, [*known], n=1)
    return f": did you mean {near[0]!r}? Then write that above it, and read the list again" if near else ""


def _group_words(listed: GuestList, kept: Collection[str]) -> list[str]:
    """Groups of the list that differ from one another, or from those there are, by nothing but how they are written."""
    named = {name for names in listed.groups for name in names}
    spelled: dict[str, set[str]] = {}
    for name in (*named, *kept):
        spelled.setdefault(alike(name), set()).add(name)
    return [
        f"The groups {in_words(sorted(found))} are one group: only large letters or how accents are kept differ."
        for found in sorted(map(sorted, spelled.values()))
        if len(found) > 1 and named & set(found)
    ]
