"""Letting in very many people at once: the same as one by one, in one transaction."""

from __future__ import annotations

from sqlalchemy import Connection, select

from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.deeds import note_deed
from pdqs.market.groups import add_members
from pdqs.market.idempotency import refuse_other_body, user_ids
from pdqs.market.revocation import hold_people, require_signed_in
from pdqs.market.store.schema import users
from pdqs.market.store.sql import insert_missing
from pdqs.protocol.market_messages import Invitation, User
from pdqs.protocol.operator_messages import Invitations, NewUsers
from pdqs.protocol.problems import ConflictError, ProblemType, UnprocessableError


def register_many(market: Market, actor: User, new: NewUsers, key: str) -> Invitations:
    """Let people in. Asked again with the same key, it gives fresh codes for the same people."""
    access.require(actor, "operator")
    now = market.clock()
    *kept_ids, beyond = user_ids(market, actor, [f"{key}|{place}" for place in range(len(new.names) + 1)])
    wanted = [
        User(user_id=user_id, role=new.role, name=name, created_at_ms=now)
        for user_id, name in zip(kept_ids, new.names, strict=True)
    ]
    if new.groups:
        _refuse_odd_groups(new)
    with market.store.write() as connection:
        require_signed_in(connection, actor, *kept_ids)
        before = _refuse_other_length(connection, kept_ids, beyond)
        insert_missing(connection, users, [user.model_dump() for user in wanted])
        kept = hold_people(connection, *kept_ids)
        refuse_other_body(
            all((kept[one.user_id].role, kept[one.user_id].name) == (one.role, one.name) for one in wanted)
        )
        if any(row.disabled_at_ms is not None for row in kept.values()):
            raise ConflictError(
                ProblemType.ACCOUNT_DISABLED, "one of these accounts is disabled: no code is made for it"
            )
        codes, expires = access.new_codes(market, connection, kept_ids, by=actor.user_id)
        items = [
            Invitation(user=access.user_from(kept[user_id]), code=code, expires_at_ms=expires)
            for user_id, code in zip(kept_ids, codes, strict=True)
        ]
        if not before:
            about = kept_ids[0] if len(items) == 1 else f"{len(items)} people"
            note_deed(connection, actor, "invited", about, at_ms=now)
        if new.groups:
            add_members(connection, dict(zip(kept_ids, new.groups, strict=True)), now)
    return Invitations(items=items)


def _refuse_other_length(connection: Connection, kept_ids: list[str], beyond: str) -> bool:
    """Whether the key was used before; then for as many people, neither fewer nor more."""
    asked = select(users.c.user_id).where(users.c.user_id.in_([*kept_ids, beyond]))
    known = set(connection.scalars(asked))
    refuse_other_body(not known or known == set(kept_ids))
    return bool(known)


def _refuse_odd_groups(new: NewUsers) -> None:
    if len(new.groups) != len(new.names):
        raise UnprocessableError(ProblemType.BAD_LIST, "groups are given for each name, in the order of the names")
    if new.role != "owner":
        raise UnprocessableError(ProblemType.BAD_LIST, "only owners are in groups")
