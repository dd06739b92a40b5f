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

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pdqs.model.errors import RuleError
from pdqs.model.names import RuleName, chosen
from pdqs.pricing.rules.base import (
    Believes,
    Named,
    Printed,
    ReadsBids,
    Rule,
    Setting,
    bind,
    check,
    has_field,
    is_vouched,
    name_of,
    printed_scale,
    prior_of,
    refuse_scaleless,
    replaced,
    with_prior,
)
from pdqs.pricing.rules.exponential import Exponential
from pdqs.pricing.rules.flat import Flat
from pdqs.pricing.rules.laplace import Laplace
from pdqs.pricing.rules.linear import Linear
from pdqs.pricing.rules.logarithmic import Logarithmic
from pdqs.pricing.rules.lottery import Asks, Lottery
from pdqs.pricing.rules.optimal import Optimal
from pdqs.pricing.rules.quadratic import Quadratic
from pdqs.pricing.rules.robust import Robust
from pdqs.pricing.rules.shape import Shaped
from pdqs.pricing.rules.step import Step
from pdqs.pricing.rules.tabled import Tabled, read_into_table

NAMED: Mapping[str, Callable[..., Rule]] = MappingProxyType(
    {
        rule.name: rule
        for rule in (Linear, Exponential, Logarithmic, Quadratic, Step, Optimal, Robust, Laplace, Lottery, Flat)
    }
)
"""Every rule there is by its name (:class:`pdqs.model.names.RuleName`), with its usual figures unless given others."""


def named(name: str) -> Rule:
    """The rule of that name, with its usual figures.

    >>> named("linear")
    Linear(setting=Setting(...))
    """
    return NAMED[chosen("rule", name, RuleName, RuleError)]()


__all__ = [
    "NAMED",
    "Asks",
    "Believes",
    "Exponential",
    "Flat",
    "Laplace",
    "Linear",
    "Logarithmic",
    "Lottery",
    "Named",
    "Optimal",
    "Printed",
    "Quadratic",
    "ReadsBids",
    "Robust",
    "Rule",
    "Setting",
    "Shaped",
    "Step",
    "Tabled",
    "bind",
    "check",
    "has_field",
    "is_vouched",
    "name_of",
    "named",
    "printed_scale",
    "prior_of",
    "read_into_table",
    "refuse_scaleless",
    "replaced",
    "with_prior",
]
