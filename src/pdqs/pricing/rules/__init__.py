"""Rules: families of allocation curves q(b; s), one file each (section 3 of docs/theory).

Write your own in ten lines: a frozen dataclass with ``q(bids, scale)`` that falls in the bid and grows with the scale.
Its fields (numbers, texts, tuples) are its figures, and part of the hash of the terms.

>>> import dataclasses, numpy as np, pdqs
>>> @dataclasses.dataclass(frozen=True)
... class Halving:
...     name = "halving"
...     def q(self, bids, scale):
...         return np.where(bids < scale, 0.5 ** (1 + 4 * bids), 0.0)
>>> terms = pdqs.Terms(query=pdqs.Count(), budget=2.0, rule=Halving())
>>> offers = pdqs.clear([0.1, 0.2, 0.6], terms)
>>> offers.spent <= 2.0
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pdqs.model.errors import RuleError
from pdqs.pricing.rules.base import Rule, Setting, bind, check, has_field, is_vouched, name_of, printed_scale, replaced
from pdqs.pricing.rules.exponential import Exponential
from pdqs.pricing.rules.laplace import Laplace
from pdqs.pricing.rules.linear import Linear
from pdqs.pricing.rules.logarithmic import Logarithmic
from pdqs.pricing.rules.optimal import Optimal
from pdqs.pricing.rules.quadratic import Quadratic
from pdqs.pricing.rules.robust import Robust
from pdqs.pricing.rules.step import Step
from pdqs.pricing.rules.tabled import Tabled, tabled

NAMED: dict[str, Callable[[], Any]] = {
    rule.name: rule for rule in (Linear, Exponential, Logarithmic, Quadratic, Step, Optimal, Robust, Laplace)
}


def named(name: str) -> Rule:
    """The rule of that name, with its usual figures.

    >>> named("linear")
    Linear(setting=Setting(...))
    """
    try:
        rule: Rule = NAMED[name]()
    except KeyError:
        raise RuleError(f"unknown rule {name!r}: choose one of {', '.join(sorted(NAMED))}, or pass a Rule") from None
    return rule


__all__ = [
    "NAMED",
    "Exponential",
    "Laplace",
    "Linear",
    "Logarithmic",
    "Optimal",
    "Quadratic",
    "Robust",
    "Rule",
    "Setting",
    "Step",
    "Tabled",
    "bind",
    "check",
    "has_field",
    "is_vouched",
    "name_of",
    "named",
    "printed_scale",
    "replaced",
    "tabled",
]
