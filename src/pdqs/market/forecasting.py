"""Forecasts, which are the only dear question: few at a time, few for one caller, and none for ever."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.round_terms import terms_of
from pdqs.model.errors import PdqsError
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.model.names import EstimatorName, RuleName
from pdqs.planning.forecasts import plan
from pdqs.protocol.forecasts import Forecast, ForecastPoint, ForecastRequest
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import ProblemType, TooManyRequestsError, UnprocessableError

_AT_ONCE = 1
_WAITING = 3
_ONE_CALLERS = 2
_FACTORS = tuple(float(np.geomspace(0.1, 10.0, 9)[place]) for place in (4, 0, 8, 2, 6, 1, 3, 5, 7))
"""Budgets of the curve, as parts of the plan's own: what tells most comes first, for there may not be time for all."""


class Desk:
    """Where forecasts queue: one is made and three wait, two at most for one caller. The others come back later."""

    def __init__(self) -> None:
        self._lock, self._making = threading.Lock(), threading.Semaphore(_AT_ONCE)
        self._inside: Counter[str] = Counter()

    @contextmanager
    def place(self, user_id: str) -> Iterator[None]:
        """A place at the desk, or the answer that there is none."""
        with self._lock:
            full = self._inside.total() >= _AT_ONCE + _WAITING or self._inside[user_id] >= _ONE_CALLERS
            if full:
                raise TooManyRequestsError(
                    ProblemType.TOO_MANY_REQUESTS, "too many forecasts are asked for: ask again in a moment"
                )
            self._inside[user_id] += 1
        try:
            with self._making:
                yield
        finally:
            with self._lock:
                self._inside[user_id] -= 1
                self._inside += Counter()  # forget who has left


_DESK = Desk()


def forecast(
    market: Market, actor: User, request: ForecastRequest, now: Callable[[], float] = time.monotonic
) -> Forecast:
    """What a plan would buy from so many owners, and precision against budget around it.

    The curve has as many points as there is time for (``PDQS_FORECAST_SECONDS``).
    """
    access.require(actor, "consumer", "operator")
    with _DESK.place(actor.user_id):
        end = now() + market.settings.forecast_seconds
        try:
            terms = terms_of(request.plan)
            here = plan(terms, owners=request.owners)
            compared = _compared(request, here.share_half_width)
            points: list[ForecastPoint] = []
            for factor in _FACTORS:
                if points and now() >= end:
                    break
                budget = terms.budget * factor
                width = float(here.curve(budgets=[budget]).share_half_widths[0])
                points.append(ForecastPoint(budget_micros=round(budget * MICROS_PER_UNIT), half_width=_finite(width)))
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


def _compared(request: ForecastRequest, width: float) -> tuple[float, float]:
    """The half-width of an answer that is right whatever prices say, and of the sharper; ``width`` is the plan's."""

    def by(rule: RuleName, estimator: EstimatorName) -> float:
        if (request.plan.rule, request.plan.estimator) == (rule, estimator):
            return width
        other = request.plan.model_copy(update={"rule": rule.value, "estimator": estimator.value})
        return float(plan(terms_of(other), owners=request.owners).share_half_width)

    return by(RuleName.LOTTERY, EstimatorName.UNBIASED), by(RuleName.OPTIMAL, EstimatorName.WEIGHTED)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
