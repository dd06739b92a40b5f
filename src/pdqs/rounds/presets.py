"""The paper's mechanisms and ours, as terms.

The paper's use its contract (`on-selection`), price every report as if it had two values, take the reports as they are
(`naive`), and cap q at 1 - 1e-6 only.
"""

from __future__ import annotations

import dataclasses
from typing import TypedDict, Unpack

from pdqs.model.names import ClearingName, ContractName, EstimatorName, QuestionKind, RuleName
from pdqs.model.priors import Prior
from pdqs.model.query import Query
from pdqs.pricing.rules import Exponential, Linear, Logarithmic, Rule
from pdqs.privacy.loss import cap_epsilon
from pdqs.rounds.choosing import Given
from pdqs.rounds.terms import Terms

PAPER_Q_MAX = 1.0 - 1e-6


class Changes(TypedDict, total=False):
    """What a preset of ours may be told to do otherwise: any field of the terms."""

    bid_range: tuple[float, float]
    rule: str | Rule
    clearing: str
    contract: str
    epsilon_max: float
    estimator: str
    prior: Prior | None
    scale: float | None
    priced_as_binary: bool
    question: Given
    stages: int | None


def _paper(query: Query, budget: float, bid_range: tuple[float, float], rule: str | Rule, clearing: str) -> Terms:
    cap = cap_epsilon(PAPER_Q_MAX, query.question.domain.size)
    return Terms(
        query=query,
        budget=budget,
        bid_range=bid_range,
        rule=rule,
        clearing=clearing,
        contract=ContractName.ON_SELECTION,
        epsilon_max=cap,
        estimator=EstimatorName.NAIVE,
        priced_as_binary=True,
        question=QuestionKind.VALUE,
    )


def gpqm_linear(*, query: Query, budget: float, bid_range: tuple[float, float] = (0.0, 1.0)) -> Terms:
    """GPQM with q = 1 - b."""
    return _paper(query, budget, bid_range, Linear(), ClearingName.GREEDY)


def gpqm_exponential(
    *, query: Query, budget: float, c: float = 1.0, bid_range: tuple[float, float] = (0.0, 1.0), released: bool = False
) -> Terms:
    """GPQM with q = e^(-c b), c drawn from U(0, 10) anew for every query; ``released`` caps q at 0.99 as its code does.

    >>> from pdqs.model.query import Count
    >>> round(gpqm_exponential(query=Count(), budget=1.0, released=True).q_max, 6)
    0.99
    """
    printed = _paper(query, budget, bid_range, Exponential(c), ClearingName.GREEDY)
    if not released:
        return printed
    return dataclasses.replace(printed, epsilon_max=cap_epsilon(0.99, query.question.domain.size))


def gpqm_logarithmic(
    *, query: Query, budget: float, c: float = 1.0, bid_range: tuple[float, float] = (0.0, 1.0), released: bool = False
) -> Terms:
    """GPQM with q = -ln(c b), c drawn as for exp; ``released`` clips q to [0.1, 0.9] as its authors' code does."""
    rule = Logarithmic(c, 0.1, 0.9) if released else Logarithmic(c, 0.0, PAPER_Q_MAX)
    return _paper(query, budget, bid_range, rule, ClearingName.GREEDY)


def npqm(*, query: Query, budget: float, rule: Rule, bid_range: tuple[float, float] = (0.0, 1.0)) -> Terms:
    """NPQM as printed: a learned rule (see :mod:`pdqs.neural`) on whatever bids come, with no cut."""
    return _paper(query, budget, bid_range, rule, ClearingName.OPEN)


def fairquery(*, query: Query, budget: float, bid_range: tuple[float, float] = (0.0, 1.0)) -> Terms:
    """FairQuery with a local randomiser: the paper's baseline. It pays whoever is chosen at clearing, coin or not."""
    return Terms(
        query=query,
        budget=budget,
        bid_range=bid_range,
        rule=RuleName.STEP,
        clearing=ClearingName.FAIRQUERY,
        contract=ContractName.ON_REPORT,
        epsilon_max=cap_epsilon(PAPER_Q_MAX, query.question.domain.size),
        estimator=EstimatorName.NAIVE,
        question=QuestionKind.VALUE,
    )


def single_minded(
    *, query: Query, budget: float, epsilon: float = 1.0, bid_range: tuple[float, float] = (0.0, 1.0)
) -> Terms:
    """Every owner sells the same eps or nothing: the proportional share of the budget, after Zhang et al. (2020)."""
    return Terms(
        query=query,
        budget=budget,
        bid_range=bid_range,
        rule=RuleName.STEP,
        clearing=ClearingName.SINGLE_MINDED,
        contract=ContractName.ON_REPORT,
        epsilon_max=epsilon,
        estimator=EstimatorName.WEIGHTED,
        question=QuestionKind.VALUE,
    )


def fallah_local(
    *, query: Query, budget: float, bid_range: tuple[float, float] = (0.0, 1.0), prior: Prior | None = None
) -> Terms:
    """Each owner's own eps from her virtual price, the budget met on average: after Fallah et al. (2022), local."""
    return Terms(
        query=query,
        budget=budget,
        bid_range=bid_range,
        rule=RuleName.LAPLACE,
        clearing=ClearingName.FALLAH,
        contract=ContractName.ON_REPORT,
        epsilon_max=4.0,
        estimator=EstimatorName.WEIGHTED,
        prior=prior,
        question=QuestionKind.VALUE,
    )


def honest(*, query: Query, budget: float, **more: Unpack[Changes]) -> Terms:
    """The default, by name: a lottery on the ladder, paid for the report, unbiased estimate, eps at most 2.

    Its interval holds whatever prices say about answers (section 9 of docs/theory).
    """
    fields: Changes = {**_HONEST, **more}
    return Terms(query=query, budget=budget, **fields)


def sound(*, query: Query, budget: float, **more: Unpack[Changes]) -> Terms:
    """Sharper, and right only if prices say nothing about answers: optimal rule, weighted estimate, eps at most 4."""
    fields: Changes = {**_SOUND, **more}
    return Terms(query=query, budget=budget, **fields)


def robust(*, query: Query, budget: float, **more: Unpack[Changes]) -> Terms:
    """A little from everyone, right whatever the bids say, and wide: what the lottery of `honest` improves on."""
    fields: Changes = {**_SOUND, "rule": RuleName.ROBUST, "estimator": EstimatorName.UNBIASED, **more}
    return Terms(query=query, budget=budget, **fields)


_ON_REPORT: Changes = {"clearing": ClearingName.LADDER, "contract": ContractName.ON_REPORT}
_HONEST: Changes = {**_ON_REPORT, "rule": RuleName.LOTTERY, "estimator": EstimatorName.UNBIASED, "epsilon_max": 2.0}
_SOUND: Changes = {**_ON_REPORT, "rule": RuleName.OPTIMAL, "estimator": EstimatorName.WEIGHTED, "epsilon_max": 4.0}
