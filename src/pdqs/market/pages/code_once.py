"""A code is shown once. A page with one that is loaded again posts its form again, and must not make another."""

from __future__ import annotations

import re

from sqlalchemy import func, select
from starlette.datastructures import FormData

from pdqs.market.context import Market
from pdqs.market.idempotency import user_ids
from pdqs.market.pages.session import if_any, key_of
from pdqs.market.people import user_by_id
from pdqs.market.store.schema import access_events
from pdqs.protocol.market_messages import NewUser, User

_MOMENT = re.compile(r"[0-9]{1,15}")


def let_in_before(market: Market, actor: User, new: NewUser, form: FormData) -> User | None:
    """Whom this very form has let in already, if anyone."""
    (user_id,) = user_ids(market, actor, [key_of(form)])
    with market.store.read() as connection:
        known = if_any(lambda: user_by_id(connection, user_id))
    return known if known is not None and (known.role, known.name) == (new.role, new.name) else None


def renewed_since(market: Market, actor: User, user_id: str, form: FormData) -> User | None:
    """Who it is, where this operator has made her a code since the page with this form was."""
    asked_at = str(form.get("asked_at", ""))
    if not _MOMENT.fullmatch(asked_at):
        return None
    made = (access_events.c.user_id == user_id) & (access_events.c.what == "code")
    by_actor = access_events.c.by_user_id == actor.user_id
    with market.store.read() as connection:
        last = connection.execute(select(func.max(access_events.c.at_ms)).where(made & by_actor)).scalar_one()
        return user_by_id(connection, user_id) if last is not None and last > int(asked_at) else None
