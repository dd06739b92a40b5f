"""NPQM's rule as the core sees it: NumPy only, so that a trained rule clears on a machine without JAX."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.errors import InputError, RuleError
from pdqs.neural.logistic_rule import Logistic
from pdqs.neural.sums import product
from pdqs.pricing.rules.base import Setting, vouched


@final
class Nets:
    """The weights of NPQM's four nets: three n -> hidden, ReLU -> 1 for w1, w2 and d, and one linear n -> 1 for c.

    ``first`` holds the first layers one below the other, (3 hidden + 1, n), the linear one last. Equal weights are
    equal objects: they are compared by the SHA-256 of their bytes.
    """

    def __init__(self, first: Floats, first_bias: Floats, last: Floats, last_bias: Floats) -> None:
        parts = [np.array(part, dtype=np.float64, order="C") for part in (first, first_bias, last, last_bias)]
        self.first, self.first_bias, self.last, self.last_bias = parts
        hidden = self.last.shape[1] if self.last.ndim == 2 else 0
        shapes = (self.first.shape[:1], self.first_bias.shape, self.last.shape[:1], self.last_bias.shape)
        if self.first.ndim != 2 or shapes != ((3 * hidden + 1,), (3 * hidden + 1,), (3,), (3,)):
            raise RuleError(f"weights of shapes {[part.shape for part in parts]} are not NPQM's nets")
        if not all(np.isfinite(part).all() for part in parts):
            raise RuleError("the nets' weights are not all finite")
        for part in parts:
            part.setflags(write=False)

    @property
    def owners(self) -> int:
        """n: how many bids the nets read."""
        return int(self.first.shape[1])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the weights."""
        parts = (self.first, self.first_bias, self.last, self.last_bias)
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Nets) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def coefficients(self, shares: Floats) -> tuple[float, float]:
        """Slope ``|w1||w2|`` and intercept ``|w2| c + d`` of the curve for one bid vector."""
        reached = product(self.first, shares) + self.first_bias
        hidden = np.maximum(reached[:-1].reshape(self.last.shape), 0.0)
        w1, w2, d = (self.last * hidden).sum(axis=1) + self.last_bias
        return float(abs(w1) * abs(w2)), float(abs(w2) * reached[-1] + d)


@vouched
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Npqm:
    """NPQM: ``q_i = q_max sigma(|w2|(-|w1| b_i + c) + d)``, the nets reading w1, w2, c, d off the whole bid vector.

    With clearing ``open``, :meth:`read` gives the curve for the bids at hand, as in the paper: an owner's own bid moves
    her own curve, so this is not truthful. Wherever a rule must not read the bids it prices (the ladder), :meth:`q` is
    the curve for the mean training vector, ``typical``, moved by the scale.
    """

    nets: Nets = field(repr=False)
    digest: str
    typical: tuple[float, float]
    q_max: float = 1.0
    sorted_bids: bool = False
    setting: Setting = Setting()
    name = "npqm"
    printed_scale = 1.0

    def __post_init__(self) -> None:
        if self.digest != self.nets.digest:
            raise RuleError("the digest is not that of these weights")

    def curve(self, coefficients: tuple[float, float]) -> Logistic:
        """The logistic rule with this slope and intercept."""
        slope, intercept = coefficients
        return Logistic(slope=slope, intercept=intercept, q_max=self.q_max, setting=self.setting)

    def q(self, bids: Floats, scale: float) -> Floats:
        return self.curve(self.typical).q(bids, scale)

    def read(self, bids: Floats) -> Logistic:
        """The curve that the nets make of this bid vector."""
        if bids.size != self.nets.owners:
            raise InputError(f"this rule was trained for {self.nets.owners} owners and cannot read {bids.size} bids")
        shares = self.setting.share(bids)
        return self.curve(self.nets.coefficients(np.sort(shares) if self.sorted_bids else shares))
