"""q = q_max while b < s: a posted price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.errors import RuleError
from pdqs.model.names import RuleName
from pdqs.pricing.rules.base import Setting, vouched
from pdqs.pricing.rules.shape import Placement, Shape, cut, uncut


@vouched
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """q(b; s) = q_max while b < s, else 0: what the paper's own objective is maximised by (section 4 of docs/theory).

    Without a ``q_max`` of its own it takes the cap of the terms.

    >>> Step(q_max=0.9).q(np.array([0.3, 0.6]), 0.6).tolist()
    [0.9, 0.0]
    """

    q_max: float | None = None
    setting: Setting = Setting()
    name = RuleName.STEP.value

    def __post_init__(self) -> None:
        if self.q_max is not None and not 0 < self.q_max < 1:
            raise RuleError(f"rule step needs 0 < q_max < 1, got {self.q_max}")

    def q(self, bids: Floats, scale: float) -> Floats:
        height = self.setting.q_max if self.q_max is None else self.q_max
        return np.where(bids < scale, height, 0.0)

    def shape(self) -> Shape:
        return uncut(self, self.setting)

    def placement(self, scale: float) -> Placement | None:
        return cut(scale, self.setting)
