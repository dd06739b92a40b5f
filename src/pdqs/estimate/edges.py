"""Where a hypothesis falls: the ends of an interval that is made of all the values a test lets stand."""

from __future__ import annotations

from collections.abc import Callable

_HALVINGS = 50


def falls_at(stands: Callable[[float], bool], inside: float, end: float) -> float:
    """Where, on the way from ``inside`` (which stands) to ``end``, a hypothesis falls; ``end`` if it never does.

    >>> round(falls_at(lambda x: x * x <= 2.0, 0.0, 2.0), 9)
    1.414213562
    """
    if stands(end):
        return end
    good, bad = inside, end
    for _ in range(_HALVINGS):
        middle = 0.5 * (good + bad)
        good, bad = (middle, bad) if stands(middle) else (good, middle)
    return bad
