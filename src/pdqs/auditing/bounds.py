"""Clopper-Pearson: exact one-sided bounds on a probability from a count."""

from __future__ import annotations


def lower_bound(hits: int, draws: int, alarm: float) -> float:
    """The largest p that ``hits`` or more of ``draws`` would happen under with chance ``alarm``: below the truth else.

    >>> lower_bound(0, 10, 0.05), round(lower_bound(10, 10, 0.05), 4)
    (0.0, 0.7411)
    """
    from scipy.special import betaincinv  # a slow import, needed by audits only

    return 0.0 if hits == 0 else float(betaincinv(hits, draws - hits + 1, alarm))


def upper_bound(hits: int, draws: int, alarm: float) -> float:
    """The mirror of :func:`lower_bound`.

    >>> round(upper_bound(0, 10, 0.05), 4), upper_bound(10, 10, 0.05)
    (0.2589, 1.0)
    """
    return 1.0 - lower_bound(draws - hits, draws, alarm)
