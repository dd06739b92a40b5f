"""Groups of owners, and eligibility: who may see and bid in a round that is for some groups alone.

The operator puts owners into groups. A consumer names the groups that a round is for; the names are frozen with the
terms. Who is in a group is looked at when she looks or bids: whoever has bid stays in, whatever the operator changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from pydantic import ValidationError
from sqlalchemy import BindParameter, ColumnElement, Connection, Select, delete, func, not_, or_, select

from pdqs.estimate.enough import LEAST_REPORTS
from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.people import member_by_id, user_by_id
from pdqs.market.revocation import require_signed_in
from pdqs.market.store.group_tables import group_members, round_groups
from pdqs.market.store.schema import bids, rounds, users
from pdqs.market.store.sql import insert_missing
from pdqs.market.typed_names import alike, fault_of_name, typed_name
from pdqs.protocol.device_messages import MOST_LETTERS
from pdqs.protocol.groups import MOST_GROUPS, Group, GroupList, GroupNames
from pdqs.protocol.market_messages import RoundPlan, User
from pdqs.protocol.problems import ConflictError, NotFoundError, ProblemType, UnprocessableError

LEAST_GROUP = LEAST_REPORTS
"""No round is for a smaller group, be it beside others: whoever knows the others would know what is left."""
_AT_ONCE = 10_000  # ids in a statement: PostgreSQL takes at most 65,535


def all_groups(market: Market, actor: User) -> GroupList:
    """Every group and how many owners are in it, by name; to a consumer a small one is just small."""
    access.require(actor, "consumer", "operator")
    with market.store.read() as connection:
        sizes = _sizes(connection)
    small = {name for name, owners in sizes.items() if owners < LEAST_GROUP and actor.role != "operator"}
    return GroupList(
        items=[
            Group(name=name, owners=None, fewer_than=LEAST_GROUP) if name in small else Group(name=name, owners=owners)
            for name, owners in sizes.items()
        ]
    )


def _sizes(connection: Connection, names: Sequence[str] | None = None) -> dict[str, int]:
    """How many who could bid are in each group, by name; in each of these, where some are named."""
    able = group_members.join(users).select().where(users.c.disabled_at_ms.is_(None))
    if names is not None:  # and no other is counted, however many there are
        able = able.where(group_members.c.name.in_(names))
    counted = able.with_only_columns(group_members.c.name, func.count().label("owners"))
    listed = counted.group_by(group_members.c.name).order_by(group_members.c.name)
    return {row.name: row.owners for row in connection.execute(listed)}


def groups_of(market: Market, actor: User, user_id: str) -> GroupNames:
    """The groups of an owner, for herself or an operator."""
    if actor.role != "operator" and actor.user_id != user_id:
        raise NotFoundError(ProblemType.NO_USER, f"there is no user {user_id} that you can see")
    with market.store.read() as connection:
        user_by_id(connection, user_id)
        return GroupNames(groups=groups_by_user(connection, [user_id]).get(user_id, []))


def group_names(given: Iterable[str]) -> GroupNames:
    """Names as someone has typed them: spaces around them do not count, and a name twice is one.

    >>> group_names([" Night  shift", "", "Nurses"]).groups
    ['Night shift', 'Nurses']
    """
    typed = [typed_name(" ".join(name.split())) for name in given]
    names = list(dict.fromkeys(name for name in typed if name))
    for name in names:
        why = fault_of_name(name[:MOST_LETTERS], "a group's name")
        if why:
            raise UnprocessableError(ProblemType.NO_GROUP, why)
    try:
        return GroupNames(groups=names)
    except ValidationError:
        said = f"a group's name has 1 to 40 letters without , ; or |, and nobody is in more than {MOST_GROUPS} groups"
        raise UnprocessableError(ProblemType.NO_GROUP, said) from None


def groups_by_user(connection: Connection, user_ids: Sequence[str]) -> dict[str, list[str]]:
    """The groups of each of these, by name; whoever is in none is left out."""
    listed = select(group_members).where(group_members.c.user_id.in_(user_ids)).order_by(group_members.c.name)
    found: dict[str, list[str]] = {}
    for row in connection.execute(listed):
        found.setdefault(row.user_id, []).append(row.name)
    return found


def put_in_groups(market: Market, actor: User, user_id: str, wanted: GroupNames) -> GroupNames:
    """Have an owner be in these groups and no others."""
    access.require(actor, "operator")
    now = market.clock()
    with market.store.write() as connection:
        require_signed_in(connection, actor, user_id)  # her row is held: whoever is being erased leaves her groups
        owner = member_by_id(connection, user_id)
        if owner.role != "owner":
            raise ConflictError(ProblemType.WRONG_ACCOUNT, "only owners are in groups")
        if owner.erased_at_ms is not None:
            raise ConflictError(
                ProblemType.ACCOUNT_DISABLED, "this account was erased at its owner's wish, and is in no group any more"
            )
        names = sorted(set(_spelled(connection, wanted.groups).values()))
        hers = group_members.c.user_id == user_id
        connection.execute(delete(group_members).where(hers, group_members.c.name.not_in(names)))
        add_members(connection, {user_id: names}, now)
        note_deed(connection, actor, "grouped", user_id, at_ms=now)
    return GroupNames(groups=names)


def _spelled(connection: Connection, names: Sequence[str]) -> dict[str, str]:
    """Each name as the group is spelled that there is: "nurses" are no other group than "Nurses".

    Nor is one whose accents are kept in another way, as lists and programs may have left it.
    """
    known = {alike(name): name for name in connection.scalars(select(group_members.c.name).distinct())}
    for name in names:
        known.setdefault(alike(name), name)
    return {name: known[alike(name)] for name in names}


def owners_among(connection: Connection, user_ids: Collection[str]) -> set[str]:
    """Those of these who are owners and not erased, and stay so until the transaction ends."""
    listed, found = sorted(user_ids), set[str]()
    hers = users.c.erased_at_ms.is_(None) & (users.c.role == "owner")
    for first in range(0, len(listed), _AT_ONCE):
        some = select(users.c.user_id).where(hers, users.c.user_id.in_(listed[first : first + _AT_ONCE]))
        held = some.order_by(users.c.user_id).with_for_update(read=True, key_share=True)
        found.update(connection.scalars(held))
    return found


def leave_groups(connection: Connection, user_id: str) -> None:
    """Take someone out of every group."""
    connection.execute(delete(group_members).where(group_members.c.user_id == user_id))


def add_members(connection: Connection, wanted: Mapping[str, Sequence[str]], now: int) -> None:
    """Put people into groups, beside those that they are in; in one order, so that no two lists wait for each other."""
    spelled = _spelled(connection, [name for names in wanted.values() for name in names])
    meant = sorted({(user_id, spelled[name]) for user_id, names in wanted.items() for name in names})
    rows = [{"name": name, "user_id": user_id, "since_ms": now} for user_id, name in meant]
    if rows:
        insert_missing(connection, group_members, rows)


def require_known(connection: Connection, names: Sequence[str]) -> None:
    """Refuse a plan for a group that there is none of."""
    if not names:
        return
    known = set(connection.scalars(select(group_members.c.name).where(group_members.c.name.in_(names)).distinct()))
    missing = [name for name in names if name not in known]
    if missing:
        raise UnprocessableError(ProblemType.NO_GROUP, f"there is no group called {missing[0]} with anyone in it")


def keep_groups(connection: Connection, round_id: str, plan: RoundPlan) -> None:
    """Freeze whom a round is for, as it opens; refuse groups that are too small, each of them and all together."""
    if not plan.groups:
        return
    require_known(connection, plan.groups)
    refusal = why_too_few(connection, plan)
    if refusal:
        raise ConflictError(ProblemType.GROUP_TOO_SMALL, refusal)
    insert_missing(connection, round_groups, [{"round_id": round_id, "name": name} for name in plan.groups])


def why_too_few(connection: Connection, plan: RoundPlan) -> str:
    """Why a round for these groups could not be opened as they are now; nothing where it could, or is for everyone.

    It follows from what is told of each group: how many are in several of them is nothing that a consumer is to learn,
    be it by asking for one owner more at a time. Where too few bid after all, the round is called off.
    """
    if not plan.groups:
        return ""
    sizes = _sizes(connection, plan.groups)
    small = next((name for name in plan.groups if sizes.get(name, 0) < LEAST_GROUP), None)
    if small is not None:
        return fewer_in(small)
    most, needed = sum(sizes.values()), max(plan.minimum_owners, LEAST_REPORTS)
    return too_small(list(sizes), most, needed) if most < needed else ""


def refusal_now(market: Market, plan: RoundPlan) -> str:
    """The same for whoever looks at a draft."""
    with market.store.read() as connection:
        return why_too_few(connection, plan)


def fewer_in(name: str) -> str:
    """What is said of a group that no round may be for.

    >>> fewer_in("Board")
    'there are fewer than 5 owners in Board, and no round is for so few, be it beside others: choose other groups'
    """
    return (
        f"there are fewer than {LEAST_GROUP} owners in {name}, and no round is for so few, be it beside others:"
        " choose other groups"
    )


def too_small(names: Sequence[str], most: int, needed: int) -> str:
    """What is said of groups without enough owners for an answer; ``most``: with all of them added up.

    >>> too_small(["Nurses"], 6, 8)
    'there are 6 owners in Nurses, and an answer needs at least 8: choose more groups, or let everyone in'
    >>> too_small(["Drivers", "Nurses"], 12, 20)[:50]
    'there are at most 12 owners in Drivers and Nurses,'
    """
    how_many = f"at most {most}" if len(names) > 1 else str(most)
    return (
        f"there are {how_many} owners in {' and '.join(names)}, and an answer needs at least {needed}:"
        " choose more groups, or let everyone in"
    )


def how_many_able(connection: Connection, names: Sequence[str]) -> int:
    """How many owners could bid in a round for these groups; with none, in one for everyone."""
    able = select(func.count()).select_from(users).where(users.c.role == "owner", users.c.disabled_at_ms.is_(None))
    if names:
        able = able.where(users.c.user_id.in_(_members(names)))
    return int(connection.scalar(able) or 0)


def how_many_told(connection: Connection, names: Sequence[str]) -> int:
    """The same as its consumer may be told, of several groups at most so many: what is told of each is added up.

    Small groups, for which no round is opened, are not counted; nor is anything that tells how many are in two.
    """
    if not names:
        return how_many_able(connection, names)
    large = [owners for owners in _sizes(connection, names).values() if owners >= LEAST_GROUP]
    summed = sum(large) or LEAST_GROUP
    return summed if len(large) < 2 else min(summed, how_many_able(connection, []))


def _members(names: Sequence[str]) -> Select[tuple[str]]:
    return select(group_members.c.user_id).where(group_members.c.name.in_(names))


def is_open_to(user_id: str | BindParameter[str]) -> ColumnElement[bool]:
    """Of rounds: those that an owner may bid in, for everyone or for a group of hers."""
    this = round_groups.c.round_id == rounds.c.round_id
    hers = select(group_members.c.name).where(group_members.c.user_id == user_id)
    return or_(
        not_(select(round_groups.c.name).where(this).exists()),
        select(round_groups.c.name).where(this, round_groups.c.name.in_(hers)).exists(),
    )


def is_for(user_id: str | BindParameter[str]) -> ColumnElement[bool]:
    """Of rounds: those that an owner may see, for everyone, for a group of hers, or with a bid of hers."""
    has_bid = (bids.c.round_id == rounds.c.round_id) & (bids.c.owner_id == user_id)
    return or_(is_open_to(user_id), select(bids.c.round_id).where(has_bid).exists())


def eligible(round_id: str) -> ColumnElement[bool]:
    """Of users: those whom a round is for."""
    names = select(round_groups.c.name).where(round_groups.c.round_id == round_id)
    inside = select(group_members.c.user_id).where(group_members.c.name.in_(names))
    return or_(not_(names.exists()), users.c.user_id.in_(inside))


def require_eligible(connection: Connection, actor: User, round_id: str) -> None:
    """To an owner whom a round is not for, it does not exist."""
    wanted = select(rounds.c.round_id).where(rounds.c.round_id == round_id, is_for(actor.user_id))
    if connection.scalar(wanted) is None:
        raise NotFoundError(ProblemType.NO_ROUND, f"there is no round {round_id} that you can see")
