"""What a rule is, what it is told of the market it serves, and the check that it is one."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Protocol, TypeVar, cast, final, runtime_checkable

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.errors import RuleError
from pdqs.model.priors import Prior
from pdqs.privacy.contracts import ON_REPORT, Contract
from pdqs.privacy.loss import cap_q

SHARP_EPSILON_MAX = 4.0


@runtime_checkable
class Rule(Protocol):
    """A family of allocation curves q(b; s).

    Non-increasing in the bid b, non-decreasing and left-continuous in the scale s. q lies in [0, 1]; the epsilon cap of
    the terms is applied to it afterwards. At s = 0 nothing is bought, and one number s says how much of the market is.
    """

    def q(self, bids: Floats, scale: float) -> Floats: ...


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a rule may know: public facts of the market, never the bids it prices."""

    low: float = 0.0
    high: float = 1.0
    domain_size: int = 2
    contract: Contract = ON_REPORT
    q_max: float = cap_q(SHARP_EPSILON_MAX, 2)

    def share(self, bids: Floats) -> Floats:
        """b' = (b - lo) / (hi - lo): where a bid stands in the range."""
        share: Floats = (bids - self.low) / (self.high - self.low)
        return share

    def load(self, q: Floats) -> Floats:
        """What the owner is paid for at this chance of truth."""
        return self.contract.load(q, self.domain_size)


@runtime_checkable
class Named(Protocol):
    """A rule that people know under a name."""

    @property
    def name(self) -> str: ...


@runtime_checkable
class Printed(Protocol):
    """A rule that is its plain curve at this scale, rather than without a cut-off."""

    @property
    def printed_scale(self) -> float: ...


@runtime_checkable
class Believes(Protocol):
    """A rule that holds a belief about bids; none stands for the prior of the terms."""

    @property
    def prior(self) -> Prior | None: ...


@runtime_checkable
class ReadsBids(Protocol):
    """A rule whose curve is made from the whole bid vector, as that of the paper's NPQM is."""

    def read(self, bids: Floats) -> Rule:
        """The curve for these bids."""
        ...


AnyRule = TypeVar("AnyRule", bound=Rule)
AnyType = TypeVar("AnyType", bound=type)
_VOUCHED: set[type] = set()


def vouched(rule_type: AnyType) -> AnyType:
    """Mark a class of pdqs whose every object falls in the bid and grows with the scale: it is priced as it stands."""
    _VOUCHED.add(rule_type)
    return rule_type


def is_vouched(rule: Rule) -> bool:
    """Whether pdqs itself answers for this rule; any other is read into a table (:mod:`pdqs.pricing.rules.tabled`)."""
    return type(rule) in _VOUCHED


def bind(rule: AnyRule, setting: Setting) -> AnyRule:
    """The rule told of its market: rules of ours keep a ``setting``; a user's rule is left as it is."""
    return replaced(rule, setting=setting) if has_field(rule, "setting") else rule


def prior_of(rule: object) -> Prior | None:
    """What a rule itself believes of bids, if anything."""
    return rule.prior if isinstance(rule, Believes) else None


def with_prior(rule: AnyRule, prior: Prior | None) -> AnyRule:
    """The rule with this belief, where it takes one and has none of its own."""
    return replaced(rule, prior=prior) if has_field(rule, "prior") and prior_of(rule) is None else rule


def has_field(rule: object, name: str) -> bool:
    """Whether a rule is a dataclass with this field, as ours are."""
    return dataclasses.is_dataclass(rule) and any(field.name == name for field in dataclasses.fields(rule))


def replaced(rule: AnyRule, **changes: object) -> AnyRule:
    """The rule with some fields changed."""
    held: object = rule
    assert dataclasses.is_dataclass(held)  # it has the fields that are to change
    assert not isinstance(held, type)
    return cast(AnyRule, dataclasses.replace(held, **changes))


def name_of(rule: Rule) -> str:
    """The name under which people know a rule.

    >>> from pdqs.pricing.rules import Linear
    >>> name_of(Linear())
    'linear'
    """
    return str(rule.name) if isinstance(rule, Named) else type(rule).__name__


def printed_scale(rule: Rule) -> float:
    """The scale at which the rule is its plain curve: no cut-off, unless the rule says otherwise."""
    return float(rule.printed_scale) if isinstance(rule, Printed) else math.inf


def check(rule: Rule, setting: Setting) -> None:
    """Refuse a rule that is not a family of falling curves, with the bids where it breaks.

    Looks at 2049 bids and 25 scales from a thousandth of the bid range's top to a thousand times it.

    >>> class Rising:
    ...     def q(self, bids, scale):
    ...         return bids * min(scale, 1.0)
    >>> check(Rising(), Setting())
    Traceback (most recent call last):
        ...
    pdqs.model.errors.RuleError: rule Rising rises with the bid: at scale 0.001, q is 0 at bid 0 but 4.88281e-07 at ...
    """
    bids = np.linspace(setting.low, setting.high, 2049)
    name = name_of(rule)
    before = np.zeros_like(bids)
    for scale in setting.high * np.geomspace(1e-3, 1e3, 25):
        q = np.asarray(rule.q(bids, float(scale)), dtype=np.float64)
        if q.shape != bids.shape:
            raise RuleError(f"rule {name} gave shape {q.shape} for {bids.size} bids")
        at = f"at scale {scale:.4g}"
        if not ((q >= 0) & (q <= 1)).all():  # also catches NaN
            worst = int(np.argmin((q >= 0) & (q <= 1)))
            raise RuleError(f"rule {name} leaves [0, 1]: {at}, q is {q[worst]:.3g} at bid {bids[worst]:.4g}")
        refuse_rise(q, bids, name, f"{at}, ")
        falls = q < before - 1e-9
        if falls.any():
            worst = int(np.argmax(falls))
            raise RuleError(
                f"rule {name} falls as the scale grows: {at}, q drops to {q[worst]:.3g} at bid {bids[worst]:.4g}"
            )
        before = q


def refuse_scaleless(rule: Rule, setting: Setting) -> None:
    """Refuse a rule that buys the same at every scale: no scale fits a budget it is too dear for, and none is needed.

    >>> class Constant:
    ...     def q(self, bids, scale):
    ...         return np.full_like(bids, 0.5)
    >>> refuse_scaleless(Constant(), Setting())
    Traceback (most recent call last):
        ...
    pdqs.model.errors.RuleError: rule Constant ignores the scale, so no part of the market can be bought: make q ...
    """
    bids = np.linspace(setting.low, setting.high, 257)
    least, most = (np.asarray(rule.q(bids, setting.high * scale), dtype=np.float64) for scale in (1e-9, 1e9))
    if most.any() and np.array_equal(least, most):
        raise RuleError(
            f"rule {name_of(rule)} ignores the scale, so no part of the market can be bought:"
            " make q grow with the scale from 0, or use clearing 'open'"
        )


def refuse_rise(q: Floats, bids: Floats, name: str, at: str = "") -> None:
    """Refuse a curve that rises with the bid by more than the noise of a float, and say where."""
    rises = q[1:] > q[:-1] + 1e-9
    if rises.any():
        i = int(np.argmax(rises))
        raise RuleError(
            f"rule {name} rises with the bid: {at}q is {q[i]:.6g} at bid {bids[i]:.6g}"
            f" but {q[i + 1]:.6g} at bid {bids[i + 1]:.6g}"
        )
