"""A step that would break a promise is not taken, and whoever asked for it is told so instead of "a fault"."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pdqs.market.clock_state import last_tick
from pdqs.market.context import Market, Stuck
from pdqs.market.http.observe import log, where
from pdqs.model.errors import InvariantError
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import ConflictError, ProblemType

_FOR_OTHERS = "this round cannot go on, and nothing was changed: the operator can see why"


@contextmanager
def told_why(actor: User, round_id: str) -> Iterator[None]:
    """Turn a promise that a step would break into a conflict: with the reason for operators, without it for others."""
    try:
        yield
    except InvariantError as fault:
        log("advance-failed", round=round_id, kind=type(fault).__name__, where=where(fault), reason=str(fault))
        said = f"this round cannot go on: {fault}" if actor.role == "operator" else _FOR_OTHERS
        raise ConflictError(ProblemType.STUCK, said) from fault


def stuck_at(market: Market, round_id: str) -> Stuck | None:
    """Why a round could not go on when the clock last tried, if it could not."""
    return next((one for one in last_tick(market).stuck if one.round_id == round_id), None)
