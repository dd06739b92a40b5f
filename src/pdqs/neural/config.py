"""What a training of NPQM is told: the market it is for, and the recipe it follows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from pdqs.errors import TermsError

KEPT = ("accepted", "largest", "mean", "every")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The choices in which the paper's text and its authors' release differ (section 8 of docs/theory).

    ``sorted_bids``: the nets read each bid vector in ascending order. ``joint_path``: the payment integral runs along
    the straight line from the bid vector to the top of the range, all owners moving together, instead of each owner's
    own bid. ``multiplier_per_vector``: one multiplier for each training vector instead of one for all.
    ``exponential``: the loss is e^x of the mean Lagrangian x instead of x. ``halve_every``: steps after which the rate
    halves; 0 lets it fall from ``rate`` to ``last_rate`` by equal factors. ``accept_only_feasible``: a step after which
    the training vectors together spend beyond the budget is not taken.
    """

    sorted_bids: bool = False
    joint_path: bool = False
    budget_factor: float = 1.0
    q_penalty: float = 0.0
    q_max_training: float = 1.0
    q_max_in_use: float = 1.0
    multiplier_per_vector: bool = False
    multiplier_start: float = 1.0
    multiplier_floor: float = 0.0
    multiplier_rate: float = 0.005
    exponential: bool = False
    rate: float = 0.005
    last_rate: float = 0.001
    halve_every: int = 0
    gradient_limit: float = math.inf
    accept_only_feasible: bool = True


PRINTED = Recipe()
"""NPQM as the paper's text has it."""

RELEASED = Recipe(
    sorted_bids=True,
    joint_path=True,
    budget_factor=1.2,
    q_penalty=0.2,
    q_max_training=0.95,
    q_max_in_use=0.9,
    multiplier_per_vector=True,
    multiplier_start=0.1,
    multiplier_floor=1e-4,
    exponential=True,
    halve_every=500,
    gradient_limit=0.5,
    accept_only_feasible=False,
)
"""NPQM as its authors released it."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NpqmConfig:
    """One training: ``owners`` bids per vector, one model for each of ``budgets``, all trained together.

    ``vectors`` training vectors are drawn uniform on the bid range from ``seed`` unless bids are given. ``nodes`` is
    the number of weighted bids that stand for the owners of a vector in every sum (:mod:`pdqs.neural.quadrature`).

    >>> NpqmConfig(owners=100, budgets=(10.0, 50.0), released=True).recipe.budget_factor
    1.2
    """

    owners: int
    budgets: tuple[float, ...]
    bid_range: tuple[float, float] = (0.0, 1.0)
    released: bool = False
    seed: int = 0
    vectors: int = 50
    steps: int = 5000
    hidden: int = 8
    nodes: int = 48
    path_nodes: int = 16
    options: Recipe | None = None

    def __post_init__(self) -> None:
        for name, least in (
            ("owners", 2),
            ("vectors", 1),
            ("steps", 1),
            ("hidden", 1),
            ("nodes", 2),
            ("path_nodes", 2),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise TermsError(f"{name} must be a whole number of at least {least}, got {value!r}")
        if not self.budgets:
            raise TermsError("budgets must name at least one budget")
        for budget in self.budgets:
            if not (math.isfinite(budget) and budget > 0):
                raise TermsError(f"a budget to train for must be above 0 and finite, got {budget}")
        low, high = self.bid_range
        if not (math.isfinite(low) and math.isfinite(high) and 0 <= low < high):
            raise TermsError(f"bid_range needs 0 <= low < high, both finite, got {low:g} to {high:g}")

    @property
    def recipe(self) -> Recipe:
        """The options given, or the printed or released ones."""
        return self.options or (RELEASED if self.released else PRINTED)
