"""What an audit found, promise by promise, and how it shows itself: as text, as JSON, and to a certificate."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import numpy as np

from pdqs.auditing.budget import Budget
from pdqs.auditing.coverage import Coverage
from pdqs.auditing.false_names import FalseNames
from pdqs.auditing.markets import Market
from pdqs.auditing.poisoning import Poisoning
from pdqs.auditing.privacy import Privacy
from pdqs.auditing.rationality import Rationality
from pdqs.auditing.truthfulness import Misreport, Profile, Truthfulness
from pdqs.auditing.verdicts import (
    MOST_BIDS_SHOWN,
    UNPROMISED,
    Promise,
    budget_promise,
    claims,
    coverage_promise,
    describe_liars,
    describe_market,
    describe_names,
    privacy_promise,
    rational_promise,
    truthful_promise,
)
from pdqs.present.frames import Cells, Framed
from pdqs.present.text import Shown, table
from pdqs.pricing.rules import Asks
from pdqs.rounds.terms import Terms


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AuditReport(Shown, Framed):
    """Everything one audit measured of some terms.

    ``kept`` is what a build may hang on: no promise that the terms make was seen broken.
    """

    name: str
    terms: Terms
    mechanism: str
    effort: str
    seed: int
    owners: int
    command: str
    truthfulness: Truthfulness
    rationality: Rationality
    budget: Budget
    privacy: Privacy
    coverage: Coverage
    false_names: tuple[FalseNames, ...]
    poisoning: tuple[Poisoning, ...]

    @property
    def promises(self) -> tuple[Promise, ...]:
        """Truthful, rational, within budget, private, and an interval that covers: in that order."""
        claimed = claims(self.terms)
        return (
            truthful_promise(self.truthfulness, claimed),
            rational_promise(self.rationality, claimed),
            budget_promise(self.budget, claimed),
            privacy_promise(self.privacy, claimed, by_lot=isinstance(self.terms.bound_rule, Asks)),
            coverage_promise(self.coverage, claimed),
        )

    @property
    def broken(self) -> tuple[Promise, ...]:
        """The promises that the terms make and the mechanism breaks."""
        return tuple(promise for promise in self.promises if promise.verdict == "BROKEN")

    @property
    def kept(self) -> bool:
        """Whether every promise was kept as far as this audit could see."""
        return not self.broken

    def title(self) -> str:
        verdict = "every promise kept" if self.kept else f"{len(self.broken)} of its promises broken"
        return f"Audit of {self.name}: {verdict}"

    def rows(self) -> list[tuple[str, str]]:
        rows = [(f"{each.title} ({each.code})", f"{each.verdict:<12}  {each.measured}") for each in self.promises]
        rows += [(f"{each.names} names", f"{'figure':<12}  {describe_names(each)}") for each in self.false_names]
        rows += [(f"{each.share:.0%} liars", f"{'figure':<12}  {describe_liars(each)}") for each in self.poisoning]
        return [*rows, ("repeat", f"{'':<12}  {self.command}")]

    def notes(self) -> tuple[str, ...]:
        example = self.truthfulness.example
        found = (f"{example}, in {describe_market(example.market)}{self._largest()}",) if example.gains else ()
        return (*found, *UNPROMISED)

    def _largest(self) -> str:
        """That the lie shown is not the largest one found, where it is not: it is one to check by hand."""
        found = self.truthfulness
        if found.example.gain_micros >= found.worst.gain_micros * (1.0 - 1e-9):
            return ""
        return f" (small enough to check by hand; the most gained in any market is {found.worst.gain_micros / 1e6:.4g})"

    def columns(self) -> dict[str, Cells]:
        """A row a promise, for tables."""
        names = ("code", "title", "claimed", "kept", "verdict", "measured")
        return {name: [getattr(promise, name) for promise in self.promises] for name in names}

    def to_dict(self) -> dict[str, object]:
        """Plain figures, ready for JSON; what is infinite is the string "infinite"."""
        found = {
            "name": self.name,
            "kept": self.kept,
            "promises": [{**dataclasses.asdict(promise), "verdict": promise.verdict} for promise in self.promises],
            "truthfulness": self.truthfulness,
            "rationality": self.rationality,
            "budget": {**_fields(self.budget), "chance": self.budget.chance},
            "privacy": self.privacy,
            "coverage": self.coverage,
            "false_names": self.false_names,
            "poisoning": self.poisoning,
            "not_promised": list(UNPROMISED),
            "mechanism": self.mechanism,
            "terms": json.loads(self.terms.canonical()),
            "terms_hash": self.terms.hash,
            "effort": self.effort,
            "owners": self.owners,
            "seed": self.seed,
            "command": self.command,
        }
        plain: dict[str, object] = _plain(found)
        return plain

    def to_json(self) -> str:
        """:meth:`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)


def comparison(reports: list[AuditReport]) -> str:
    """Several audits side by side: a row for each, a column for each promise."""
    return table(*comparison_rows(reports))


def comparison_rows(reports: list[AuditReport]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The head and the rows of that table: a verdict in each cell, and the figure that it rests on."""
    head = ("mechanism", *(promise.code for promise in reports[0].promises))
    rows = [(each.name, *(f"{promise.verdict} ({promise.short})" for promise in each.promises)) for each in reports]
    return head, rows


@runtime_checkable
class Judged(Protocol):
    """A finding that says whether its promise was kept."""

    @property
    def kept(self) -> bool: ...


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _plain(value: Any) -> Any:
    """Dataclasses and arrays as JSON has them; long arrays as their quantiles."""
    if isinstance(value, Market):
        bids = value.bids.tolist() if len(value) <= MOST_BIDS_SHOWN else "from the seed"
        return {
            "name": value.name,
            "owners": len(value),
            "budget": value.budget,
            "bids": bids,
            "draws": value.draws,
        }
    if isinstance(value, Misreport):
        return {**{k: _plain(v) for k, v in _fields(value).items()}, "price": value.price, "sentence": str(value)}
    if isinstance(value, Profile):
        return {k: _plain(v.tolist() if isinstance(v, np.ndarray) else v) for k, v in _fields(value).items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {k: _plain(v) for k, v in _fields(value).items()} | (
            {"kept": value.kept} if isinstance(value, Judged) else {}
        )
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return {f"{p:g}": float(np.quantile(value, p)) for p in (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return "infinite"
    return value
