"""The consumer's plan as a form: fields to a checked plan, or each field's fault in words beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import final

from pydantic import ValidationError
from starlette.datastructures import ImmutableMultiDict

from pdqs.estimate.enough import fewest_bids
from pdqs.market.pages.numerals import short, whole
from pdqs.market.pages.plan_words import faults_of_words
from pdqs.market.round_terms import refuse_unreadable, terms_of
from pdqs.model.errors import InputError, PdqsError
from pdqs.model.money import MICROS_PER_UNIT, PLAIN, Currency
from pdqs.model.names import EstimatorName, QueryKind, RuleName
from pdqs.model.spelling import example, plain_decimal
from pdqs.privacy.loss import cap_q
from pdqs.protocol.market_messages import MARKET_ESTIMATORS, MARKET_RULES, MOST_BUDGET_MICROS, RoundPlan

SECONDS = {"minutes": 60, "hours": 3600, "days": 86_400}

DEFAULTS: dict[str, str] = {
    "kind": QueryKind.COUNT.value,
    "text": "",
    "attribute": "",
    "purpose": "",
    "use": "",
    "start": "0",
    "stop": "100",
    "step": "1",
    "labels": "",
    "p": "0.9",
    "budget": "500",
    "owners": "1000",
    "bid_low": "0",
    "bid_high": "1",
    "epsilon_max": "2",
    "minimum_owners": "",
    "bid_time": "24",
    "bid_unit": "hours",
    "report_time": "24",
    "report_unit": "hours",
    "method": "right",
    "groups": "",
}

METHODS = {
    "right": (RuleName.LOTTERY.value, EstimatorName.UNBIASED.value),
    "sharp": (RuleName.OPTIMAL.value, EstimatorName.WEIGHTED.value),
}
"""What the consumer chooses between, as rule and estimator (section 9 of docs/theory)."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PlanForm:
    """A form as it was filled in. ``plan`` is there when ``faults`` is empty."""

    fields: dict[str, str]
    plan: RoundPlan | None
    owners: int
    faults: dict[str, str] = field(default_factory=dict)


def read(given: Mapping[str, object], currency: Currency = PLAIN, expected: int = 1000) -> PlanForm:
    """Check a form field by field. Nothing is guessed: a field that cannot be read is named.

    ``expected``: how many owners a form expects that does not say.
    """
    usual = {**DEFAULTS, "owners": str(expected)}
    fields = {
        name: str(given.get(name, default.replace(".", currency.mark))).strip()[:4000]
        for name, default in usual.items()
    }
    if isinstance(given, ImmutableMultiDict):  # a box for each group, all of one name
        fields["groups"] = "\n".join(map(str, given.getlist("groups")))[:4000]
    faults: dict[str, str] = {}
    reader = _Reader(fields, faults, currency)
    owners = reader.whole("owners", least=2, most=10_000_000)
    low, high = reader.price_range()
    message = {
        "query": _query(reader),
        "attribute": fields["attribute"] or "unnamed",
        "purpose": " ".join(fields["purpose"].split()),
        "use": " ".join(fields["use"].split()),
        "budget_micros": reader.paid("budget"),
        "bid_low_micros": low,
        "bid_high_micros": high,
        "epsilon_max": reader.number("epsilon_max", least=0.01, most=16.0),
        "minimum_owners": reader.whole("minimum_owners", least=2, most=1_000_000) if fields["minimum_owners"] else 2,
        "bid_seconds": reader.seconds("bid"),
        "report_seconds": reader.seconds("report"),
        "groups": fields["groups"].splitlines(),
        "only_with_answer": True,
    }
    message["rule"], message["estimator"] = choice = _choice(fields["method"])
    fields["method"] = _method(*choice)  # whatever an address said
    faults |= {name: why for name, why in faults_of_words(fields).items() if name not in faults}
    if faults:
        return PlanForm(fields=fields, plan=None, owners=owners, faults=faults)
    try:
        plan = RoundPlan.model_validate(message)
        terms = terms_of(plan)
        refuse_unreadable(plan)
    except ValidationError as fault:
        return PlanForm(fields=fields, plan=None, owners=owners, faults=_named(fault))
    except PdqsError as fault:
        return PlanForm(fields=fields, plan=None, owners=owners, faults={"": str(fault)})
    if not fields["minimum_owners"]:  # with fewer she would pay for reports that give no answer
        fewest = fewest_bids(cap_q(terms.epsilon_max, terms.kappa))
        plan = plan.model_copy(update={"minimum_owners": fewest})
    return PlanForm(fields=fields, plan=plan, owners=owners)


