"""What one owner's own device kept, held against what the record of a round says of her, or does not say."""

from __future__ import annotations

from pdqs.model.money import exact_money
from pdqs.privacy.loss import NANOS_PER_EPSILON, epsilon_nanos
from pdqs.rounds.terms import Terms
from pdqs.verifying.few_reports import LEFT_OUT
from pdqs.verifying.findings import Finding, judged, skipped
from pdqs.verifying.own_receipt import asked_about, check_receipt
from pdqs.verifying.proof import OwnProof
from pdqs.verifying.record import FrozenPromise, RecordLine, RoundRecord


def check_own(record: RoundRecord, proof: OwnProof, promise: FrozenPromise) -> list[Finding]:
    """What an owner's own device knows against what the record says of her."""
    line = next((line for line in record.owners if line.pseudonym == proof.pseudonym), None)
    same = proof.terms_hash == record.terms_hash
    if not same and line is None and not _was_signed_in(promise.round_id, proof):
        return _of_other_terms(promise.round_id)
    return [
        judged("your terms", same, "those you bid on", "you bid on other terms"),
        _bid(record, line, proof),
        *([_offer(line, proof), _question(line, proof, promise.terms)] if line else _not_listed(record)),
        _report(record, line, proof),
        check_receipt(record, line, proof, promise),
        _payment(record, line, proof),
    ]


def _was_signed_in(round_id: str, proof: OwnProof) -> bool:
    """Whether the market's receipt in this proof names the round: then the proof is of no other."""
    return proof.receipt is not None and proof.receipt["round_id"] == round_id


def _of_other_terms(round_id: str) -> list[Finding]:
    """Nothing ties the proof to this round. Most likely it is that of another one, which convicts nobody of dropping
    her bid; if it is not, the terms alone convict the record."""
    why = "this proof is of other terms"
    told = f"{why}: if it is of another round, give that of {round_id}; else you bid on other terms"
    rest = ("your bid", "your offer", "your question", "your report", "your receipt", "your payment")
    return [
        Finding(name="your terms", verdict="does not agree", told=told),
        *(skipped(name, why) for name in rest),
    ]


def _why_not_listed(record: RoundRecord) -> str:
    return LEFT_OUT if record.of_few else "you are not in the record"


def _not_listed(record: RoundRecord) -> list[Finding]:
    return [skipped(name, _why_not_listed(record)) for name in ("your offer", "your question")]


def _bid(record: RoundRecord, line: RecordLine | None, proof: OwnProof) -> Finding:
    """Her bid is under the root, of as many as the record counts; only one that need not be listed may be missing."""
    counted = proof.leads_to(record.bids_root) and proof.bids_root == record.bids_root
    same = line is None or line.bid_micros == proof.bid_micros
    bids, said = proof.bids, record.answer.owners
    wrong = ""
    if line is None and not record.of_few:
        wrong = "you are not in the record: your bid was dropped"
    elif not (counted and same):
        wrong = "the root you were shown is another, or your bid is not under it, or it is not the one you made"
    elif bids != said:
        wrong = f"the root you were shown was published over {bids:,} bids, and the record counts {said:,}"
    good = f"{exact_money(proof.bid_micros)}, and it is under the root, one of {bids:,}"
    return judged("your bid", not wrong, good, wrong)


def _offer(line: RecordLine, proof: OwnProof) -> Finding:
    told = (proof.asked, proof.draw, proof.chance_numerator, proof.posted_micros)
    says = (line.q_numerator > 0, line.draw, line.chance_numerator, line.posted_micros)
    same = told == says and proof.payment_micros in (None, line.payment_micros)
    return judged("your offer", same, "as your device was told", "it is not what your device was told")


def _question(line: RecordLine, proof: OwnProof, terms: Terms) -> Finding:
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
    if (1 if proof.stage is None else proof.stage, proof.side) != (line.stage, line.side):
        asked, says = (asked_about(told.stage, told.side, terms) for told in (proof, line))
        return Finding(name=name, verdict="does not agree", told=f"you were asked {asked}, and the record says {says}")
    return Finding(name=name, verdict="held", told="as your device was asked, for as much privacy as it charged")


def _report(record: RoundRecord, line: RecordLine | None, proof: OwnProof) -> Finding:
    """What she sent against what the record has; where she is not listed, that is nothing.

    A report that the market never signed for may have been lost on its way: then neither what is in the record nor
    that nothing is there can be held against anybody.
    """
    name = "your report"
    if line is not None and _is_unsigned(proof):
        says = "has none" if line.code is None else "has one that yours cannot be held against"
        return skipped(name, f"your device drew one, the market never signed for it, and the record {says}")
    if line is not None:
        same = line.code == proof.code
        good = "your device sent none" if proof.code is None else "as your device sent it"
        return judged(name, same, good, "it is not what your device sent")
    if proof.code is None:
        return skipped(name, _why_not_listed(record))
    told = "your device sent one that the market took, and it is not in the record"
    return Finding(name=name, verdict="does not agree", told=told)


def _is_unsigned(proof: OwnProof) -> bool:
    """Whether her device drew a report and has no word that the market took it."""
    return proof.code is None and proof.epsilon_nanos is not None


def _payment(record: RoundRecord, line: RecordLine | None, proof: OwnProof) -> Finding:
    """What she was paid, or is due for a report, against what the record says."""
    name = "your payment"
    if proof.paid_micros is None and _is_unsigned(proof):
        return skipped(name, "your device has heard of none, and the market never signed for your report")
    due = proof.paid_micros if proof.paid_micros is not None or proof.code is None else proof.payment_micros
    if line is None and not due:
        return skipped(name, _why_not_listed(record))
    says = 0 if line is None else line.paid_micros
    bad = f"{exact_money(says)} in the record, {exact_money(due or 0)} on your device"
    return judged(name, says == (due or 0), exact_money(says), bad)
