"""A round without its storage: plans to terms, bids to offers, reports to an answer. Pure functions over the core."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict, final

import numpy as np

from pdqs.clearing import clear
from pdqs.estimate import Answer, answer
from pdqs.model import query
from pdqs.model.arrays import Integers
from pdqs.model.errors import EstimateError, TermsError, ensure
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.model.names import ClearingName, ContractName, EstimatorName, QueryKind, QuestionKind, RuleName
from pdqs.model.query import Query
from pdqs.privacy.loss import Q_UNITS, epsilon_upper
from pdqs.protocol.device_messages import DomainMessage, Question
from pdqs.protocol.market_messages import AnswerMessage, QueryMessage, RoundPlan
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.settlement import settle
from pdqs.rounds.terms import Terms

LEVEL = 0.95

MARKET_QUESTION = QuestionKind.VALUE.value
"""What devices are asked for in a market: they know no smaller question there yet. The one place to lift that."""


def query_of(message: QueryMessage) -> Query:
    """The core's query.

    >>> query_of(QueryMessage(kind="count", text="Have you been ill?")).kind
    'count'
    """
    if message.kind == QueryKind.COUNT and message.domain.kind != "binary":
        raise TermsError("a count asks a yes-or-no question: its domain is binary")
    return query.query_of(message.kind, domain=message.domain.domain(), p=message.p, text=message.text)


def terms_of(plan: RoundPlan) -> Terms:
    """The terms that a plan promises: leave-one-out clearing, paid for the report. Refuses what cannot hold."""
    if plan.estimator == EstimatorName.UNBIASED and plan.rule != RuleName.ROBUST:
        raise TermsError("estimator 'unbiased' needs a report from everyone: use rule 'robust'")
    terms = Terms(
        query=query_of(plan.query),
        budget=plan.budget_micros / MICROS_PER_UNIT,
        bid_range=(plan.bid_low_micros / MICROS_PER_UNIT, plan.bid_high_micros / MICROS_PER_UNIT),
        rule=plan.rule,
        clearing=ClearingName.LADDER,
        contract=ContractName.ON_REPORT,
        epsilon_max=plan.epsilon_max,
        estimator=plan.estimator,
        question=MARKET_QUESTION,
    )
    ensure(terms.budget_micros == plan.budget_micros, "the budget does not survive being a float")
    ensure(terms.bound_rule is not None, "the terms have no rule")  # a property that refuses a rule which is none
    return terms


def question_of(plan: RoundPlan) -> Question:
    """What each owner is asked under a plan."""
    question = query_of(plan.query).question
    return Question(attribute=plan.attribute, text=question.text, domain=DomainMessage.of(question.domain))


@final
@dataclass(frozen=True, slots=True)
class Frozen:
    """The document that a round promises, and its SHA-256."""

    document: str
    hash: str


def frozen(round_id: str, plan: RoundPlan, bids_close_at_ms: int, receipt_key: str) -> Frozen:
    """Freeze a plan: canonical JSON of all that an owner relies on, and its hash.

    ``receipt_key`` is the public key that receipts of this round are signed with.
    """
    promise: dict[str, object] = {
        "round": round_id,
        "attribute": plan.attribute,
        "bids_close_at_ms": bids_close_at_ms,
        "report_seconds": plan.report_seconds,
        "minimum_owners": plan.minimum_owners,
        "terms": json.loads(terms_of(plan).canonical()),
    }
    if receipt_key:
        promise["receipt_key"] = receipt_key
    document = json.dumps(promise, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return Frozen(document, hashlib.sha256(document.encode()).hexdigest())


def receipt_key_of(document: str) -> str:
    """The public key that a frozen document names for its receipts, or nothing."""
    return str(json.loads(document).get("receipt_key", ""))


def offers_for(bid_micros: Sequence[int], terms: Terms) -> Offers:
    """Clear: a pure function of the frozen bids and terms."""
    return clear(np.array(bid_micros, dtype=np.float64) / MICROS_PER_UNIT, terms)


def numerators_of(offers: Offers) -> Integers:
    """q of each offer as a whole number of 2^-32."""
    return (offers.q * Q_UNITS).astype(np.int64)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A round's end: the answer, and what each owner is paid in the order given."""

    answer: AnswerMessage
    payment_micros: Integers


def outcome_of(
    round_id: str,
    terms_hash: str,
    terms: Terms,
    *,
    q_numerators: Sequence[int],
    payment_micros: Sequence[int],
    codes: Sequence[int | None],
) -> Outcome:
    """Answer and settle from what was offered and what was reported (None: nothing came).

    An owner who was asked nothing (q = 0) has nothing to send, so hers counts as arrived, with no weight.
    """
    q = np.array(q_numerators, dtype=np.float64) / Q_UNITS
    domain = terms.domain
    offers = Offers(
        bids=np.zeros(q.size),
        q=q,
        epsilon=epsilon_upper(q, domain.size),
        payment_micros=np.array(payment_micros, dtype=np.int64),
        domain=domain,
        budget_micros=terms.budget_micros,
    )
    came = np.array([code is not None for code in codes], dtype=bool)
    reports = Reports(
        codes=np.array([code or 0 for code in codes], dtype=np.int64),
        arrived=came | (q == 0),
        selected=np.zeros(0, dtype=bool),
        domain=domain,
    )
    payments = settle(offers, reports, terms)
    paid = payments.total_micros
    message = AnswerMessage(
        round_id=round_id,
        terms_hash=terms_hash,
        kind=terms.query.kind,
        level=LEVEL,
        estimator=terms.estimator,
        owners=len(offers),
        reports=int(came.sum()),
        budget_micros=terms.budget_micros,
        paid_micros=paid,
        returned_micros=terms.budget_micros - paid,
        **_figures(reports, offers, terms),
    )
    return Outcome(answer=message, payment_micros=payments.micros)


class _Figures(TypedDict):
    """What of an answer follows from the reports."""

    labels: list[str]
    values: list[float]
    raw: list[float]
    interval: list[list[float]]
    information: float
    warnings: list[str]


def _figures(reports: Reports, offers: Offers, terms: Terms) -> _Figures:
    """The rows of the answer; none, and the reason as a warning, when the reports cannot give one."""
    empty = _Figures(labels=[], values=[], raw=[], interval=[], information=0.0, warnings=[])
    try:
        found = answer(reports, offers, terms, level=LEVEL)
    except EstimateError as fault:
        return {**empty, "warnings": [str(fault)]}
    if found.value is None:
        return {**empty, "information": found.information, "warnings": list(found.warnings)}
    values = [float(x) for x in np.atleast_1d(found.value)]
    raw = [float(x) for x in np.atleast_1d(found.raw)]
    interval = [[float(low), float(high)] for low, high in np.reshape(found.interval, (-1, 2))]
    ensure(all(map(math.isfinite, [*values, *raw])), "an answer that is not a number")
    return _Figures(
        labels=_labels(found, terms),
        values=values,
        raw=raw,
        interval=interval,
        information=found.information,
        warnings=list(found.warnings),
    )


def _labels(found: Answer, terms: Terms) -> list[str]:
    if not isinstance(found.value, np.ndarray):
        return [""]
    return [str(value) for value in terms.domain.decode(np.arange(terms.domain_size))]
