r"""Buy from few at random, not a little from all: right whatever prices say about answers (section 9 of docs/theory).

Every owner has a public draw u, uniform and independent of all bids, and is asked when u < rho(b). Dividing by rho, the
reports estimate the total with variance about sum 1/(rho q^2), whatever bids say about values. For the money,

    q* = the q in (0, q_max] with the largest q^2 / l(q),    l* = l(q*),    m1 = 1 / (q*^2 l*),    m = phi(b) / s
    m <= m1:  rho = 1,             q = argmin 1/q^2 + m l(q), which meets q* at m1
    m >  m1:  rho = sqrt(m1/m),    q = q*
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Protocol, final, runtime_checkable

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.errors import RuleError
from pdqs.model.names import RuleName
from pdqs.model.priors import Prior
from pdqs.pricing.piecewise import Piecewise, fit_tail, fit_value
from pdqs.pricing.rules.base import Setting
from pdqs.pricing.rules.inverse import falling_inverse
from pdqs.pricing.rules.prices import PriceLine, price_line
from pdqs.privacy.contracts import Contract
from pdqs.privacy.loss import Q_UNITS, round_q_down


@runtime_checkable
class Asks(Protocol):
    """A rule that asks only some owners, and says to clearing what it is made of."""

    def chance(self, bids: Floats, scale: float) -> Floats:
        """rho(b; s), the chance of being asked: non-increasing in b, non-decreasing in s."""
        ...

    def form(self) -> LotteryForm:
        """The figures and curves behind q and rho."""
        ...


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BestBuy:
    """The report that tells most for the money, q*, its load l*, and m1, up to which everyone is asked.

    q* is on the device's grid of 2^-32, rounded down, and the load is that of the rounded q*.

    >>> found = best_buy(Setting().contract, 2, 0.99)
    >>> round(found.q, 4), round(found.load, 4), round(found.m1, 4)
    (0.7964, 2.1773, 0.7241)
    """

    q: float
    load: float
    m1: float


@lru_cache(maxsize=256)
def best_buy(contract: Contract, domain_size: int, q_max: float) -> BestBuy:
    """Where q^2 / l(q) is largest: 2 l(q) = q l'(q), or the cap if that comes first."""

    def still_rising(q: Floats) -> Floats:
        rise: Floats = 2.0 * contract.load(q, domain_size) - q * contract.slope(q, domain_size)
        return rise

    if q_max * Q_UNITS < 1:
        raise RuleError(f"the epsilon cap allows a q of {q_max:.3g}: too little to tell anything")
    smallest = min(1e-3, q_max)  # the ratio rises from 0 on
    q = float(round_q_down(falling_inverse(still_rising, np.zeros(1), smallest, q_max))[0])
    if still_rising(np.array([q_max]))[0] >= 0:
        q = float(round_q_down(np.array([q_max]))[0])
    load = float(contract.load(np.array([q]), domain_size)[0])
    return BestBuy(q=q, load=load, m1=1.0 / (q * q * load))


@final
@dataclass(frozen=True, slots=True, eq=False)
class FullCurve:
    """q where everyone is asked, as a function of m = phi/s on [0, m1], for caps beyond q*.

    ``log_q`` holds ln q over ln m from ``full_at``, below which q is the cap; ``excess`` the load beyond l* and its
    integral.
    """

    q_max: float
    full_at: float
    m1: float
    log_q: Piecewise
    excess: Piecewise

    def q(self, m: Floats) -> Floats:
        """argmin over q of 1/q^2 + m l(q), for m up to m1."""
        inside = np.exp(self.log_q.value(np.log(np.clip(m, self.full_at, self.m1))))
        return np.where(m <= self.full_at, self.q_max, np.minimum(inside, self.q_max))


@lru_cache(maxsize=64)
def _full_curve(contract: Contract, domain_size: int, q_max: float) -> FullCurve | None:
    """The curve between q* and the cap; none if the cap is at most q*: then q is q* for everyone asked."""
    best = best_buy(contract, domain_size, q_max)

    def m_of(q: Floats) -> Floats:
        found: Floats = 2.0 / (q**3 * contract.slope(q, domain_size))
        return found

    full_at = float(m_of(np.array(q_max)))
    if not best.q < q_max * (1 - 1e-9) or not full_at < best.m1:
        return None
    log_q = fit_value(
        lambda x: np.log(falling_inverse(m_of, np.exp(x), best.q, q_max)),
        math.log(full_at),
        math.log(best.m1),
        tolerance=1e-13,
    )
    blank = FullCurve(q_max, full_at, best.m1, log_q, log_q)
    excess = fit_tail(
        lambda m: np.maximum(contract.load(blank.q(m), domain_size) - best.load, 0.0), 0.0, best.m1, breaks=[full_at]
    )
    return FullCurve(q_max, full_at, best.m1, log_q, excess)


