"""Asking twice does once (idempotency): what a caller creates is named after the caller and her key.

Rounds, transactions and batches are named so that whoever knows caller and key can tell the name, which opens nothing.
People are not: a name in a record is a hash of her id, so an id that could be guessed would tell whose bid it is.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from sqlalchemy import select

from pdqs.market.context import Market
from pdqs.market.identity import server_key, short_id
from pdqs.market.store.schema import users
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import ConflictError, ProblemType


def derived_id(prefix: str, actor: User, key: str) -> str:
    """The id of what a caller creates with an idempotency key: the same key makes the same thing."""
    return f"{prefix}_{hashlib.sha256(f'{prefix}|{actor.user_id}|{key}'.encode()).hexdigest()[:24]}"


def user_ids(market: Market, actor: User, keys: Sequence[str]) -> list[str]:
    """The ids of those whom a caller lets in with these keys, by a secret of this market's; not inside a transaction.

    Who was let in before there was such a secret keeps her id, and the same key still stands for her.
    """
    secret, before = server_key(market, "ids"), [derived_id("u", actor, key) for key in keys]
    with market.store.read() as connection:
        known = set(connection.scalars(select(users.c.user_id).where(users.c.user_id.in_(before))))

    def fresh(key: str) -> str:
        return short_id("u", hmac.new(secret, f"{actor.user_id}|{key}".encode(), "sha256").hexdigest())

    return [old if old in known else fresh(key) for old, key in zip(before, keys, strict=True)]


def refuse_other_body(same: bool) -> None:
    """A key may be used again for the same request only."""
    if not same:
        raise ConflictError(
            ProblemType.IDEMPOTENCY_KEY_REUSED, "this Idempotency-Key was used before with another request"
        )
