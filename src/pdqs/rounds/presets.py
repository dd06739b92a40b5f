"""The paper's mechanisms and ours, as terms.

The paper's use its contract (`on-selection`), price every report as if it had two values, take the reports as they are
(`naive`), and cap q at 1 - 1e-6 only.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from pdqs.model.priors import Prior
from pdqs.model.query import Query
from pdqs.pricing.rules import Exponential, Linear, Logarithmic, Rule
from pdqs.privacy.loss import cap_epsilon
from pdqs.rounds.terms import Terms

PAPER_Q_MAX = 1.0 - 1e-6


def _paper(query: Query, budget: float, bid_range: tuple[float, float], rule: str | Rule, clearing: str) -> Terms:
    cap = cap_epsilon(PAPER_Q_MAX, query.question.domain.size)
    return Terms(
        query=query,
        budget=budget,
        bid_range=bid_range,
        rule=rule,
        clearing=clearing,
        contract="on-selection",
        epsilon_max=cap,
        estimator="naive",
        priced_as_binary=True,
    )


def gpqm_linear(*, query: Query, budget: float, bid_range: tuple[float, float] = (0.0, 1.0)) -> Terms:
    """GPQM with q = 1 - b."""
    return _paper(query, budget, bid_range, Linear(), "greedy")


def gpqm_exponential(
    *, query: Query, budget: float, c: float = 1.0, bid_range: tuple[float, float] = (0.0, 1.0), released: bool = False
) -> Terms:
    """GPQM with q = e^(-c b), c drawn from U(0, 10) anew for every query; ``released`` caps q at 0.99 as its code does.

    >>> from pdqs.model.query import Count
    >>> round(gpqm_exponential(query=Count(), budget=1.0, released=True).q_max, 6)
    0.99
    """
    printed = _paper(query, budget, bid_range, Exponential(c), "greedy")
    if not released:
        return printed
    return dataclasses.replace(printed, epsilon_max=cap_epsilon(0.99, query.question.domain.size))


def gpqm_logarithmic(
    *, query: Query, budget: float, c: float = 1.0, bid_range: tuple[float, float] = (0.0, 1.0), released: bool = False
) -> Terms:
    """GPQM with q = -ln(c b), c drawn as for exp; ``released`` clips q to [0.1, 0.9] as its authors' code does."""
    rule = Logarithmic(c, 0.1, 0.9) if released else Logarithmic(c, 0.0, PAPER_Q_MAX)
    return _paper(query, budget, bid_range, rule, "greedy")


def npqm(*, query: Query, budget: float, rule: Rule, bid_range: tuple[float, float] = (0.0, 1.0)) -> Terms:
    """NPQM as printed: a learned rule (see :mod:`pdqs.neural`) on whatever bids come, with no cut."""
    return _paper(query, budget, bid_range, rule, "open")


def fairquery(*, query: Query, budget: float, bid_range: tuple[float, float] = (0.0, 1.0)) -> Terms:
    """FairQuery with a local randomiser: the paper's baseline. It pays whoever is chosen at clearing, coin or not."""
    return Terms(
        query=query,
        budget=budget,
        bid_range=bid_range,
        rule="step",
        clearing="fairquery",
        contract="on-report",
        epsilon_max=cap_epsilon(PAPER_Q_MAX, query.question.domain.size),
        estimator="naive",
    )


def single_minded(
    *, query: Query, budget: float, epsilon: float = 1.0, bid_range: tuple[float, float] = (0.0, 1.0)
) -> Terms:
    """Every owner sells the same eps or nothing: the proportional share of the budget, after Zhang et al. (2020)."""
    return Terms(
        query=query,
        budget=budget,
        bid_range=bid_range,
        rule="step",
        clearing="single-minded",
        contract="on-report",
        epsilon_max=epsilon,
        estimator="weighted",
    )


def fallah_local(
    *, query: Query, budget: float, bid_range: tuple[float, float] = (0.0, 1.0), prior: Prior | None = None
) -> Terms:
    """Each owner's own eps from her virtual price, the budget met on average: after Fallah et al. (2022), local."""
    return Terms(
        query=query,
        budget=budget,
        bid_range=bid_range,
        rule="laplace",
        clearing="fallah",
        contract="on-report",
        epsilon_max=4.0,
        estimator="weighted",
        prior=prior,
    )


def honest(*, query: Query, budget: float, **more: Any) -> Terms:
    """The default, by name: a lottery on the ladder, paid for the report, unbiased estimate, eps at most 2.

    Its interval holds whatever prices say about answers (section 9 of docs/theory).
    """
    return Terms(**{**_HONEST, **more}, query=query, budget=budget)


def sound(*, query: Query, budget: float, **more: Any) -> Terms:
    """Sharper, and right only if prices say nothing about answers: optimal rule, weighted estimate, eps at most 4."""
    return Terms(**{**_SOUND, **more}, query=query, budget=budget)


def robust(*, query: Query, budget: float, **more: Any) -> Terms:
    """A little from everyone, right whatever the bids say, and wide: what the lottery of `honest` improves on."""
    return Terms(**{**_SOUND, "rule": "robust", "estimator": "unbiased", **more}, query=query, budget=budget)


_ON_REPORT = {"clearing": "ladder", "contract": "on-report"}
_HONEST: dict[str, Any] = {**_ON_REPORT, "rule": "lottery", "estimator": "unbiased", "epsilon_max": 2.0}
_SOUND: dict[str, Any] = {**_ON_REPORT, "rule": "optimal", "estimator": "weighted", "epsilon_max": 4.0}
