"""Fresh one-time codes for many people at once: after a backup was put back, or when those of a list have run out.

Owners and consumers alone: operators get theirs one by one. Who is shut out or erased gets none.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, final

from sqlalchemy import ColumnElement, Connection, and_, exists, func, select

from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.revocation import hold_people, require_signed_in
from pdqs.market.store.group_tables import group_members
from pdqs.market.store.schema import access_events, sessions, users
from pdqs.protocol.market_messages import Invitation, User
from pdqs.protocol.operator_messages import MOST_AT_ONCE, Invitations
from pdqs.protocol.problems import NotFoundError, ProblemType

_CAME_IN = ("session", "token")
"""What is noted when a code was used."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Whom:
    """Who gets a fresh code: everyone, those who never came in, or those of a group."""

    which: Literal["all", "never", "group"]
    group: str = ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """As many of them as get their codes in one file, by the first and the last of their ids."""

    first: str
    last: str
    people: int
    signed_in: int
    """How many of them are signed in with a browser, and would not be any more."""


def whom_of(text: str) -> Whom:
    """Whom a form asks for.

    >>> whom_of("never"), whom_of("group:North: old")
    (Whom(which='never', group=''), Whom(which='group', group='North: old'))
    """
    which, _, group = text.partition(":")
    if which == "group" and group:
        return Whom(which="group", group=group)
    if text not in ("all", "never"):
        raise NotFoundError(ProblemType.NO_GROUP, "codes are made for all, for those who never came in, or for a group")
    return Whom(which="all" if text == "all" else "never")


def portions(market: Market, actor: User, whom: Whom) -> list[Portion]:
    """Those who would get a code, in files of at most 500; nothing is made yet."""
    access.require(actor, "operator")
    with market.store.read() as connection:
        ids = list(connection.scalars(select(users.c.user_id).where(_meant(whom)).order_by(users.c.user_id)))
        parts = [ids[place : place + MOST_AT_ONCE] for place in range(0, len(ids), MOST_AT_ONCE)]
        signed_in = [_signed_in(connection, part, market.clock()) for part in parts]
    return [
        Portion(first=part[0], last=part[-1], people=len(part), signed_in=count)
        for part, count in zip(parts, signed_in, strict=True)
    ]


def make_codes(market: Market, actor: User, whom: Whom, first: str, last: str) -> Invitations:
    """A fresh code for each of those between two ids, by name: as one by one, in one transaction."""
    access.require(actor, "operator")
    now = market.clock()
    with market.store.write() as connection:
        between = _meant(whom) & (users.c.user_id >= first) & (users.c.user_id <= last)
        wanted = list(connection.scalars(select(users.c.user_id).where(between).limit(2 * MOST_AT_ONCE)))
        require_signed_in(connection, actor, *wanted)
        held = [row for row in hold_people(connection, *wanted).values() if row.disabled_at_ms is None]
        if not held:
            raise NotFoundError(ProblemType.NO_USER, "nobody is left who would get a code")
        people = sorted((access.user_from(row) for row in held), key=lambda one: (one.name, one.user_id))
        codes, expires = access.new_codes(market, connection, [one.user_id for one in people], by=actor.user_id)
        about = people[0].user_id if len(people) == 1 else f"{len(people):,} people"
        note_deed(connection, actor, "code", about, at_ms=now)
    made = zip(people, codes, strict=True)
    return Invitations(items=[Invitation(user=one, code=code, expires_at_ms=expires) for one, code in made])


def never_came_in(connection: Connection, user_ids: Collection[str]) -> set[str]:
    """Those of these who have not used a code yet."""
    came = select(access_events.c.user_id).where(access_events.c.user_id.in_(user_ids), _is_coming_in())
    return set(user_ids) - set(connection.scalars(came))


def _is_coming_in() -> ColumnElement[bool]:
    return access_events.c.what.in_(_CAME_IN)


def _meant(whom: Whom) -> ColumnElement[bool]:
    """Of users: that they would get a code."""
    open_ones = and_(users.c.disabled_at_ms.is_(None), users.c.role != "operator")
    if whom.which == "group":
        within = select(group_members.c.user_id).where(group_members.c.name == whom.group)
        return open_ones & users.c.user_id.in_(within)
    if whom.which == "never":
        return open_ones & ~exists().where(access_events.c.user_id == users.c.user_id, _is_coming_in())
    return open_ones


def _signed_in(connection: Connection, user_ids: Collection[str], now: int) -> int:
    theirs = sessions.c.user_id.in_(user_ids) & (sessions.c.expires_at_ms > now)
    return int(connection.scalar(select(func.count(sessions.c.user_id.distinct())).where(theirs)) or 0)
