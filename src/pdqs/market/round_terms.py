"""A round without its storage: plans to terms, bids to offers, reports to an answer. Pure functions over the core."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, final

import numpy as np

from pdqs.clearing import clear
from pdqs.clearing.lottery import LotteryMarket, posted_to_all
from pdqs.estimate import Answer, answer
from pdqs.model import query
from pdqs.model.arrays import Figure, Integers, Words
from pdqs.model.errors import EstimateError, TermsError, ensure
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.model.names import ClearingName, ContractName, EstimatorName, QueryKind, QuestionKind, RuleName
from pdqs.model.query import Query
from pdqs.pricing.rules import Asks
from pdqs.privacy.loss import Q_UNITS, epsilon_upper
from pdqs.protocol.device_messages import DomainMessage, Question
from pdqs.protocol.market_messages import AnswerMessage, QueryMessage, RoundPlan
from pdqs.rounds.offers import Offers
from pdqs.rounds.reports import Reports
from pdqs.rounds.settlement import settle
from pdqs.rounds.terms import Terms

LEVEL = 0.95
DISHONEST_SHARE = 0.05
"""The share of dishonest owners that an answer's second interval is for."""

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
    heard = plan.rule in (RuleName.LOTTERY, RuleName.ROBUST)
    if plan.estimator == EstimatorName.UNBIASED and not heard:
        raise TermsError("estimator 'unbiased' needs everyone to have a chance to be heard: use rule 'lottery'")
    if plan.rule == RuleName.LOTTERY and plan.estimator != EstimatorName.UNBIASED:
        raise TermsError("rule 'lottery' is for estimator 'unbiased': for a sharper answer use rule 'optimal'")
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


