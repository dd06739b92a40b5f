"""What a training is told: the market it is for, and the recipe it follows."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.model.errors import TermsError
from pdqs.model.names import ContractName
from pdqs.pricing.rules.base import SHARP_EPSILON_MAX, Setting
from pdqs.privacy.contracts import contract_named
from pdqs.privacy.loss import q_of_epsilon

KEPT = ("accepted", "largest", "mean", "every")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The choices in which the paper's text and its authors' release differ (docs/neural).

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

MENDED = dataclasses.replace(RELEASED, joint_path=False, budget_factor=1.0, q_max_in_use=0.95)
"""The release's recipe put right: each owner's payment along her own bid, no slack, one cap.

Its checkpoint to use is the one with no training vector overspent. Where Algorithm 4 of the text stays at its weights
whenever a step is not within the budget, this goes on from there with clipped gradients and keeps what was.
"""

RECIPES = {"printed": PRINTED, "released": RELEASED, "mended": MENDED}
"""The three forms of NPQM by name."""


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
        refuse_counts(
            self, (("owners", 2), ("vectors", 1), ("steps", 1), ("hidden", 1), ("nodes", 2), ("path_nodes", 2))
        )
        refuse_budgets(self.budgets)
        refuse_range(self.bid_range)

    @property
    def recipe(self) -> Recipe:
        """The options given, or the printed or released ones."""
        return self.options or (RELEASED if self.released else PRINTED)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LearnConfig:
    """How a sound rule is learned: what for, what shape, and for which market.

    ``objective``: ``information`` (sum q^2) or ``ppem`` (the paper's sum q eps). ``curve``: ``spline`` (a falling
    broken line of ``knots`` pieces) or ``logistic`` (a straight line, as in the paper). ``link``: ``response`` (the
    optimal rule's, for information) or ``sigmoid``. ``budgets`` are per owner; the rule is learned for all of them at
    once and serves every other.
    """

    objective: str = "information"
    curve: str = "spline"
    link: str = "response"
    contract: str = ContractName.ON_REPORT.value
    bid_range: tuple[float, float] = (0.0, 1.0)
    epsilon_max: float = SHARP_EPSILON_MAX
    domain_size: int = 2
    budgets: tuple[float, ...] = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
    knots: int = 24
    steps: int = 1500
    rate: float = 0.05

    def __post_init__(self) -> None:
        refuse_unknown("objective", self.objective, ("information", "ppem"))
        refuse_unknown("curve", self.curve, ("spline", "logistic"))
        refuse_unknown("link", self.link, ("response", "sigmoid"))
        if self.objective == "ppem" and self.link == "response":
            raise TermsError("objective 'ppem' needs link 'sigmoid': the response link is that of information")
        refuse_counts(self, (("knots", 2), ("steps", 1), ("domain_size", 2)))
        refuse_range(self.bid_range)
        ceiling = self.bid_range[1] * float(self.setting.load(np.asarray(self.setting.q_max)))
        refuse_budgets(self.budgets, ceiling)

    @property
    def setting(self) -> Setting:
        """The market's public facts."""
        cap = float(q_of_epsilon(np.asarray(self.epsilon_max), self.domain_size))
        low, high = self.bid_range
        return Setting(
            low=low, high=high, domain_size=self.domain_size, contract=contract_named(self.contract), q_max=cap
        )


def refuse_unknown(name: str, value: str, known: tuple[str, ...]) -> None:
    """One of the known words, or a sentence that lists them."""
    if value not in known:
        raise TermsError(f"unknown {name} {value!r}: choose one of {', '.join(known)}")


def refuse_counts(config: object, least: tuple[tuple[str, int], ...]) -> None:
    """Whole numbers that are large enough."""
    for name, smallest in least:
        value = getattr(config, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
            raise TermsError(f"{name} must be a whole number of at least {smallest}, got {value!r}")


def refuse_range(bid_range: tuple[float, float]) -> None:
    """A range of bids."""
    low, high = bid_range
    if not (math.isfinite(low) and math.isfinite(high) and 0 <= low < high):
        raise TermsError(f"bid_range needs 0 <= low < high, both finite, got {low:g} to {high:g}")


def refuse_budgets(budgets: tuple[float, ...], ceiling: float = math.inf) -> None:
    """Budgets that can be trained for."""
    if not budgets:
        raise TermsError("budgets must name at least one budget")
    for budget in budgets:
        if not (math.isfinite(budget) and budget > 0):
            raise TermsError(f"a budget to train for must be above 0 and finite, got {budget}")
        if budget >= ceiling:
            raise TermsError(f"a budget of {budget:g} an owner buys everything there is: {ceiling:.4g} does already")
