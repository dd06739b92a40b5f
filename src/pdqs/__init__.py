"""pdqs: buy a statistic from people who price their own privacy.

The public names, in the order of the flow::

    Terms ──► clear ──► Offers ──► randomise ──► Reports ──► answer ──► Answer
     │         ▲          │                         │
     │       bids         └────────► settle ◄───────┘ ──► Payments
     └── query and domain, budget, bid range, rule, clearing, contract, epsilon cap, estimator
"""

from __future__ import annotations

from pdqs import presets, priors, rules
from pdqs.clearing import clear
from pdqs.domain import Domain
from pdqs.errors import PdqsError
from pdqs.estimate import Answer, answer
from pdqs.offers import Offers
from pdqs.plan import Plan, plan
from pdqs.query import Count, Histogram, Mean, Median, Quantile, Question
from pdqs.randomiser import Reports, SystemEntropy, randomise, received
from pdqs.settlement import Payments, settle
from pdqs.terms import Terms
from pdqs.trade import Trade, trade

from pdqs.audit import audit  # isort: skip  # last: the name pdqs.audit is the function, pdqs.audit.x still a module

__version__ = "0.1.0"

__all__ = [
    "Answer",
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
    "plan",
    "presets",
    "priors",
    "randomise",
    "received",
    "rules",
    "settle",
    "trade",
]
