"""The budget for a width, which falls as the budget grows, nearly as a power of it: lines in logarithms find it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Floats

NEAR = 0.999
"""A width between this part of the target and the target itself is found."""

WidthAt = Callable[[float], float]

_MOST_TRIES = 24
_LEAST_PART = 1e-9
_USUAL_SLOPE = -0.55


@final
@dataclass(frozen=True)
class Tried:
    """A budget and the width it gives."""

    budget: float
    width: float


def cheapest(target: float, width_at: WidthAt, top: Tried, *, near: float = NEAR) -> Tried:
    """The least budget found whose width is at most ``target``, which that of ``top`` is.

    >>> found = cheapest(0.1, lambda budget: budget**-0.5, Tried(1e6, 1e-3))
    >>> bool(0.0999 <= found.width <= 0.1)
    True
    """
    high, low, streak = top, Tried(top.budget * _LEAST_PART, math.inf), 0
    for _ in range(_MOST_TRIES):
        if high.width >= near * target or high.budget <= low.budget * (1.0 + 1e-4):
            break
        budget = _between(low, high, target * (1.0 + near) / 2.0, halve=abs(streak) >= 3)
        tried = Tried(budget, width_at(budget))
        if tried.width <= target:
            high, streak = tried, max(streak, 0) + 1
        else:
            low, streak = tried, min(streak, 0) - 1
    return high


def _between(low: Tried, high: Tried, aim: float, *, halve: bool) -> float:
    """Where the line from low to high, in logarithms, comes to the aim."""
    middle = math.sqrt(low.budget * high.budget)
    if math.isinf(low.width):  # nothing known below: as if the width were 1/sqrt(budget), a twentieth at most
        return max(high.budget * max((high.width / aim) ** 2, 0.05), middle)
    if halve or low.width <= high.width:
        return middle
    part = math.log(low.width / aim) / math.log(low.width / high.width)
    found = low.budget * (high.budget / low.budget) ** part
    return found if low.budget < found < high.budget else middle


def polished(target: float, width_at: WidthAt, start: float, most: float) -> Tried | None:
    """The same for a width that is near ``target`` at ``start`` already; None if it is above it up to ``most``.

    >>> found = polished(0.1, lambda budget: 1.02 * budget**-0.5, 100.0, 1e6)
    >>> bool(0.0999 <= found.width <= 0.1)
    True
    """
    low, high, budget = None, None, start
    for _ in range(_MOST_TRIES):
        tried = Tried(budget, width_at(budget))
        if tried.width <= target:
            high = tried if high is None or tried.budget < high.budget else high
        elif budget >= most:
            return None
        else:
            low = tried if low is None or tried.budget > low.budget else low
        if high is not None and low is not None:
            return cheapest_between(target, width_at, low, high)
        if high is not None and high.width >= NEAR * target:
            break
        step = (tried.width / (target * (1.0 + NEAR) / 2.0)) ** (-1.0 / _USUAL_SLOPE) if tried.width < math.inf else 2.0
        # A little farther than the line says, so that the target is soon between two budgets.
        budget = min(budget * max(step * (1.002 if step > 1 else 0.998), 0.25), most)
    return high


def cheapest_between(target: float, width_at: WidthAt, low: Tried, high: Tried) -> Tried:
    """The least budget found between one that is too little and one that is enough."""
    for turn in range(8):
        if high.width >= NEAR * target or high.budget <= low.budget * (1.0 + 1e-3):
            break
        budget = _between(low, high, target * (1.0 + NEAR) / 2.0, halve=turn >= 3)
        tried = Tried(budget, width_at(budget))
        high, low = (tried, low) if tried.width <= target else (high, tried)
    return high


def round_budgets(budget: float, points: int) -> Floats:
    """So many budgets from a twentieth of this one to four times it, in two digits where that tells them apart.

    >>> round_budgets(200.0, 4).tolist()
    [10.0, 43.0, 190.0, 800.0]
    """
    exact = budget * np.geomspace(0.05, 4.0, points)
    rounded = np.array([float(f"{each:.1e}") for each in exact])
    return rounded if np.unique(rounded).size == points else exact