def fields_of(plan: RoundPlan, currency: Currency = PLAIN) -> dict[str, str]:
    """The form that a plan was read from, or could have been: to change a draft, or to ask the same again."""
    domain = plan.query.domain

    def decimal(value: float) -> str:
        return f"{Decimal(f'{value:.12g}'):f}".replace(".", currency.mark)

    times: dict[str, str] = {}
    for name, seconds in (("bid", plan.bid_seconds), ("report", plan.report_seconds)):
        unit = next(unit for unit in ("days", "hours", "minutes") if seconds % SECONDS[unit] == 0 or unit == "minutes")
        times |= {f"{name}_time": decimal(seconds / SECONDS[unit]), f"{name}_unit": unit}
    grid = {
        "start": decimal(domain.start),
        "stop": decimal(domain.start + domain.step * (domain.size - 1)),
        "step": decimal(domain.step),
    }
    return {
        "kind": plan.query.kind,
        "text": plan.query.text,
        "attribute": plan.attribute,
        "purpose": plan.purpose,
        "use": plan.use,
        "labels": "\n".join(domain.labels),
        "p": decimal(plan.query.p),
        "budget": decimal(plan.budget_micros / MICROS_PER_UNIT),
        "bid_low": decimal(plan.bid_low_micros / MICROS_PER_UNIT),
        "bid_high": decimal(plan.bid_high_micros / MICROS_PER_UNIT),
        "epsilon_max": decimal(plan.epsilon_max),
        "minimum_owners": str(plan.minimum_owners),
        "groups": "\n".join(plan.groups),
        "method": _method(plan.rule, plan.estimator),
        **times,
        **(grid if domain.kind == "grid" else {}),
    }


def _method(rule: str, estimator: str) -> str:
    """What the form calls a rule and an estimator: one of its two ways, or both names where a program chose them.

    >>> _method("lottery", "unbiased"), _method("robust", "weighted")
    ('right', 'robust weighted')
    """
    named = {choice: method for method, choice in METHODS.items()}
    return named.get((rule, estimator), f"{rule} {estimator}")


def _choice(method: str) -> tuple[str, str]:
    """The rule and the estimator behind it; what is neither of the two ways nor two names is the honest one."""
    rule, _, estimator = method.partition(" ")
    of_a_program = rule in MARKET_RULES and estimator in MARKET_ESTIMATORS
    return (rule, estimator) if of_a_program else METHODS.get(method, METHODS["right"])


def missing(form: PlanForm) -> dict[str, str]:
    """What a forecast can do without but a round cannot: the words of the question and the name of the fact."""
    asked = {
        "text": "Write the question that owners will read.",
        "attribute": "Name the fact this is about, e.g. smoker or age.",
    }
    return {name: why for name, why in asked.items() if not form.fields[name]}


def _query(reader: _Reader) -> dict[str, object]:
    kind = reader.fields["kind"]
    query: dict[str, object] = {"kind": kind, "text": " ".join(reader.fields["text"].split())}
    if kind == QueryKind.COUNT:
        return query
    labels = [" ".join(line.split()) for line in reader.fields["labels"].splitlines() if line.strip()]
    if kind == QueryKind.HISTOGRAM and labels:
        if len(labels) < 2:
            reader.faults["labels"] = "Give at least two answers, one to a line."
        return {**query, "domain": {"kind": "categories", "labels": labels, "size": max(len(labels), 2)}}
    if kind == QueryKind.QUANTILE:
        query["p"] = reader.number("p", least=0.001, most=0.999)
    step = reader.number("step", least=1e-6)
    start, stop = (reader.number(name, whole=step == int(step)) for name in ("start", "stop"))
    steps = (stop - start) / step
    if not reader.faults and not (1 <= steps < 10_000 and abs(steps - round(steps)) < 1e-6):
        most = whole(9999, reader.currency.mark)
        reader.faults["stop"] = f"The highest answer must be a whole number of steps (1 to {most}) above the lowest."
    size = round(steps) + 1 if 1 <= steps < 10_000 else 2
    return {**query, "domain": {"kind": "grid", "start": start, "step": step, "size": size}}


def with_unshown(plan: RoundPlan, before: RoundPlan) -> RoundPlan:
    """A changed draft with what the form has no field for, as a program may have set it: it stays as it was."""
    kept = ["nonce_hash", "retention_days"]
    if (plan.query.kind, plan.query.domain, plan.query.p) == (before.query.kind, before.query.domain, before.query.p):
        kept += ["question", "stages"]
    return plan.model_copy(update={name: getattr(before, name) for name in kept})


