"""A round without its storage: plans to terms, bids to offers, reports to an answer. Pure functions over the core."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final, final

import numpy as np

from pdqs.model import query
from pdqs.model.arrays import Integers
from pdqs.model.errors import TermsError, ensure
from pdqs.model.looks import fault_of_answers, is_turned
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.model.names import ClearingName, ContractName, EstimatorName, QueryKind, RuleName
from pdqs.model.query import Query
from pdqs.present.frames import plain
from pdqs.privacy.loss import Q_UNITS, epsilon_upper
from pdqs.protocol.device_messages import MOST_TERMS, DomainMessage, Question
from pdqs.protocol.market_messages import AnswerMessage, QueryMessage, RoundPlan
from pdqs.protocol.problems import ProblemType, UnprocessableError
from pdqs.rounds.offers import Offers
from pdqs.rounds.settlement import settle
from pdqs.rounds.stages import with_words
from pdqs.rounds.terms import Terms
from pdqs.verifying.figures import PublicWords, answer_figures, reports_of


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
        question=plan.question,
        stages=plan.stages,
    )
    ensure(terms.budget_micros == plan.budget_micros, "the budget does not survive being a float")
    ensure(terms.bound_rule is not None, "the terms have no rule")  # a property that refuses a rule which is none
    return terms


def refuse_unreadable(plan: RoundPlan) -> None:
    """Refuse a question that every owner's device would: its consumer is told before anyone is asked."""
    domain = plan.query.domain
    fault = fault_of_answers(domain.domain())
    if fault:
        mended = (
            "take larger steps" if domain.kind == "grid" else "write one of them in other words, or add words to it"
        )
        raise UnprocessableError(ProblemType.BAD_TERMS, f"{fault}: {mended}")
    if any(is_turned(text) for text in (plan.query.text, *plan.query.domain.labels, plan.purpose, plan.use)):
        raise UnprocessableError(
            ProblemType.BAD_TERMS,
            "the question, an answer, the reason or the use holds an invisible mark that turns the direction of"
            " writing: type it again, without copying",
        )


def refuse_short(plan: RoundPlan, least_seconds: int) -> None:
    """Refuse a round that nobody could report in: it would have everyone's bid and pay for nothing."""
    if plan.report_seconds < least_seconds:
        told = f"owners must have at least {least_seconds:,} seconds to report here, so that somebody can"
        raise UnprocessableError(ProblemType.BAD_TERMS, told)


def question_of(plan: RoundPlan) -> Question:
    """What each owner is asked under a plan."""
    question = query_of(plan.query).question
    return Question(attribute=plan.attribute, text=question.text, domain=DomainMessage.of(question.domain))


RECEIPT_FORM: Final = 2
"""Of receipts in rounds that are opened now: they say whose they are and what was asked."""


@final
@dataclass(frozen=True, slots=True)
class Frozen:
    """The document that a round promises, and its SHA-256."""

    document: str
    hash: str


def frozen(
    round_id: str,
    plan: RoundPlan,
    bids_close_at_ms: int,
    receipt_key: str,
    draws: Mapping[str, object],
    *,
    receipt_form: int = RECEIPT_FORM,
) -> Frozen:
    """Freeze a plan: canonical JSON of all that an owner relies on, and its hash.

    ``receipt_key`` is the public key that receipts of this round are signed with, ``draws`` what its draws are
    committed to; ``receipt_form`` is what those receipts say (1: neither whose they are nor what was asked).
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
    if receipt_form > 1:
        promise["receipt_form"] = receipt_form
    if plan.retention_days is not None:
        promise["retention_days"] = plan.retention_days
    promise |= {name: said for name, said in (("purpose", plan.purpose), ("use", plan.use)) if said}
    if plan.groups:
        promise["groups"] = sorted(set(plan.groups))
    if plan.only_with_answer:
        promise["only_with_answer"] = True
    document = json.dumps(promise, sort_keys=True, separators=(",", ":"), allow_nan=False)
    if len(document) > MOST_TERMS:
        raise TermsError("the answers are too many or too long: no owner's device would read the terms")
    return Frozen(document, hashlib.sha256(document.encode()).hexdigest())


def receipt_key_of(document: str) -> str:
    """The public key that a frozen document names for its receipts, or nothing."""
    return str(json.loads(document).get("receipt_key", ""))


def receipt_form_of(document: str) -> int:
    """What receipts of a frozen document's round say; 1 in one from before they said whose they are."""
    return int(json.loads(document).get("receipt_form", 1))


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
    stage: int = 1
    side: int | None = None


def offers_from(lines: Sequence[Line], terms: Terms, words: PublicWords | None) -> Offers:
    """The offers as clearing made them, from what was kept of them and the public words of their owners."""
    q = np.array([line.q_numerator for line in lines], dtype=np.float64) / Q_UNITS
    made = Offers(
        bids=np.array([line.bid_micros for line in lines], dtype=np.float64) / MICROS_PER_UNIT,
        q=q,
        epsilon=epsilon_upper(q, terms.kappa),
        payment_micros=np.array([line.payment_micros for line in lines], dtype=np.int64),
        domain=terms.domain,
        question=terms.asking,
        budget_micros=terms.budget_micros,
        chance=np.array([line.chance_numerator for line in lines], dtype=np.float64) / Q_UNITS,
        draw=np.array([line.draw for line in lines], dtype=np.uint32),
        side=np.array([-1 if line.side is None else line.side for line in lines], dtype=np.int64),
    )
    dealt = made if words is None else with_words(made, words)
    ensure(
        dealt.stage.tolist() == [line.stage for line in lines], "the stages are not those that follow from the words"
    )
    return dealt


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class KeptLines:
    """All owners of a cleared round, in any one order, with the public words that the offers were dealt by."""

    owner_ids: list[str]
    lines: list[Line]
    words: PublicWords | None

    @property
    def codes(self) -> list[int | None]:
        """The reports, None where nothing came."""
        return [line.code for line in self.lines]

    def offers(self, terms: Terms) -> Offers:
        """The offers, with every question that is known."""
        return offers_from(self.lines, terms, self.words)


def outcome_of(
    round_id: str, terms_hash: str, terms: Terms, kept: KeptLines, reports_root: str | None = None
) -> Outcome:
    """Answer and settle from what was offered and what was reported, all of which ``reports_root`` stands for."""
    offers, codes = kept.offers(terms), kept.codes
    payments = settle(offers, reports_of(codes, offers, terms), terms)
    paid = payments.total_micros
    figures = asdict(answer_figures(codes, offers, terms))
    told = {
        "round_id": round_id,
        "terms_hash": terms_hash,
        "kind": terms.query.kind,
        "estimator": terms.estimator,
        "budget_micros": terms.budget_micros,
        "paid_micros": paid,
        "returned_micros": terms.budget_micros - paid,
        "reports_root": reports_root,
        **{name: plain(held) for name, held in figures.items()},
    }
    message = AnswerMessage.model_validate(told)
    return Outcome(answer=message, payment_micros=payments.micros)
