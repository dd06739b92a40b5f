"""A plan as somebody was shown it: what she then asks for is done to that plan, or not at all."""

from __future__ import annotations

import hashlib

from pdqs.model.money import Currency
from pdqs.protocol.market_messages import RoundPlan
from pdqs.protocol.problems import ConflictError, ProblemType


def hash_of(plan: RoundPlan) -> str:
    """The SHA-256 of all of a plan but the hash of a nonce, which is put into it on the way to being opened."""
    return hashlib.sha256(plan.model_dump_json(exclude={"nonce_hash"}).encode()).hexdigest()


def refuse_otherwise(plan: RoundPlan, shown: str | None, money: Currency) -> None:
    """Refuse to go on where ``shown`` is not the hash of this plan; without one, as for programs, nothing is asked."""
    if shown is not None and shown != hash_of(plan):
        budget = money.exact(plan.budget_micros)
        raise ConflictError(
            ProblemType.OTHER_TERMS, f"this draft was changed since you looked: the budget is now {budget}"
        )
