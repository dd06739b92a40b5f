"""What a plan would buy, as messages: asked before anything is opened."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pdqs.protocol.device_messages import Message, Micros
from pdqs.protocol.market_messages import RoundPlan


class ForecastRequest(Message):
    """What would this plan buy from so many owners?"""

    plan: RoundPlan
    owners: Annotated[int, Field(ge=2, le=10_000_000)]


class ForecastPoint(Message):
    """One point of precision against budget."""

    budget_micros: Micros
    half_width: Annotated[float, Field(ge=0, le=1e12)] | None


class Forecast(Message):
    """What a budget buys: the half-width of a share at level 0.95 (none when nothing is bought), and the curve.

    ``half_width_right`` is that of an answer which is right whatever prices say (rule lottery), ``half_width_sharp``
    that of one which stands only if prices say nothing about the answer (rule optimal), for the same money.
    """

    half_width: Annotated[float, Field(ge=0, le=1e12)] | None
    bought_share: Annotated[float, Field(ge=0, le=1)]
    mean_epsilon: Annotated[float, Field(ge=0, le=100)]
    curve: list[ForecastPoint]
    half_width_right: Annotated[float, Field(ge=0, le=1e12)] | None = None
    half_width_sharp: Annotated[float, Field(ge=0, le=1e12)] | None = None
