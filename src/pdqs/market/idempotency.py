"""Asking twice does once (idempotency): what a caller creates is named after the caller and her key."""

from __future__ import annotations

import hashlib

from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import ConflictError, ProblemType


def derived_id(prefix: str, actor: User, key: str) -> str:
    """The id of what a caller creates with an idempotency key: the same key makes the same thing."""
    return f"{prefix}_{hashlib.sha256(f'{prefix}|{actor.user_id}|{key}'.encode()).hexdigest()[:24]}"


def refuse_other_body(same: bool) -> None:
    """A key may be used again for the same request only."""
    if not same:
        raise ConflictError(
            ProblemType.IDEMPOTENCY_KEY_REUSED, "this Idempotency-Key was used before with another request"
        )
