"""A step of a round, asked for by the button of a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.datastructures import FormData

from pdqs.market import round_steps
from pdqs.market.context import Market
from pdqs.market.pages.confirming import STATE
from pdqs.protocol.market_messages import Round, User
from pdqs.protocol.problems import MarketError, NotFoundError, ProblemType

Steps = Mapping[str, Callable[[Market, User, str], Round]]


def refusal(steps: Steps, step: str, market: Market, user: User, round_id: str) -> MarketError | None:
    """Take a step that the page has a button for; what stands against it, if anything does."""
    if step not in steps:
        raise NotFoundError(ProblemType.NO_STEP, "a round cannot do that")
    try:
        steps[step](market, user, round_id)
    except MarketError as refused:
        return refused
    return None


def cancelling(form: FormData) -> Steps:
    """Calling a round off as it stood where that was asked back: no draft is discarded that is a round by now."""
    shown = str(form.get(STATE, ""))
    return {"cancel": lambda market, user, round_id: round_steps.cancel_round(market, user, round_id, shown)}
