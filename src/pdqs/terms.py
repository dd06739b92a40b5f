"""What a round promises: frozen, checked when made, with a canonical form and a hash that every party can recompute."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from pdqs import rules
from pdqs.errors import RuleError, TermsError
from pdqs.money import LARGEST_PAYMENT_MICROS, MICROS_PER_UNIT, budget_micros
from pdqs.priors import Prior, Uniform
from pdqs.privacy import Q_UNITS, Contract, cap_q, contract_named
from pdqs.query import Query, Question
from pdqs.rules import Rule, Setting
from pdqs.rules.base import DEFAULT_EPSILON_MAX

CLEARINGS = ("ladder", "greedy", "fairquery", "open")
ESTIMATORS = ("naive", "weighted", "unbiased", "shrunk")


@final
@dataclass(frozen=True, kw_only=True)
class Terms:
    """The terms of one round of private data trading.

    ``rule`` is a name or any object with ``q(bids, scale)``. ``prior`` is what optimal and robust believe of bids
    (uniform on the range unless given). ``scale`` fixes the curve that ``open`` and ``greedy`` use.
    ``priced_as_binary`` prices a k-valued report as if k were 2, as the paper does; the eps in the offers is the true
    one all the same.

    >>> from pdqs.query import Count
    >>> terms = Terms(query=Count(), budget=500.0)
    >>> terms.rule_name, terms.clearing, terms.contract, round(terms.q_max, 4)
    ('optimal', 'ladder', 'on-report', 0.964)
    """

    query: Query
    budget: float
    bid_range: tuple[float, float] = (0.0, 1.0)
    rule: str | Rule = "optimal"
    clearing: str = "ladder"
    contract: str = "on-report"
    epsilon_max: float = DEFAULT_EPSILON_MAX
    estimator: str = "weighted"
    prior: Prior | None = None
    scale: float | None = None
    priced_as_binary: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.query, Query):
            raise TermsError(f"query must be Count(), Median(domain), ..., got {self.query!r}")
        _refuse_number("budget", self.budget, least=0.0)
        _refuse_range(self.bid_range)
        _refuse_unknown("clearing", self.clearing, CLEARINGS)
        _refuse_unknown("estimator", self.estimator, ESTIMATORS)
        contract_named(self.contract)
        _refuse_number("epsilon_max", self.epsilon_max, least=1e-9)
        if self.scale is not None and not self.scale > 0:
            raise TermsError(f"scale must be above 0, got {self.scale}")
        if self.q_max > 1.0 - 1.0 / Q_UNITS:
            raise TermsError(f"epsilon_max {self.epsilon_max:g} gives a q_max of 1: the report would be the bare value")
        self._refuse_bad_rule()
        budget_micros(self.budget)
        dearest = self.dearest_payment * MICROS_PER_UNIT
        if dearest > LARGEST_PAYMENT_MICROS:
            raise TermsError(f"bids up to {self.bid_range[1]:g} make payments too large to count in micro-units")

    def _refuse_bad_rule(self) -> None:
        if isinstance(self.rule, str):
            rules.named(self.rule)
        elif not isinstance(self.rule, Rule):
            raise RuleError(f"rule must be a name or have q(bids, scale), got {self.rule!r}")
        try:
            hash(self.rule)
        except TypeError:
            raise RuleError(f"rule {self.rule_name} can change: make it frozen, e.g. @dataclass(frozen=True)") from None

    @property
    def question(self) -> Question:
        """What each owner is asked."""
        return self.query.question

    @property
    def domain_size(self) -> int:
        """k: how many values a report can take."""
        return self.question.domain.size

    @cached_property
    def q_max(self) -> float:
        """The cap on q that epsilon_max allows, on the domain as it really is."""
        return cap_q(self.epsilon_max, self.domain_size)

    @property
    def dearest_payment(self) -> float:
        """What the dearest bid at the cap is paid: no payment is larger."""
        return self.setting.high * float(self.setting.load(np.array(self.q_max)))

    @cached_property
    def contract_terms(self) -> Contract:
        """The contract behind its name."""
        return contract_named(self.contract)

    @cached_property
    def setting(self) -> Setting:
        """The public facts that rules and prices are made from."""
        low, high = self.bid_range
        priced_size = 2 if self.priced_as_binary else self.domain_size
        return Setting(
            low=float(low), high=float(high), domain_size=priced_size, contract=self.contract_terms, q_max=self.q_max
        )

    @cached_property
    def bound_rule(self) -> Rule:
        """The rule, told of its market and checked to be a family of falling curves."""
        rule = rules.named(self.rule) if isinstance(self.rule, str) else self.rule
        if rules.has_field(rule, "prior") and getattr(rule, "prior") is None:  # noqa: B009  a Rule need not have one
            rule = rules.replaced(rule, prior=self.prior)
        bound = rules.bind(rule, self.setting)
        rules.check(bound, self.setting)
        return bound

    @property
    def rule_name(self) -> str:
        """The rule's name, for people."""
        return self.rule if isinstance(self.rule, str) else rules.name_of(self.rule)

    @property
    def bid_prior(self) -> Prior:
        """What is believed of bids: the prior given, or uniform on the range."""
        return self.prior or getattr(self.rule, "prior", None) or Uniform(*self.bid_range)

    @property
    def budget_micros(self) -> int:
        """The budget in micro-units, rounded down."""
        return budget_micros(self.budget)

    @property
    def keeps_budget(self) -> bool:
        """Whether what is paid can never pass the budget: all but `open`, and never when only the chosen are paid."""
        return self.clearing != "open" and (self.contract_terms.hides_coin or self.clearing == "fairquery")

    def canonical(self) -> str:
        """The terms as JSON with sorted keys: two parties with the same terms write the same bytes."""
        return json.dumps(_plain(self), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical form, in hexadecimal.

        >>> from pdqs.query import Count
        >>> len(Terms(query=Count(), budget=1.0).hash)
        64
        """
        return hashlib.sha256(self.canonical().encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Dataclasses as objects with their kind, numbers as they are, the rest by name."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value) if f.name != "setting"}
        return {"is": getattr(value, "kind", None) or getattr(value, "name", None) or type(value).__name__, **fields}
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _refuse_number(name: str, value: float, *, least: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.floating | np.integer):
        raise TermsError(f"{name} must be a number, got {value!r}")
    if not math.isfinite(value) or value < least:
        raise TermsError(f"{name} must be a finite number of at least {least:g}, got {value}")


def _refuse_range(bid_range: tuple[float, float]) -> None:
    try:
        low, high = map(float, bid_range)
    except (TypeError, ValueError):
        raise TermsError(f"bid_range must be (low, high), got {bid_range!r}") from None
    if not (math.isfinite(low) and math.isfinite(high) and 0 <= low < high):
        raise TermsError(f"bid_range needs 0 <= low < high, both finite, got {low:g} to {high:g}")


def _refuse_unknown(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise TermsError(f"unknown {name} {value!r}: choose one of {', '.join(known)}")
