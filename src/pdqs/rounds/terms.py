"""What a round promises: frozen, checked when made, with a canonical form and a hash that every party can recompute."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import final

import numpy as np

from pdqs.model.checks import number, shown
from pdqs.model.domain import Domain
from pdqs.model.errors import RuleError, TermsError
from pdqs.model.money import LARGEST_PAYMENT_MICROS, MICROS_PER_UNIT, budget_micros
from pdqs.model.names import ClearingName, ContractName, EstimatorName, RuleName, chosen
from pdqs.model.priors import FromPastBids, Prior, Uniform
from pdqs.model.query import KINDS, Count, Query
from pdqs.model.question import Question
from pdqs.present.text import Shown
from pdqs.pricing import rules
from pdqs.pricing.rules import Rule, Setting
from pdqs.privacy.contracts import Contract, contract_named
from pdqs.privacy.loss import LEAST_Q, Q_UNITS, cap_epsilon, cap_q
from pdqs.rounds import defaults
from pdqs.rounds.canonical import Kinds, is_frozen, plain_domain, plain_of, plain_terms, read_fields, written
from pdqs.rounds.choosing import Given, resolved
from pdqs.rounds.clearings import FACTS, ClearingFacts


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class Terms(Shown):
    """The terms of one round of private data trading.

    The defaults are the honest ones: a lottery, whose interval holds whatever prices say about answers.

    ``rule`` is a name or a frozen dataclass with ``q(bids, scale)``. ``prior`` is what rules believe of bids (uniform
    on the range unless given). ``scale`` fixes the curve that ``open`` and ``greedy`` use.
    ``priced_as_binary`` prices a k-valued report as if k were 2, as the paper does; the eps in the offers is the true
    one all the same. ``question`` is what owners are asked for the query's sake: "auto" (the one of least predicted
    error), "value", "level" or "level:5", "side" in so many ``stages``, "bucket" or "bucket:8", or a
    :class:`pdqs.Question`. Terms once made hold the question itself, with the reason for it.

    >>> from pdqs.model.query import Count
    >>> terms = Terms(query=Count(), budget=500.0)
    >>> terms.rule_name, terms.clearing, terms.contract, round(terms.q_max, 4)
    ('lottery', 'ladder', 'on-report', 0.7616)
    """

    query: Query
    budget: float
    bid_range: tuple[float, float] = defaults.DEFAULT_BID_RANGE
    rule: str | Rule = defaults.DEFAULT_RULE
    clearing: str = defaults.DEFAULT_CLEARING
    contract: str = defaults.DEFAULT_CONTRACT
    epsilon_max: float = defaults.DEFAULT_EPSILON_MAX
    estimator: str = defaults.DEFAULT_ESTIMATOR
    prior: Prior | None = None
    scale: float | None = None
    priced_as_binary: bool = False
    question: Given = defaults.DEFAULT_QUESTION
    stages: int | None = dataclasses.field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.query, KINDS):
            names = ", ".join(kind.__name__ for kind in KINDS)
            raise TermsError(f"query must be Count(), Median(domain), ... (one of {names}), got {shown(self.query)}")
        for name, plain in {
            "budget": _at_least("budget", self.budget, 0.0),
            "bid_range": _plain_range(self.bid_range),
            "epsilon_max": _at_least("epsilon_max", self.epsilon_max, 1e-9),
            "scale": None if self.scale is None else number(self.scale, "scale"),
            "clearing": chosen("clearing", self.clearing, ClearingName),
            "estimator": chosen("estimator", self.estimator, EstimatorName),
            "contract": chosen("contract", self.contract, ContractName),
        }.items():
            object.__setattr__(self, name, plain)
        if self.scale is not None and not self.scale > 0:
            raise TermsError(f"scale must be above 0, got {self.scale}")
        if not isinstance(self.priced_as_binary, bool):
            raise TermsError(f"priced_as_binary must be True or False, got {shown(self.priced_as_binary)}")
        self._resolve_question()
        if self.q_max > 1.0 - 1.0 / Q_UNITS:
            raise TermsError(f"epsilon_max {self.epsilon_max:g} gives a q_max of 1: the report would be the bare value")
        if self.q_max < LEAST_Q:
            raise TermsError(
                f"epsilon_max {self.epsilon_max:g} is too low to buy anything: a report among {self.kappa}"
                f" values needs at least {cap_epsilon(LEAST_Q, self.kappa):.2g} to tell anything"
            )
        self._refuse_bad_rule()
        self._refuse_misplaced_lottery()
        for prior in (self.prior, rules.prior_of(self.rule)):
            self._refuse_bad_prior(prior)
            self._refuse_other_range(prior)
        budget_micros(self.budget)
        dearest = self.dearest_payment * MICROS_PER_UNIT
        if dearest > LARGEST_PAYMENT_MICROS:
            raise TermsError(
                f"bids up to {self.bid_range[1]:g} make payments too large to count: use a larger unit of money"
            )

    def _resolve_question(self) -> None:
        plain = self.priced_as_binary or self.estimator in (EstimatorName.NAIVE, EstimatorName.SHRUNK)
        asked = resolved(self.question, self.query, self.epsilon_max, stages=self.stages, plain=plain)
        object.__setattr__(self, "question", asked)

    def _refuse_bad_rule(self) -> None:
        if isinstance(self.rule, str):
            object.__setattr__(self, "rule", chosen("rule", self.rule, RuleName, RuleError))
            return
        if isinstance(self.rule, type) or not isinstance(self.rule, Rule):
            meant = ": pass its .rule" if rules.has_field(self.rule, "rule") else ""
            raise RuleError(f"rule must be a name or have q(bids, scale), got {shown(self.rule)}{meant}")
        if not is_frozen(self.rule):
            raise RuleError(f"rule {self.rule_name} can change: make it frozen, with @dataclass(frozen=True)")
        plain_of(self.rule, "rule", RuleError)
        _refuse_unhashable("rule", self.rule, RuleError)

    def _refuse_misplaced_lottery(self) -> None:
        by_lot = self.rule in (RuleName.LOTTERY, RuleName.FLAT) or isinstance(self.rule, rules.Asks)
        if by_lot and not (self.clearing_facts.asks and self.contract_terms.hides_coin):
            raise TermsError(
                f"rule {self.rule_name!r} asks by lot, which needs clearing 'ladder' and contract 'on-report', not"
                f" {self.clearing!r} and {self.contract!r}: name another rule, such as 'optimal'"
            )

    def _refuse_bad_prior(self, prior: object) -> None:
        """The terms' own, or its rule's."""
        if prior is None:
            return
        if isinstance(prior, type) or not isinstance(prior, Prior):
            raise TermsError(f"prior must be Uniform(...), TruncatedNormal(...) or fit(bids), got {shown(prior)}")
        if not is_frozen(prior):
            raise TermsError("the prior can change: make it frozen, with @dataclass(frozen=True)")
        plain_of(prior, "prior")
        _refuse_unhashable("prior", prior, TermsError)

    def _refuse_other_range(self, prior: object) -> None:
        if isinstance(prior, FromPastBids) and prior.bid_range != self.bid_range:
            (low, high), (ours, top) = prior.bid_range, self.bid_range
            raise TermsError(
                f"the prior was fitted to bids from {low:g} to {high:g}, not to the bid range {ours:g} to {top:g}"
            )

    def title(self) -> str:
        return f"Terms: {self.query.kind} for {self.budget:,.10g}"

    def rows(self) -> list[tuple[str, str]]:
        """What a round promises, in words."""
        low, high = self.bid_range
        return [
            ("values", str(self.domain)),
            *([] if isinstance(self.query, Count) else [("question", self._asked())]),
            ("bids", f"{low:g} to {high:g}"),
            ("rule", self.rule_name),
            ("clearing", self.clearing),
            ("contract", self.contract),
            ("epsilon", f"at most {self.epsilon_max:g}"),
            ("estimator", self.estimator),
            *([("prior", repr(self.prior))] if self.prior is not None else []),
            *([("scale", f"{self.scale:g}")] if self.scale is not None else []),
            *([("priced as", "binary")] if self.priced_as_binary else []),
        ]

    def _asked(self) -> str:
        return f"{self.asking}; {self.asking.reason}" if self.asking.reason else str(self.asking)

    @property
    def asking(self) -> Question:
        """What each owner is asked: the question, whichever way it was given."""
        assert isinstance(self.question, Question), "terms resolve their question when they are made"
        return self.question

    @cached_property
    def domain(self) -> Domain:
        """What an owner's value may be."""
        return self.query.question.domain

    @property
    def domain_size(self) -> int:
        """k: how many values an owner can have."""
        return self.domain.size

    @property
    def kappa(self) -> int:
        """How many answers a report is one of: k for whole values, fewer for smaller questions."""
        return self.asking.kappa

    @cached_property
    def q_max(self) -> float:
        """The cap on q that epsilon_max allows, for the question as it really is."""
        return cap_q(self.epsilon_max, self.kappa)

    @property
    def dearest_payment(self) -> float:
        """What the dearest bid at the cap is paid: no payment is larger."""
        return self.setting.high * float(self.setting.load(np.array(self.q_max)))

    @cached_property
    def contract_terms(self) -> Contract:
        """The contract behind its name."""
        return contract_named(self.contract)

    @property
    def clearing_facts(self) -> ClearingFacts:
        """What this way of clearing can do."""
        return FACTS[self.clearing]

    @cached_property
    def setting(self) -> Setting:
        """The public facts that rules and prices are made from."""
        low, high = self.bid_range
        priced_size = 2 if self.priced_as_binary else self.kappa
        return Setting(
            low=float(low), high=float(high), domain_size=priced_size, contract=self.contract_terms, q_max=self.q_max
        )

    @cached_property
    def bound_rule(self) -> Rule:
        """The rule, told of its market and checked to be a family of falling curves; a user's rule as its table."""
        rule = rules.named(self.rule) if isinstance(self.rule, str) else self.rule
        bound = _bound(rules.with_prior(rule, self.prior), self.setting)  # type: ignore[arg-type]  # frozen: hashable
        if self.clearing_facts.calibrates and not rules.is_vouched(bound) and not isinstance(bound, rules.Asks):
            rules.refuse_scaleless(bound, self.setting)
        shown_the_bids = self.clearing_facts.shows_bids and isinstance(bound, rules.ReadsBids)
        if rules.is_vouched(bound) or shown_the_bids or isinstance(bound, rules.Asks):
            return bound
        return rules.read_into_table(bound, self.setting, self.scale)  # type: ignore[arg-type]  # rules are frozen, so hashable

    @property
    def rule_name(self) -> str:
        """The rule's name, for people."""
        return self.rule if isinstance(self.rule, str) else rules.name_of(self.rule)

    @property
    def bid_prior(self) -> Prior:
        """What is believed of bids: the prior given, or uniform on the range."""
        return self.prior or rules.prior_of(self.rule) or Uniform(*self.bid_range)

    @property
    def budget_micros(self) -> int:
        """The budget in micro-units, rounded down."""
        return budget_micros(self.budget)

    @property
    def keeps_budget(self) -> bool:
        """Whether what is paid can never pass the budget: the offers keep it, and no payment hangs on a coin."""
        facts = self.clearing_facts
        return facts.keeps_budget and (self.contract_terms.hides_coin or not facts.by_contract)

    def canonical(self) -> str:
        """The terms as JSON with sorted keys: two parties with the same terms write the same bytes."""
        return written(plain_terms(self))

    @staticmethod
    def read(form: str | dict[str, object], also: Kinds = MappingProxyType({})) -> Terms:
        """Terms from their canonical form, as text or as the object it holds; what is left out is as usual.

        ``also`` holds kinds of rules and priors that are not the core's own, such as ``pdqs.neural.KINDS``.

        >>> terms = Terms.read({"query": "count", "budget": 20, "rule": "linear"})
        >>> Terms.read(terms.canonical()) == terms
        True
        """
        try:
            plain = json.loads(form) if isinstance(form, str) else form
        except json.JSONDecodeError as fault:
            raise TermsError(f"this is not JSON: {fault}") from None
        return Terms(**read_fields(plain, [field.name for field in dataclasses.fields(Terms)], also))

    @cached_property
    def promise(self) -> str:
        """A hash of what an owner relies on: all but the budget, and what is made of the reports afterwards.

        Offers keep it, so that reports to one question are not read, or paid, as reports to another; asking another
        statistic of the same reports, or by another estimator, is no fault.

        >>> from pdqs.model.query import Count
        >>> Terms(query=Count(), budget=1.0).promise == Terms(query=Count(), budget=2.0, estimator="naive").promise
        True
        """
        later = {"budget", "estimator", "query"}
        relied_on = {name: value for name, value in plain_terms(self).items() if name not in later}
        asked = written(relied_on | {"domain": plain_domain(self.domain), "text": self.asking.text})
        return hashlib.sha256(asked.encode()).hexdigest()

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical form, in hexadecimal.

        >>> from pdqs.model.query import Count
        >>> len(Terms(query=Count(), budget=1.0).hash)
        64
        """
        return hashlib.sha256(self.canonical().encode()).hexdigest()


@lru_cache(maxsize=64)
def _bound(rule: Rule, setting: Setting) -> Rule:
    """A rule told of its market and checked: once, however many terms differ in no more than their budget."""
    bound = rules.bind(rule, setting)
    try:
        rules.check(bound, setting)
    except ArithmeticError as rough:
        raise RuleError(f"rule {rules.name_of(bound)} cannot be priced: {rough}") from None
    return bound


def _at_least(name: str, value: float, least: float) -> float:
    plain = number(value, name)
    if plain < least:
        raise TermsError(f"{name} must be a finite number of at least {least:g}, got {plain:g}")
    return plain


def _plain_range(bid_range: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = bid_range
    except (TypeError, ValueError):
        raise TermsError(f"bid_range must be (low, high), got {shown(bid_range)}") from None
    low, high = (
        number(end, f"bid_range needs 0 <= low < high, both finite: its {name}")
        for end, name in ((low, "low"), (high, "high"))
    )
    if not 0 <= low < high:
        raise TermsError(f"bid_range needs 0 <= low < high, both finite, got {low:g} to {high:g}")
    return low, high


def _refuse_unhashable(what: str, value: Rule | Prior, error: type[TermsError]) -> None:
    try:
        hash(value)
    except TypeError:
        raise error(f"the {what} can change: all that it holds must be frozen") from None
