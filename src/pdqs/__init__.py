"""pdqs: buy a statistic from people who price their own privacy.

The public names, in the order of the flow::

    Terms ──► clear ──► Offers ──► randomise ──► Reports ──► answer ──► Answer
     │         ▲          │                         │
     │       bids         └────────► settle ◄───────┘ ──► Payments
     └── query and domain, budget, bid range, rule, clearing, contract, epsilon cap, estimator

Each is loaded when it is first used: `import pdqs` costs next to nothing, and no command loads more than it needs.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pdqs.auditing import audit
    from pdqs.clearing import clear
    from pdqs.estimate import Answer, answer
    from pdqs.model import priors
    from pdqs.model.domain import Domain
    from pdqs.model.errors import PdqsError
    from pdqs.model.query import Count, Histogram, Mean, Median, Quantile
    from pdqs.model.question import Question
    from pdqs.planning.comparing import Comparison, compare
    from pdqs.planning.forecasts import Plan, plan
    from pdqs.pricing import rules
    from pdqs.privacy.entropy import SystemEntropy
    from pdqs.rounds import presets
    from pdqs.rounds.offers import Offers
    from pdqs.rounds.reports import Reports, randomise, received
    from pdqs.rounds.settlement import Payments, settle
    from pdqs.rounds.terms import Terms
    from pdqs.trade import Trade, trade
    from pdqs.verifying import verify

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Comparison",
    "Count",
    "Domain",
    "Histogram",
    "Mean",
    "Median",
    "Offers",
    "Payments",
    "PdqsError",
    "Plan",
    "Quantile",
    "Question",
    "Reports",
    "SystemEntropy",
    "Terms",
    "Trade",
    "answer",
    "audit",
    "clear",
    "compare",
    "plan",
    "presets",
    "priors",
    "randomise",
    "received",
    "rules",
    "settle",
    "trade",
    "verify",
]

_HOMES = {
    "pdqs.auditing": ("audit",),
    "pdqs.clearing": ("clear",),
    "pdqs.estimate": ("Answer", "answer"),
    "pdqs.model.domain": ("Domain",),
    "pdqs.model.errors": ("PdqsError",),
    "pdqs.model.query": ("Count", "Histogram", "Mean", "Median", "Quantile"),
    "pdqs.model.question": ("Question",),
    "pdqs.planning.comparing": ("Comparison", "compare"),
    "pdqs.planning.forecasts": ("Plan", "plan"),
    "pdqs.privacy.entropy": ("SystemEntropy",),
    "pdqs.rounds.offers": ("Offers",),
    "pdqs.rounds.reports": ("Reports", "randomise", "received"),
    "pdqs.rounds.settlement": ("Payments", "settle"),
    "pdqs.rounds.terms": ("Terms",),
    "pdqs.trade": ("Trade", "trade"),
    "pdqs.verifying": ("verify",),
}
"""Where each public name that is no module lives."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = {"presets": "pdqs.rounds.presets", "priors": "pdqs.model.priors", "rules": "pdqs.pricing.rules"}
_ROOMS = (
    "auditing",
    "clearing",
    "estimate",
    "model",
    "planning",
    "present",
    "pricing",
    "privacy",
    "rounds",
    "tables",
    "verifying",
)


def __getattr__(name: str) -> object:
    if name in _HOME_OF:
        found = getattr(importlib.import_module(_HOME_OF[name]), name)
    elif name in _MODULES or name in _ROOMS:
        found = importlib.import_module(_MODULES.get(name, f"pdqs.{name}"))
    else:
        raise AttributeError(f"module 'pdqs' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """This package, in which ``trade`` is always the function and never the module of that name."""

    @property
    def trade(self) -> object:
        return importlib.import_module("pdqs.trade").trade

    @trade.setter
    def trade(self, module: ModuleType) -> None:
        """What the import system would put here; it is found in ``sys.modules`` all the same."""


sys.modules[__name__].__class__ = _Package
