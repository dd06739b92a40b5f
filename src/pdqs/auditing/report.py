"""What an audit found, promise by promise, and how it shows itself: as text, as JSON, and to a certificate."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pdqs.auditing.budget import Budget
from pdqs.auditing.false_names import FalseNames
from pdqs.auditing.markets import Market
from pdqs.auditing.poisoning import Poisoning
from pdqs.auditing.privacy import Privacy
from pdqs.auditing.rationality import Rationality
from pdqs.auditing.truthfulness import Misreport, Profile, Truthfulness
from pdqs.present.text import Shown, table
from pdqs.rounds.terms import Terms

MOST_BIDS_SHOWN = 30


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What terms promise. Anything measured beyond it is a figure, not a verdict."""

    truthful: bool
    rational: bool
    budget_ex_ante: bool
    budget_ex_post: bool
    private: bool


def claims(terms: Terms) -> Claims:
    """The promises of some terms.

    ======================================  =====  =====  ================  ===============  =====
    terms                                   IC     IR     BF for the bids   BF coin by coin  LDP
    ======================================  =====  =====  ================  ===============  =====
    ladder or greedy, on-report             yes    yes    yes               yes              yes
    ladder or greedy, on-selection          yes    yes    yes               no               yes
    fairquery                               yes    yes    yes               yes              yes
    open, as the paper runs NPQM            yes    yes    yes               no               yes
    open, otherwise                         yes    yes    no                no               yes
    single-minded                           yes    yes    yes               yes              yes
    fallah                                  yes    yes    no                no               yes
    ======================================  =====  =====  ================  ===============  =====

    The paper claims IC, IR and LDP of each of its mechanisms and BF of the *expected* payments. LDP is a promise
    about all that the broker sees, the payment included. ``open`` on terms of one's own buys whatever comes, and says
    so; ``fallah`` promises the budget on average, if bids follow the prior.

    >>> import pdqs
    >>> claims(pdqs.Terms(query=pdqs.Count(), budget=1.0, clearing="open")).budget_ex_ante
    False
    """
    as_printed = not terms.contract_terms.hides_coin and terms.priced_as_binary
    return Claims(
        truthful=True,
        rational=True,
        budget_ex_ante=terms.clearing_facts.keeps_budget or as_printed,
        budget_ex_post=terms.keeps_budget,
        private=True,
    )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """One promise: whether the terms make it, whether it was kept, and what was measured, in one sentence."""

    code: str
    title: str
    claimed: bool
    kept: bool
    measured: str
    short: str
    on_average_only: bool = False

    @property
    def verdict(self) -> str:
        """``kept``, ``on average`` (kept as promised, and no more was promised), ``BROKEN``, or ``not promised``."""
        if self.kept:
            return "on average" if self.on_average_only else "kept"
        return "BROKEN" if self.claimed else "not promised"


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AuditReport(Shown):
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
    false_names: tuple[FalseNames, ...]
    poisoning: tuple[Poisoning, ...]

    @property
    def promises(self) -> tuple[Promise, ...]:
        """Truthful, rational, within budget, private: in that order."""
        claimed = claims(self.terms)
        return (
            _truthful(self.truthfulness, claimed),
            _rational(self.rationality, claimed),
            _within_budget(self.budget, claimed),
            _private(self.privacy, claimed),
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
        return (f"{example}, in {describe_market(example.market)}",) if example.gains else ()

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
            "false_names": self.false_names,
            "poisoning": self.poisoning,
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


def _truthful(found: Truthfulness, claimed: Claims) -> Promise:
    tried = f"{found.misreports:,} lies of {found.owners:,} owners in {len(found.by_market)} markets"
    own = found.by_market[0]
    if found.kept:
        measured = f"{tried}: the best gains {max(found.worst.gain_micros, 0.0):.2f} millionths, all of it rounding"
        short = f"{max(found.worst.gain_micros, 0.0):.1f} micro"
    else:
        measured = (
            f"{tried}: {found.gainers:,} owners gain ({own.gainers} of the {own.owners} tried of {own.market}), at most"
            f" {found.worst.gain_micros / 1e6:.4g} ({found.worst_share:.0%} of the mean payment)"
        )
        short = f"{found.gainers} of {found.owners} gain"
    return Promise(
        code="IC", title="truthful", claimed=claimed.truthful, kept=found.kept, measured=measured, short=short
    )


def _rational(found: Rationality, claimed: Claims) -> Promise:
    worst = min(found.worst_ex_ante_micros, found.worst_ex_post_micros)
    measured = f"{found.owners:,} honest owners: "
    measured += "nobody is paid below her price" if found.kept else f"{found.worst_case} loses {-worst / 1e6:.6f}"
    if found.underpaid_share:
        measured += f"; {found.underpaid_share:.0%} of those bought get less than price times eps"
    short = "no loss" if found.kept else f"loses {-worst / 1e6:.3g}"
    return Promise(
        code="IR", title="rational", claimed=claimed.rational, kept=found.kept, measured=measured, short=short
    )


def _within_budget(found: Budget, claimed: Claims) -> Promise:
    kept = found.kept_ex_ante and (found.kept_ex_post or not claimed.budget_ex_post)
    low, high = found.chance_interval
    if found.kept_ex_ante:
        measured = f"{found.markets} markets: at most {found.worst_share:.4%} of a budget promised"
    else:
        measured = f"{found.passed} of {found.markets} markets over budget, by up to {found.worst_share - 1:.1%}"
    if found.kept_ex_post:
        measured += f"; none of {found.rounds:,} rounds cost more"
    else:
        measured += f"; {found.chance:.0%} of rounds cost more ({low:.0%} to {high:.0%})"
    short = "always" if found.kept_ex_post and found.kept_ex_ante else f"{found.chance:.0%} over"
    if not found.kept_ex_ante:
        short = f"{found.passed} of {found.markets} over"
    return Promise(
        code="BF",
        title="within budget",
        claimed=claimed.budget_ex_ante,
        kept=kept,
        measured=measured,
        short=short,
        on_average_only=not found.kept_ex_post,
    )


def _private(found: Privacy, claimed: Claims) -> Promise:
    worst = found.worst
    if worst is None:
        measured = short = "nothing was bought, so nothing is lost"
    elif found.kept:
        most = max(found.exposures, key=lambda each: each.stated)
        measured = f"report and payment together lose eps {most.joint:.4f} where {most.stated:.4f} is stated"
        measured += f", exactly; draws alone prove {most.drawn:.2f}"
        short = "as stated"
    elif math.isinf(worst.joint):
        measured = f"a report alone loses eps {worst.report:.4g}, but the payment tells the broker the coin: infinite"
        short = "pay tells coin"
    else:
        measured = f"eps {max(worst.joint, worst.drawn):.6g} is lost where {worst.stated:.6g} is stated"
        short = f"eps +{max(worst.joint, worst.drawn) / worst.stated - 1:.1%}"
    return Promise(
        code="LDP", title="private", claimed=claimed.private, kept=found.kept, measured=measured, short=short
    )


def describe_names(found: FalseNames) -> str:
    """The gain of several names as a sentence."""
    share = found.most_micros / max(found.mean_payment_micros, 1.0)
    if found.most_micros <= 1.0:
        return f"none of {found.owners} owners gains by enrolling {found.names} times"
    return (
        f"an owner at price {found.price:.4g} gains {found.most_micros / 1e6:.4g}"
        f" ({share:.0%} of the mean payment) by enrolling {found.names} times"
    )


def describe_liars(found: Poisoning) -> str:
    """The pull of some liars as a sentence."""
    return (
        f"{found.liars} of them move the answer by {abs(found.shift):.4g} where ± {found.half_width:.4g} is printed"
        f" ({found.attack})"
    )


def describe_market(market: Market) -> str:
    """A market that can be typed again: its bids if they are few, and its budget."""
    if len(market) > MOST_BIDS_SHOWN:
        return f"{market.name}, budget {market.budget:g}"
    return f"bids ({', '.join(f'{bid:.6g}' for bid in market.bids)}), budget {market.budget:g}"


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _plain(value: Any) -> Any:
    """Dataclasses and arrays as JSON has them; long arrays as their quantiles."""
    if isinstance(value, Market):
        bids = value.bids.tolist() if len(value) <= MOST_BIDS_SHOWN else "from the seed"
        return {"name": value.name, "owners": len(value), "budget": value.budget, "bids": bids}
    if isinstance(value, Misreport):
        return {**{k: _plain(v) for k, v in _fields(value).items()}, "price": value.price, "sentence": str(value)}
    if isinstance(value, Profile):
        return {k: _plain(v.tolist() if isinstance(v, np.ndarray) else v) for k, v in _fields(value).items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {k: _plain(v) for k, v in _fields(value).items()} | (
            {"kept": value.kept} if hasattr(value, "kept") else {}
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