def _named(fault: ValidationError) -> dict[str, str]:
    """Pydantic's places as the form's fields; its sentences are for programmers, and what she types is read before."""
    places = {"text": "text", "attribute": "attribute", "labels": "labels", "budget_micros": "budget"}
    places |= {"purpose": "purpose", "use": "use", "groups": "groups"}
    parts = [[str(part) for part in error["loc"]] for error in fault.errors()]
    names = [next((places[part] for part in reversed(found) if part in places), "") for found in parts]
    here, somewhere = "This cannot be used as it is: write it otherwise.", "a part of the plan cannot be used as it is"
    return {name: here if name else somewhere for name in names}


_BELOW = ("-", "\u2212")
_SIGNED = re.compile(r"([+\u2212-]?)(.*?)([eE][+-]?[0-9]{1,3})?", re.DOTALL)


@final
@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads numbers from fields, noting each fault under its field and going on with a harmless value."""

    fields: dict[str, str]
    faults: dict[str, str]
    currency: Currency

    def number(self, name: str, *, least: float = -1e12, most: float = 1e12, whole: bool = False) -> float:
        """A number; where it is ``whole``, or goes by whole steps, "1.500" with a comma for a mark is thousands."""
        mark = self.currency.mark
        kind, ends = "whole number" if whole else "number", (short(end, 6, mark) for end in (least, most))
        bounds = f"Give a {kind} from {' to '.join(ends)}." if most < 1e12 else ""
        try:
            value = self._signed(self.fields[name][:90], whole=whole)
        except InputError as doubt:
            self.faults[name] = f"{_sentence(doubt)} {bounds}".strip()
            return max(least, 1.0)
        if not least <= value <= most:
            self.faults[name] = bounds or ("Give a number above 0." if least > 0 else "Give a number.")
            return max(least, 1.0)
        return value

    def _signed(self, text: str, *, whole: bool) -> float:
        found = _SIGNED.fullmatch(text)
        assert found is not None  # any text matches
        digits = plain_decimal(found[2], "number", self.currency.mark, whole=whole, like="12" if whole else "")
        return float(f"{'-' if found[1] in _BELOW else ''}{digits}{found[3] or ''}")

    def whole(self, name: str, *, least: int, most: int) -> int:
        value = self.number(name, least=least, most=most, whole=True)
        if value != int(value):
            self.faults[name] = "Give a whole number."
        return int(value)

    def micros(self, name: str, *, least: int = 0) -> int:
        """An amount up to a million; where it is none, the fault is noted and a harmless amount stands in."""
        try:
            found = self.currency.read(self.fields[name])
        except InputError as doubt:
            self.faults[name] = _sentence(doubt)
            return max(least, 1)
        if not least <= found <= MOST_BUDGET_MICROS:
            self.faults[name] = (
                f"Give an amount {'above 0 and ' if least else ''}up to {self.currency.shown(MOST_BUDGET_MICROS)}."
            )
        return min(max(found, least), MOST_BUDGET_MICROS)

    def paid(self, name: str) -> int:
        """An amount that is put in escrow: above nothing, and no finer than money is paid here."""
        found, decimals = self.micros(name, least=1), self.currency.decimals
        if not decimals and name in self.faults:
            self.faults[name] = self.faults[name].replace(f"like {example(self.currency.mark)}", "like 12")
        if name not in self.faults and found != self.currency.payable(found):
            most = f"with at most {decimals} decimal{'s' if decimals > 1 else ''}" if decimals else "without decimals"
            self.faults[name] = f"Give an amount {most}: nothing finer is paid here."
        return found

    def price_range(self) -> tuple[int, int]:
        low, high = self.micros("bid_low"), self.micros("bid_high", least=1)
        if low >= high and not {"bid_low", "bid_high"} & self.faults.keys():
            self.faults["bid_low"] = "The lowest price must be below the highest."
        return low, high

    def seconds(self, name: str) -> int:
        unit = SECONDS.get(self.fields[f"{name}_unit"], 0)
        count = self.number(f"{name}_time", least=0.01, most=10_000)
        seconds = int(count * unit)
        if not 1 <= seconds <= 31_536_000:
            self.faults.setdefault(f"{name}_time", "Give a time between one second and a year.")
        return min(max(seconds, 1), 31_536_000)


def _sentence(doubt: InputError) -> str:
    """A reader's doubt as it stands beside the field, whose name is there already."""
    words = str(doubt).partition(": ")[2]
    return f"{words[:1].upper()}{words[1:]}."
