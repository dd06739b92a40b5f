"""What the terms alone say of one row of a record, whatever the others bid: for rounds that cannot be made again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pdqs.model.money import MICROS_PER_UNIT, exact_money, payment_micros
from pdqs.model.names import QuestionKind
from pdqs.pricing.rules import Asks
from pdqs.privacy.loss import NANOS_PER_EPSILON, Q_UNITS, epsilon_nanos
from pdqs.rounds.terms import Terms
from pdqs.verifying.record import RecordLine


def bid_fault(line: RecordLine, terms: Terms) -> str:
    """Why a row's bid cannot be one in this round; nothing where it can."""
    low, high = terms.bid_range
    inside = low <= line.bid_micros / MICROS_PER_UNIT <= high
    return "" if inside else f"a bid of {exact_money(line.bid_micros)}, and bids go from {low:g} to {high:g}"


def offer_fault(line: RecordLine, terms: Terms) -> str:
    """Why a row's offer cannot be one to an owner who was asked in this round; nothing where it can."""
    kinds = (_faults_of_asking, _faults_of_lot, _faults_of_price)
    return next((told for faults in kinds for told in faults(line, terms)), "")


def question_fault(line: RecordLine, stage: int, terms: Terms) -> str:
    """Why a row's stage and side cannot be hers, whose words put her into ``stage``; nothing where they can."""
    if line.stage != stage:
        return f"stage {line.stage} in the record, {stage} made again"
    if terms.asking.kind != QuestionKind.SIDE:
        return "" if line.side is None else f"a side was asked about, and the terms ask for a {terms.asking.kind}"
    if line.side is None:
        return "there is a report, and no side was asked about"
    return "" if line.side <= terms.domain_size - 2 else "a side was asked about that the question does not have"


def _faults_of_asking(line: RecordLine, terms: Terms) -> Iterator[str]:
    """How truthfully she was asked to answer: within the cap, and at q* where everyone is."""
    if line.q_numerator > terms.q_max * Q_UNITS:
        asked = epsilon_nanos(line.q_numerator, terms.kappa) / NANOS_PER_EPSILON
        yield f"epsilon {asked:.9f} was asked for, and the terms allow {terms.epsilon_max:g}"
    rule = terms.bound_rule
    if isinstance(rule, Asks) and rule.form().plain and line.q_numerator != rule.form().best.q * Q_UNITS:
        best = rule.form().best.q
        yield f"chance of truth {line.q_numerator / Q_UNITS:.10f}, and these terms ask everyone for {best:.10f}"


def _faults_of_lot(line: RecordLine, terms: Terms) -> Iterator[str]:
    """Whether the lot fell on her: her draw is below her chance, and everyone's is where none is drawn."""
    if line.draw >= line.chance_numerator:
        yield "the lot did not fall on her, and she was asked"
    if not isinstance(terms.bound_rule, Asks) and line.chance_numerator != Q_UNITS:
        yield "there was a chance that she would not be asked, and these terms go by no lot"


def _faults_of_price(line: RecordLine, terms: Terms) -> Iterator[str]:
    """What she was offered: the price posted to her, at least her own, at most what anyone can be paid."""
    offered = exact_money(line.payment_micros)
    if (line.posted_micros or 0) != line.payment_micros:
        yield f"payment {offered} was offered, and the price posted was {exact_money(line.posted_micros or 0)}"
    if not terms.clearing_facts.by_contract:
        return
    load = float(terms.setting.load(np.array(line.q_numerator / Q_UNITS)))
    least, most = (_micros(amount) for amount in (line.bid_micros / MICROS_PER_UNIT * load, terms.dearest_payment))
    if line.payment_micros < least:
        yield f"payment {offered} was offered, and at her bid it is {exact_money(least)} at least"
    if line.payment_micros > most:
        yield f"payment {offered} was offered, and these terms pay nobody more than {exact_money(most)}"


def _micros(amount: float) -> int:
    return int(payment_micros(np.array([amount]))[0])
