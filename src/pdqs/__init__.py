"""pdqs: buy a statistic from people who price their own privacy.

The public names, in the order of the flow::

    Terms ──► clear ──► Offers ──► randomise ──► Reports ──► answer ──► Answer
     │         ▲          │                         │
     │       bids         └────────► settle ◄───────┘ ──► Payments
     └── query and domain, budget, bid range, rule, clearing, contract, epsilon cap, estimator
"""

from __future__ import annotations

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

from pdqs.auditing import audit  # isort: skip  # last: the name pdqs.audit is the function, pdqs.auditing.x still a module

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
]
