"""What one owner's own device kept, held against what the record of a round says of her."""

from __future__ import annotations

from pdqs.model.money import exact_money
from pdqs.model.names import QuestionKind
from pdqs.privacy.loss import NANOS_PER_EPSILON, epsilon_nanos
from pdqs.rounds.terms import Terms
from pdqs.verifying.findings import Finding, judged, skipped
from pdqs.verifying.proof import OwnProof
from pdqs.verifying.record import RecordLine, RoundRecord


def check_own(record: RoundRecord, proof: OwnProof, terms: Terms) -> list[Finding]:
    """What an owner's own device knows against what the record says of her."""
    line = next((line for line in record.owners if line.pseudonym == proof.pseudonym), None)
    names = ("your terms", "your bid", "your offer", "your question", "your report", "your payment")
    bid_on = judged(names[0], proof.terms_hash == record.terms_hash, "those you bid on", "you bid on other terms")
    if line is None:
        why = "you are not in the record"
        gone = Finding(name=names[1], verdict="does not agree", told=f"{why}: your bid was dropped")
        return [bid_on, gone, *(skipped(name, why) for name in names[2:])]
    counted = proof.leads_to(record.bids_root) and proof.bids_root == record.bids_root
    told = (proof.asked, proof.draw, proof.chance_numerator, proof.posted_micros)
    says = (line.q_numerator > 0, line.draw, line.chance_numerator, line.posted_micros)
    offered = proof.payment_micros in (None, line.payment_micros)
    due = proof.paid_micros if proof.paid_micros is not None or proof.code is None else proof.payment_micros
    return [
        bid_on,
        judged(
            names[1],
            counted and line.bid_micros == proof.bid_micros,
            f"{exact_money(line.bid_micros)}, and it is under the root",
            "the root you were shown is another, or your bid is not under it, or it is not the one you made",
        ),
        judged(names[2], told == says and offered, "as your device was told", "it is not what your device was told"),
        _asked_for(line, proof, terms),
        judged(names[4], line.code == proof.code, "as your device sent it", "it is not what your device sent"),
        judged(
            names[5],
            line.paid_micros == (due or 0),
            exact_money(line.paid_micros),
            f"{exact_money(line.paid_micros)} in the record, {exact_money(due or 0)} on your device",
        ),
    ]


def _asked_for(line: RecordLine, proof: OwnProof, terms: Terms) -> Finding:
    """What her report gave away, and what it was about: the market could ask one owner for more than its record says,
    at the same payment, and only what her own device charged shows it."""
    name = "your question"
    if proof.epsilon_nanos is None:
        before = "this proof is from before devices wrote down what they were asked for"
        return skipped(name, "your device drew no report" if proof.payment_micros is None else before)
    nanos = epsilon_nanos(line.q_numerator, terms.kappa)
    if proof.epsilon_nanos != nanos:
        yours, theirs = (f"{some / NANOS_PER_EPSILON:.9f}" for some in (proof.epsilon_nanos, nanos))
        told = f"you were asked for epsilon {yours}, and the record says {theirs}"
        return Finding(name=name, verdict="does not agree", told=told)
    if terms.asking.kind == QuestionKind.SIDE and (proof.stage, proof.side) != (line.stage, line.side):
        asked, says = (_asked_about(told.stage, told.side, terms) for told in (proof, line))
        return Finding(name=name, verdict="does not agree", told=f"you were asked {asked}, and the record says {says}")
    return Finding(name=name, verdict="held", told="as your device was asked, for as much privacy as it charged")


def _asked_about(stage: int | None, side: int | None, terms: Terms) -> str:
    if side is None:
        return "nothing"
    return f"in stage {stage} whether it is at most {terms.domain.start + terms.domain.step * side:.12g}"