def frozen(
    round_id: str, plan: RoundPlan, bids_close_at_ms: int, receipt_key: str, draws: Mapping[str, object]
) -> Frozen:
    """Freeze a plan: canonical JSON of all that an owner relies on, and its hash.

    ``receipt_key`` is the public key that receipts of this round are signed with, ``draws`` what its draws are
    committed to.
    """
    promise: dict[str, object] = {
        "round": round_id,
        "attribute": plan.attribute,
        "bids_close_at_ms": bids_close_at_ms,
        "report_seconds": plan.report_seconds,
        "minimum_owners": plan.minimum_owners,
        "terms": json.loads(terms_of(plan).canonical()),
        **draws,
    }
    if receipt_key:
        promise["receipt_key"] = receipt_key
    if plan.retention_days is not None:
        promise["retention_days"] = plan.retention_days
    document = json.dumps(promise, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return Frozen(document, hashlib.sha256(document.encode()).hexdigest())


def receipt_key_of(document: str) -> str:
    """The public key that a frozen document names for its receipts, or nothing."""
    return str(json.loads(document).get("receipt_key", ""))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """What clearing made of a round's bids, in their order. ``posted_micros``: None where no one price can be said."""

    offers: Offers
    draws: Words
    posted_micros: list[int | None]


def cleared(bid_micros: Sequence[int], draws: Words | None, terms: Terms) -> Cleared:
    """Clear: a pure function of the frozen bids, the draws and the terms."""
    bids = np.array(bid_micros, dtype=np.float64) / MICROS_PER_UNIT
    offers = clear(bids, terms, draws=draws)
    rule, paid = terms.bound_rule, offers.payment_micros.tolist()
    posted = None
    if isinstance(rule, Asks) and draws is not None:
        posted = posted_to_all(bids, draws, LotteryMarket(rule=rule, budget_micros=terms.budget_micros))
    known = [payment or None for payment in paid] if posted is None else posted.tolist()
    words = np.zeros(bids.size, dtype=np.uint32) if draws is None else draws
    return Cleared(offers=offers, draws=words, posted_micros=known)


def numerators_of(offers: Offers) -> Integers:
    """q of each offer as a whole number of 2^-32."""
    return (offers.q * Q_UNITS).astype(np.int64)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A round's end: the answer, and what each owner is paid in the order given."""

    answer: AnswerMessage
    payment_micros: Integers


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One owner at the end of a round: what she bid, what she was offered, and her report (None: nothing came)."""

    bid_micros: int
    q_numerator: int
    payment_micros: int
    chance_numerator: int
    draw: int
    code: int | None


def offers_from(lines: Sequence[Line], terms: Terms) -> Offers:
    """The offers as clearing made them, from what was kept of them."""
    q = np.array([line.q_numerator for line in lines], dtype=np.float64) / Q_UNITS
    domain = terms.domain
    return Offers(
        bids=np.array([line.bid_micros for line in lines], dtype=np.float64) / MICROS_PER_UNIT,
        q=q,
        epsilon=epsilon_upper(q, domain.size),
        payment_micros=np.array([line.payment_micros for line in lines], dtype=np.int64),
        domain=domain,
        budget_micros=terms.budget_micros,
        chance=np.array([line.chance_numerator for line in lines], dtype=np.float64) / Q_UNITS,
        draw=np.array([line.draw for line in lines], dtype=np.uint32),
    )


def outcome_of(round_id: str, terms_hash: str, terms: Terms, lines: Sequence[Line]) -> Outcome:
    """Answer and settle from what was offered and what was reported.

    An owner on whom the lot did not fall has nothing to send: she is not missing, she was not asked. Without a lottery
    an owner at q = 0 sends a report of no weight, as everyone does, and the market spares her that.
    """
    offers = offers_from(lines, terms)
    by_lot = isinstance(terms.bound_rule, Asks)
    came = np.array([line.code is not None for line in lines], dtype=bool)
    reports = Reports(
        codes=np.array([line.code or 0 for line in lines], dtype=np.int64),
        arrived=came if by_lot else came | ~offers.asked,
        selected=np.zeros(0, dtype=bool),
        domain=offers.domain,
    )
    payments = settle(offers, reports, terms)
    paid = payments.total_micros
    message = AnswerMessage(
        round_id=round_id,
        terms_hash=terms_hash,
        kind=terms.query.kind,
        level=LEVEL,
        dishonest_share=DISHONEST_SHARE,
        estimator=terms.estimator,
        owners=len(offers),
        reports=int(came.sum()),
        asked=offers.bought,
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
    interval_if_dishonest: list[list[float]]
    sensitivity: str


def _figures(reports: Reports, offers: Offers, terms: Terms) -> _Figures:
    """The rows of the answer; none, and the reason as a warning, when the reports cannot give one."""
    empty = _Figures(
        labels=[],
        values=[],
        raw=[],
        interval=[],
        interval_if_dishonest=[],
        information=0.0,
        warnings=[],
        sensitivity="",
    )
    try:
        found = answer(reports, offers, terms, level=LEVEL)
    except EstimateError as fault:
        return {**empty, "warnings": [str(fault)]}
    if found.value is None:
        return {**empty, "information": found.information, "warnings": list(found.warnings)}
    values = [float(x) for x in np.atleast_1d(found.value)]
    raw = [float(x) for x in np.atleast_1d(found.raw)]
    ensure(all(map(math.isfinite, [*values, *raw])), "an answer that is not a number")
    return _Figures(
        labels=_labels(found, terms),
        values=values,
        raw=raw,
        interval=_ends(found.interval),
        information=found.information,
        warnings=list(found.warnings),
        interval_if_dishonest=_ends(found.interval_if_dishonest(DISHONEST_SHARE)),
        sensitivity=found.sensitivity,
    )


def _ends(interval: Figure) -> list[list[float]]:
    return [[float(low), float(high)] for low, high in np.reshape(interval, (-1, 2))]


def _labels(found: Answer, terms: Terms) -> list[str]:
    if not isinstance(found.value, np.ndarray):
        return [""]
    return [str(value) for value in terms.domain.decode(np.arange(terms.domain_size))]
