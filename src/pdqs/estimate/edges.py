"""Where a hypothesis falls: the ends of an interval that is made of all the values a test lets stand."""

from __future__ import annotations

from collections.abc import Callable

_HALVINGS = 50
_FINE = 2.0**-46  # of the way from inside to end


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


def crosses_at(margin: Callable[[float], float], inside: float, end: float) -> float:
    """:func:`falls_at` where the test has a margin, at least 0 while it stands and continuous: some ten looks at it.

    Straight lines through the last two places, the kept one's margin halved when it was kept before (the Illinois
    rule); a plain halving whenever that is slow. Ends just outside, by less than 2^-46 of the way.

    >>> round(crosses_at(lambda x: 2.0 - x * x, 0.0, 2.0), 9)
    1.414213562
    """
    good, bad, kept = 0.0, 1.0, 0
    above, below = margin(inside), margin(end)
    if below >= 0.0:
        return end
    for _ in range(2 * _HALVINGS):
        if bad - good <= _FINE:
            break
        slow = abs(kept) > 2
        way = 0.5 * (good + bad) if slow else good + (bad - good) * above / (above - below)
        way = min(max(way, good + _FINE / 2.0), bad - _FINE / 2.0)
        here = margin(inside + way * (end - inside))
        if here >= 0.0:
            good, above, kept = way, here, max(kept, 0) + 1
            below = below / 2.0 if kept > 1 else below
        else:
            bad, below, kept = way, here, min(kept, 0) - 1
            above = above / 2.0 if kept < -1 else above
    return inside + bad * (end - inside)
