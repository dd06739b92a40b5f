"""The market's signed receipt for one owner's report, held against its record: here it is not her word against its own.

It convicts a record that says something else, and one that leaves her report out.
"""

from __future__ import annotations

from collections.abc import Mapping

from pdqs.model.errors import MissingExtraError
from pdqs.model.money import exact_money
from pdqs.model.names import QuestionKind
from pdqs.privacy.loss import NANOS_PER_EPSILON, epsilon_nanos
from pdqs.rounds.terms import Terms
from pdqs.verifying.findings import Finding, skipped
from pdqs.verifying.proof import OwnProof
from pdqs.verifying.record import FrozenPromise, RecordLine, RoundRecord
from pdqs.verifying.signatures import REPORT, WHOSE, is_signed_by

Receipt = Mapping[str, int | str | None]

_NAME = "your receipt"
_SHOWN = "its own signature shows it"
_UNSAID = "saying whose it is and what was asked"
_BEFORE = "it is of the form from before receipts said whose they are and what was asked"


def check_receipt(record: RoundRecord, line: RecordLine | None, proof: OwnProof, promise: FrozenPromise) -> Finding:
    """What the market signed for against what its record says of her, or that it says nothing."""
    signed = proof.receipt
    if signed is None:
        return skipped(_NAME, "your device has no receipt in this proof")
    try:
        is_theirs = is_signed_by(promise.receipt_key, REPORT, signed)
    except MissingExtraError as fault:
        return skipped(_NAME, str(fault))
    if not is_theirs:
        return _wrong("it is not signed by the key that the terms name, so it shows nothing")
    if (signed["round_id"], signed["terms_hash"]) != (promise.round_id, proof.terms_hash):
        return _wrong("it is for another round")
    if WHOSE not in signed and promise.receipts_say_whose:
        return _wrong(f"the market signed it without {_UNSAID}, and the terms promise both: {_SHOWN}")
    if signed.get(WHOSE, proof.pseudonym) != proof.pseudonym:
        return _wrong("the market signed it for another owner: it is not for the report of this proof")
    if line is None:
        return _of_nobody_listed(record, signed)
    wrong = _signed_otherwise(line, signed, promise.terms)
    if wrong:
        return _wrong(f"the market signed {wrong}: {_SHOWN}")
    less = "" if WHOSE in signed else f"; {_BEFORE}"
    return Finding(name=_NAME, verdict="held", told=f"signed by the market, and the record says the same{less}")


def _wrong(told: str) -> Finding:
    return Finding(name=_NAME, verdict="does not agree", told=told)


def _of_nobody_listed(record: RoundRecord, signed: Receipt) -> Finding:
    """The market signed for a report, and the record lists none of hers. A receipt that does not say whose it is could
    be that of anyone listed with the same report and payment."""
    if WHOSE in signed:
        return _wrong(f"the market signed for a report of yours, and its record has none: {_SHOWN}")
    if (signed["code"], signed["payment_micros"]) in {(line.code, line.payment_micros) for line in record.owners}:
        return skipped(_NAME, f"signed by the market, and you are not in the record; {_BEFORE}")
    return _wrong(f"the market signed for such a report, and its record has none like it: {_SHOWN}")


def _signed_otherwise(line: RecordLine, signed: Receipt, terms: Terms) -> str:
    """Where the record says something else than the market signed for, in words; nothing where it does not."""
    if signed["code"] != line.code:
        return "for another report than the record has"
    if signed["payment_micros"] != line.payment_micros:
        said, says = exact_money(int(signed["payment_micros"] or 0)), exact_money(line.payment_micros)
        return f"that it pays {said}, and its record says {says}"
    if WHOSE not in signed:
        return ""
    if signed["q_numerator"] != line.q_numerator:
        asked, says = (
            f"{epsilon_nanos(numerator, terms.kappa) / NANOS_PER_EPSILON:.9f}"
            for numerator in (int(signed["q_numerator"] or 0), line.q_numerator)
        )
        return f"that it asked you for epsilon {asked}, and its record says {says}"
    if (signed["stage"], signed["side"]) != (line.stage, line.side):
        side, stage = (None if signed[each] is None else int(signed[each] or 0) for each in ("side", "stage"))
        asked, says = asked_about(stage, side, terms), asked_about(line.stage, line.side, terms)
        return f"that it asked you {asked}, and its record says {says}"
    return ""


def asked_about(stage: int | None, side: int | None, terms: Terms) -> str:
    """Which question it was, in words: that of one side, or of none."""
    when = f"in stage {1 if stage is None else stage}"
    if side is None:
        return f"{when} about no side"
    if terms.asking.kind != QuestionKind.SIDE:
        return f"{when} about side number {side}"
    return f"{when} whether it is at most {terms.domain.start + terms.domain.step * side:.12g}"
