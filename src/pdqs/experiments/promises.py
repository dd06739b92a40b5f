"""What the paper promises of its mechanisms (IC, IR, BF, LDP), as the audit measures them.

GPQM's three are audited as presets at 0.5n; NPQM as the rule that the run's own training for Exam gave at 0.5n (or the
next budget with an answer), on its 1,000 owners. What was found is kept beside the results. Whether a budget is kept
is read off the rounds instead, which are many; NPQM was trained for one budget, and an audit brings others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from pdqs.auditing import audit
from pdqs.experiments import npqm
from pdqs.experiments.mechanisms import MECHANISMS, Offerings
from pdqs.experiments.overruns import keeps_budget
from pdqs.experiments.results import Results
from pdqs.experiments.setups import Plan
from pdqs.experiments.store import Store, write_whole
from pdqs.experiments.verdicts import MIDDLE, NOT_RUN, NPQM_FORMS, Claim, Verdict
from pdqs.model.query import Count
from pdqs.rounds.terms import Terms

CODES = {
    "IC": "truthful (IC)",
    "IR": "rational (IR)",
    "BF": "within budget (BF), on uniform bids",
    "LDP": "locally private (LDP)",
}
PRESETS = ("gpqm-linear", "gpqm-exp", "gpqm-log")
OWNERS, C = 200, 2.5
AUDITED_POPULATION = "exam"

Promises = Mapping[str, Mapping[str, tuple[str, str]]]
"""By mechanism and code: the audit's verdict, and its sentence."""


def measure(plan: Plan, store: Store) -> Promises:
    """Audit what has not been audited yet, and keep it."""
    held: dict[str, dict[str, tuple[str, str]]] = {name: dict(found) for name, found in store.promises().items()}
    for name, (owners, terms) in _audited(store).items():
        if name not in held:
            report = audit(terms, owners=owners, seed=plan.seed, effort="quick")
            held[name] = {promise.code: (promise.verdict, promise.measured) for promise in report.promises}
            write_whole(store.promises_path, partial(_write, json.dumps(held, indent=1) + "\n"))
    return held


def _write(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")


def _audited(store: Store) -> dict[str, tuple[int, Terms]]:
    """Owners and terms of everything that can be audited."""
    found = {
        name: (OWNERS, MECHANISMS[name].terms(Offerings(query=Count(), budget=MIDDLE * OWNERS, c=C)))
        for name in PRESETS
    }
    for form, name in NPQM_FORMS.items():
        path = store.model_path(npqm.Task(form, AUDITED_POPULATION, "uniform").name)
        rules = npqm.rules_of(path) if path.exists() else {}
        level = min((share for share in rules if share >= MIDDLE), default=None)
        if level is not None:
            owners = rules[level].nets.owners
            offered = Offerings(query=Count(), budget=level * owners, c=C, rule=rules[level])
            found[name] = owners, MECHANISMS[name].terms(offered)
    return found


def _judged(results: Results, mechanism: str, code: str) -> Verdict:
    verdict, measured = results.promises.get(mechanism, {}).get(code, ("", ""))
    if not verdict:
        return NOT_RUN
    said = {"kept": "holds", "on average": "holds in part"}.get(verdict, "does not hold")
    return Verdict(said, f"{measured} (audit, on 1 seed)")


def _claim(mechanism: str, code: str, words: str) -> Claim:
    judge: Callable[[Results], Verdict] = partial(_judged, mechanism=mechanism, code=code)
    if code == "BF":
        judge = partial(keeps_budget, mechanism=mechanism)
    return Claim(f"{mechanism}-{code.lower()}", f"{MECHANISMS[mechanism].label} is {words}", judge)


PROMISED = tuple(
    _claim(mechanism, code, words)
    for mechanism in ("gpqm-linear", "gpqm-exp", "gpqm-log", *NPQM_FORMS.values())
    for code, words in CODES.items()
)