@final
@dataclass(frozen=True, slots=True, eq=False)
class LotteryForm:
    """All that clearing needs of a lottery: q*, l*, m1, the line of virtual prices, and the curve beyond q* if any."""

    setting: Setting
    best: BestBuy
    line: PriceLine
    full: FullCurve | None

    @property
    def plain(self) -> bool:
        """Whether everyone asked reports at q*."""
        return self.full is None

    def weight(self, bids: Floats) -> Floats:
        """m1 / phi(b), kept finite where phi is 0: rho = sqrt(min(1, s m1 / phi))."""
        prices = np.maximum(self.line.at(bids), 1e-200)
        return np.divide(self.best.m1, prices, out=prices if prices.ndim else None)

    def chance(self, bids: Floats, scale: float | Floats) -> Floats:
        """rho(b; s)."""
        return np.sqrt(np.minimum(self.weight(bids) * scale, 1.0)) if np.all(scale > 0) else np.zeros_like(bids)

    def q(self, bids: Floats, scale: float | Floats) -> Floats:
        """q(b; s) of those who are asked."""
        if not np.all(scale > 0):
            return np.zeros_like(bids)
        if self.full is None:
            return np.full_like(bids, self.best.q)
        m = self.line.at(bids) / scale
        return np.where(m < self.full.m1, np.maximum(self.full.q(m), self.best.q), self.best.q)

    def threshold(self, draws: Floats, scale: float | Floats) -> Floats:
        """b^(u; s): the largest bid with rho >= u (rho > u, up to the next float); minus infinity if there is none.

        It is the price per unit of privacy that an owner with draw u is offered.
        """
        return self.line.dearest(self.worth(np.minimum(draws, 1.0), scale))

    def worth(self, draws: Floats, scale: float | Floats) -> Floats:
        """The largest phi with rho >= u: m1 s / u^2."""
        return np.divide(self.best.m1 * scale, np.square(draws))


class OfForm(ABC):
    """A rule that is read off a :class:`LotteryForm`."""

    __slots__ = ()
    name: ClassVar[str]

    @property
    @abstractmethod
    def setting(self) -> Setting:
        """The market it serves."""

    @abstractmethod
    def form(self) -> LotteryForm:
        """Its chances, q and thresholds at every scale."""

    def __post_init__(self) -> None:
        """A lottery pays whoever was asked and reported: a payment that tells the coin has no place in it."""
        if not self.setting.contract.hides_coin:
            raise RuleError(f"rule {self.name} needs the contract 'on-report', not {self.setting.contract.name!r}")

    def q(self, bids: Floats, scale: float) -> Floats:
        return self.form().q(bids, scale)

    def chance(self, bids: Floats, scale: float) -> Floats:
        return self.form().chance(bids, scale)

    def threshold(self, draws: Floats, scale: float) -> Floats:
        """b^(u; s): the largest bid that is asked at draw u; the posted price a unit of privacy."""
        return self.form().threshold(draws, scale)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Lottery(OfForm):
    """The lottery with the best chances for the money. ``q`` is that of an owner who is asked.

    >>> rule = Lottery(setting=Setting(q_max=0.7616))
    >>> rule.q(np.array([0.1, 0.9]), 0.5).round(4).tolist(), rule.chance(np.array([0.1, 0.9]), 0.5).round(4).tolist()
    ([0.7616, 0.7616], [1.0, 0.4893])
    """

    prior: Prior | None = None
    setting: Setting = Setting()
    name = RuleName.LOTTERY.value

    def form(self) -> LotteryForm:
        return _form(self.prior, self.setting)  # type: ignore[arg-type]  # priors are frozen: Terms let no others in


@lru_cache(maxsize=64)
def _form(prior: Prior | None, setting: Setting) -> LotteryForm:
    figures = setting.contract, setting.domain_size, setting.q_max
    line = price_line(prior, setting)  # type: ignore[arg-type]  # as above
    return LotteryForm(setting, best_buy(*figures), line, _full_curve(*figures))
