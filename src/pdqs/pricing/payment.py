"""P(b; s) for any rule, contract, domain and bid range, with no quadrature per owner.

P(b) = b l(q(b)) + integral_b^hi l(q(x)) dx (Archer and Tardos; section 1 of docs/theory). The integral is tabulated by
:func:`pdqs.pricing.piecewise.fit_tail`, relative error below 1e-12, once per rule and scale, or once per rule where all
scales share a shape; an owner then costs one look-up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.errors import RuleError
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.pricing.piecewise import Piecewise, fit_tail, last_true, steps
from pdqs.pricing.rules.base import Rule, Setting, name_of, refuse_rise
from pdqs.pricing.rules.shape import Shaped
from pdqs.pricing.rules.tabled import Tabled
from pdqs.privacy.loss import Q_UNITS

TABLE_ERROR = 1e-12


@final
@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One rule at one scale: the chance of truth and the expected payment as functions of the bid."""

    rule: Rule
    scale: float
    setting: Setting
    table: Piecewise  # of the load, over x = slope b + shift
    slope: float = 1.0
    shift: float = 0.0
    beyond: float = 0.0  # what the table holds beyond this curve's last bid

    def q(self, bids: Floats) -> Floats:
        """q(b; s), kept to the cap."""
        return capped_q(self.rule, bids, self.scale, self.setting)

    def payment(self, bids: Floats) -> Floats:
        """P(b; s) = b l(q(b)) + integral_b^hi l(q(x)) dx."""
        return self.payment_at(bids, self.q(bids))

    def payment_at(self, bids: Floats, q: Floats) -> Floats:
        """P for bids whose q is known already."""
        x = np.minimum(self.slope * bids + self.shift, self.table.edges[-1])
        payment: Floats = bids * self.setting.load(q) + (self.table.tail(x) - self.beyond) / self.slope
        # Beyond the last bid that is bought the table's tail is rounding dust, not money.
        return np.where(q > 0, np.maximum(payment, 0.0), 0.0)


def capped_q(rule: Rule, bids: Floats, scale: float, setting: Setting) -> Floats:
    """The rule's q, never above the public cap of the terms."""
    q: Floats = np.minimum(np.asarray(rule.q(bids, scale), dtype=np.float64), setting.q_max)
    return q


def misreport_micros(price: float, setting: Setting) -> float:
    """The most that an owner with this price can gain by any lie, in micro-units: what rounding gives away.

    Payments go up to the next micro-unit; q goes down by less than 2^-32, which spares her price times the load of
    that, at the steepest place of the load on [0, q_max]; and payments are tabulated to 1e-12 of the dearest one.

    >>> round(misreport_micros(1.0, Setting()), 3)
    1.007
    """
    steepest = setting.contract.steepest(setting.q_max, setting.domain_size)
    return _given_away(price * steepest / Q_UNITS, setting)


def misreport_micros_at(price: float, q: float, setting: Setting) -> float:
    """The same for lies that are offered this q, where the load may be less steep.

    >>> bound = misreport_micros(1.0, Setting())
    >>> all(misreport_micros_at(1.0, q, Setting()) <= bound for q in (0.0, 0.5, Setting().q_max - 1 / Q_UNITS))
    True
    """
    spared = float(np.diff(setting.load(np.array([q, q + 1.0 / Q_UNITS])))[0])
    return min(_given_away(price * spared, setting), misreport_micros(price, setting))  # a difference rounds


def _given_away(spared: float, setting: Setting) -> float:
    """A micro-unit, what rounding q down spares the owner, and the errors of two tabulated payments."""
    dearest = setting.high * float(setting.load(np.array(setting.q_max)))
    return 1.0 + MICROS_PER_UNIT * (spared + 2.0 * TABLE_ERROR * dearest)


def curve(rule: Rule, scale: float, setting: Setting) -> Curve:
    """The curve of a rule at a scale, tabulated; kept, because the ladder's scales come back round after round.

    >>> from pdqs.pricing.rules import Linear
    >>> from pdqs.privacy.contracts import ON_SELECTION
    >>> linear = curve(Linear(), 2.0, Setting(contract=ON_SELECTION))
    >>> linear.payment(np.array([0.29])).round(3).tolist()
    [0.635]
    """
    if isinstance(rule, Tabled):
        return _stepped(rule, scale, setting)
    return _tabulated(rule, scale, setting)  # type: ignore[arg-type]  # Terms let only hashable rules in


@lru_cache(maxsize=256)
def _stepped(rule: Tabled, scale: float, setting: Setting) -> Curve:
    """A rule that is a table already: its integral is a sum."""
    return Curve(rule, scale, setting, steps(rule.edges, setting.load(np.minimum(rule.row(scale), setting.q_max))))


@lru_cache(maxsize=2048)
def _tabulated(rule: Rule, scale: float, setting: Setting) -> Curve:
    place = rule.placement(scale) if isinstance(rule, Shaped) else None
    if place is None:
        return Curve(rule, scale, setting, _own_table(rule, scale, setting))
    table = _shared_table(rule, setting)  # type: ignore[arg-type]  # as above
    return Curve(rule, scale, setting, table, place.slope, place.shift, float(table.tail(np.array([place.top]))[0]))


def _own_table(rule: Rule, scale: float, setting: Setting) -> Piecewise:
    return _table(lambda bids: rule.q(bids, scale), setting.low, setting.high, setting, name_of(rule))


@lru_cache(maxsize=256)
def _shared_table(rule: Shaped, setting: Setting) -> Piecewise:
    shape = rule.shape()
    return _table(shape.q, shape.start, shape.stop, setting, type(rule).__name__)


def _table(curve_q: Callable[[Floats], Floats], low: float, high: float, setting: Setting, name: str) -> Piecewise:
    """The load of a curve and its integral to the end, as a table."""

    def q(x: Floats) -> Floats:
        capped: Floats = np.minimum(np.asarray(curve_q(x), dtype=np.float64), setting.q_max)
        return capped

    top = float(q(np.array([low]))[0])
    # The two places where every family may bend or jump: the end of the flat top, and the last bid that is bought.
    bends = [last_true(lambda x: q(x) >= top, low, high), last_true(lambda x: q(x) > 0, low, high)]
    breaks = [float(np.nextafter(x, np.inf)) for x in bends]
    try:
        table = fit_tail(lambda x: setting.load(q(x)), low, high, breaks=breaks)
    except ArithmeticError as rough:
        raise RuleError(f"rule {name} cannot be priced: {rough}") from None
    refuse_rise(q(table.edges), table.edges, name)
    return table
