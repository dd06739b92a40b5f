"""Forecasts, which are the only dear question: few at a time, few for one caller, and none for ever."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.round_terms import terms_of
from pdqs.model.errors import PdqsError
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.model.names import EstimatorName, RuleName
from pdqs.planning.forecasts import plan
from pdqs.planning.typical import Over
from pdqs.protocol.forecasts import Forecast, ForecastPoint, ForecastRequest
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import ProblemType, TooManyRequestsError, UnprocessableError

_AT_ONCE = 1
_WAITING = 3
_ONE_CALLERS = 2
_FACTORS = tuple(float(np.geomspace(0.1, 10.0, 9)[place]) for place in (0, 8, 2, 6, 1, 3, 5, 7))
"""Budgets of the curve beside the plan's own, as parts of it: what tells most first, there may be no time for all."""


@final
@dataclass(slots=True, eq=False)
class _Waiting:
    """A place in the line, until it is called or a newer request of the same caller has it."""

    user_id: str
    given_up: bool = False


class Desk:
    """Where forecasts queue: one is made and three wait, two at most for one caller. The others come back later.

    Who changes a form asks again and again, and leaves what she asked for before: a newer request takes the place of
    hers that has waited longest, which is told to come back, so that no one stands in her own way.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._made_for: str | None = None
        self._line: list[_Waiting] = []

    @contextmanager
    def place(self, user_id: str) -> Iterator[None]:
        """A place at the desk, or the answer that there is none."""
        with self._changed:
            mine = self._queue(user_id)
            self._changed.wait_for(lambda: mine.given_up or (self._made_for is None and self._line[0] is mine))
            if mine.given_up:
                raise _come_back()
            self._line.remove(mine)
            self._made_for = user_id
        try:
            yield
        finally:
            with self._changed:
                self._made_for = None
                self._changed.notify_all()

    def _queue(self, user_id: str) -> _Waiting:
        """Stand in line: where her own oldest stood if she may have no more of them, else at the end."""
        mine, older = _Waiting(user_id), next((one for one in self._line if one.user_id == user_id), None)
        hers = sum(one.user_id == user_id for one in self._line) + (self._made_for == user_id)
        if hers < _ONE_CALLERS and len(self._line) + (self._made_for is not None) < _AT_ONCE + _WAITING:
            self._line.append(mine)
        elif older is not None:
            self._line[self._line.index(older)] = mine
            older.given_up = True
            self._changed.notify_all()
        else:
            raise _come_back()
        return mine


def _come_back() -> TooManyRequestsError:
    return TooManyRequestsError(
        ProblemType.TOO_MANY_REQUESTS, "too many forecasts are asked for: ask again in a moment"
    )


_DESK = Desk()


def forecast(
    market: Market, actor: User, request: ForecastRequest, now: Callable[[], float] = time.monotonic
) -> Forecast:
    """What a plan would buy from so many owners, and precision against budget around it.

    The curve has as many points as there is time for (``PDQS_FORECAST_SECONDS``), that of the plan itself at least; and
    from then on each figure is read off as few typical rounds as give one.
    """
    access.require(actor, "consumer", "operator")
    with _DESK.place(actor.user_id):
        end = now() + market.settings.forecast_seconds

        def over() -> bool:
            return now() >= end

        try:
            terms = terms_of(request.plan)
            here = plan(terms, owners=request.owners, over=over)
            compared = _compared(request, here.share_half_width, over)
            points = [_point(terms.budget, here.share_half_width)]
            for factor in _FACTORS:
                if over():
                    break
                budget = terms.budget * factor
                points.append(_point(budget, float(here.curve(budgets=[budget], over=over).share_half_widths[0])))
        except PdqsError as fault:
            raise UnprocessableError(ProblemType.BAD_TERMS, str(fault)) from fault
    return Forecast(
        half_width=_finite(here.share_half_width),
        bought_share=here.bought_share,
        mean_epsilon=here.mean_epsilon,
        curve=sorted(points, key=lambda point: point.budget_micros),
        half_width_right=_finite(compared[0]),
        half_width_sharp=_finite(compared[1]),
    )


def _point(budget: float, width: float) -> ForecastPoint:
    return ForecastPoint(budget_micros=round(budget * MICROS_PER_UNIT), half_width=_finite(width))


def _compared(request: ForecastRequest, width: float, over: Over) -> tuple[float, float]:
    """The half-width of an answer that is right whatever prices say, and of the sharper; ``width`` is the plan's."""

    def by(rule: RuleName, estimator: EstimatorName) -> float:
        if (request.plan.rule, request.plan.estimator) == (rule, estimator):
            return width
        other = request.plan.model_copy(update={"rule": rule.value, "estimator": estimator.value})
        return float(plan(terms_of(other), owners=request.owners, over=over).share_half_width)

    return by(RuleName.LOTTERY, EstimatorName.UNBIASED), by(RuleName.OPTIMAL, EstimatorName.WEIGHTED)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
