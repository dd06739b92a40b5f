"""A user's rule is priced and used as one table, so that no rule that is written breaks truthfulness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.auditing.mechanism import SHIPPED
from pdqs.model.arrays import Floats
from pdqs.model.errors import RuleError
from pdqs.pricing.rules import Rule


@dataclass(frozen=True)
class Bump:
    """Rises on a hundred-thousandth of the range, where no check looks."""

    def q(self, bids: Floats, scale: float) -> Any:
        bump = (bids > 0.40003) & (bids < 0.40004)
        return np.where(bump, 0.9, 0.8 - 0.6 * bids) * min(scale, 1.0)


@dataclass(frozen=True)
class Dip:
    """Falls back between two scales."""

    def q(self, bids: Floats, scale: float) -> Any:
        return (0.9 - 0.5 * bids) * min(scale, 1.0) * (0.3 if 0.59 < scale < 0.6 else 1.0)


@dataclass(frozen=True)
class Company:
    """Looks at the array that a bid comes in."""

    def q(self, bids: Floats, scale: float) -> Any:
        return np.where(bids.size < 5, 0.9, 0.5) * (1.0 - 0.5 * bids) * min(scale, 1.0)


HEIGHT = [0.5]


@dataclass(frozen=True)
class Changing:
    """Reads something that changes after it was priced."""

    def q(self, bids: Floats, scale: float) -> Any:
        return HEIGHT[0] * (1.0 - 0.5 * bids) * min(scale, 1.0)


@pytest.mark.filterwarnings("ignore:rule ")
@pytest.mark.parametrize("rule", [Bump(), Dip(), Changing()])
@pytest.mark.parametrize("budget", [0.8, 1.4, 50.0])
def test_nobody_gains_by_a_lie_whatever_rule_was_written(rule: Rule, budget: float) -> None:
    bids = np.array([0.39, 0.2, 0.7])
    HEIGHT[0] = 0.5
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=budget, rule=rule)
    pdqs.clear(bids, terms)
    HEIGHT[0] = 0.9
    for lie in (0.0, 0.1, 0.3, 0.400035, 0.6, 0.9):
        assert not SHIPPED.temptation(bids, 0, lie, terms).gains


def test_a_rule_that_looks_at_the_array_it_is_given_is_refused() -> None:
    with pytest.raises(RuleError, match="must price each bid by itself"):
        pdqs.clear([0.2, 0.4], pdqs.presets.sound(query=pdqs.Count(), budget=1.0, rule=Company()))


def test_a_rule_that_had_to_be_changed_says_so() -> None:
    @dataclass(frozen=True)
    class Wide:
        def q(self, bids: Floats, scale: float) -> Any:
            return np.where((bids > 0.33372) & (bids < 0.33376), 0.9, 0.8 - 0.5 * bids) * min(scale, 1.0)

    with pytest.warns(UserWarning, match="does not always fall"):
        pdqs.clear([0.2, 0.4], pdqs.presets.sound(query=pdqs.Count(), budget=1.0, rule=Wide()))


def test_a_sound_rule_buys_nearly_what_it_buys_as_one_of_ours() -> None:
    @dataclass(frozen=True)
    class Mine:
        def q(self, bids: Floats, scale: float) -> Any:
            return np.where(bids < scale, 1.0 - bids, 0.0)

    bids = np.linspace(0.01, 0.99, 200)
    mine = pdqs.clear(bids, pdqs.presets.sound(query=pdqs.Count(), budget=40.0, rule=Mine()))
    ours = pdqs.clear(bids, pdqs.presets.sound(query=pdqs.Count(), budget=40.0, rule="linear"))
    assert mine.information == pytest.approx(ours.information, rel=0.02)
    assert mine.spent <= 40.0
