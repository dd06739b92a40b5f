"""What the market signed for is held against its record: the one check of hers in which it is not her word alone."""

from __future__ import annotations

import builtins
import json
from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import pdqs
from pdqs.model.errors import PdqsError
from pdqs.verifying import Finding, OwnProof
from pdqs.verifying.record import RecordLine, RoundRecord
from pdqs.verifying.signatures import is_signed_by, signed_bytes

from .rounds import ROUND, Plain, kept_by, played

KEY, OTHER_KEY = (Ed25519PrivateKey.from_private_bytes(bytes([place] * 32)) for place in (1, 2))
TERMS = pdqs.Terms(query=pdqs.Median(pdqs.Domain.grid(0, 100, 5)), budget=40.0, question="side", stages=3)
RECORD = played(TERMS, owners=90, receipt_key=KEY.public_key().public_bytes_raw().hex(), receipt_form=2)
RECORD_BEFORE = played(TERMS, owners=90, receipt_key=KEY.public_key().public_bytes_raw().hex())
"""Of a round that was frozen before receipts said whose they are and what was asked."""
LINE = next(line for line in RECORD.owners if line.code is not None and line.stage == 2)
OTHERS = next(line.pseudonym for line in RECORD.owners if line != LINE)
SAYS_LESS = ("pseudonym", "q_numerator", "stage", "side")


def receipt(line: RecordLine = LINE, key: Ed25519PrivateKey = KEY, *without: str, **changes: Any) -> Plain:
    """The market's signed receipt for a line of the record; ``changes`` are made before it signs."""
    said: Plain = {
        "round_id": ROUND,
        "terms_hash": RECORD.terms_hash,
        "code": line.code,
        "received_at_ms": 5,
        "payment_micros": line.payment_micros,
        "ordinal": 1,
        "pseudonym": line.pseudonym,
        "q_numerator": line.q_numerator,
        "stage": line.stage,
        "side": line.side,
        **changes,
    }
    said = {name: value for name, value in said.items() if name not in without}
    return {**said, "signature": key.sign(signed_bytes("ReportReceipt", said)).hex()}


def nameless(line: RecordLine = LINE, record: RoundRecord = RECORD_BEFORE, **changes: Any) -> Plain:
    """A receipt of the form before, in a round that promises no more, unless said."""
    return receipt(line, KEY, *SAYS_LESS, terms_hash=record.terms_hash, **changes)


def found_with(signed: Plain | None, record: RoundRecord = RECORD) -> Finding:
    proof = replace(kept_by(record, LINE.pseudonym), receipt=signed)
    return next(each for each in pdqs.verify(record, proof=proof.text()).findings if each.name == "your receipt")


def test_a_receipt_that_says_what_the_record_says_holds() -> None:
    held = found_with(receipt())
    assert (held.verdict, held.told) == ("held", "signed by the market, and the record says the same")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"q_numerator": LINE.q_numerator + 2**20}, "the market signed that it asked you for epsilon"),
        ({"q_numerator": LINE.q_numerator + 1}, "the market signed that it asked you for epsilon"),
        ({"side": (LINE.side or 0) + 1}, "the market signed that it asked you in stage 2 whether it is at most"),
        ({"stage": 1}, "the market signed that it asked you in stage 1"),
        ({"code": 1 - (LINE.code or 0)}, "the market signed for another report"),
        ({"payment_micros": LINE.payment_micros + 1}, "the market signed that it pays"),
        ({"terms_hash": "0" * 64}, "another round"),
        ({"round_id": "r_2"}, "another round"),
        ({"pseudonym": OTHERS}, "the market signed it for another owner"),
    ],
)
def test_a_market_whose_record_says_something_else_is_convicted_by_its_own_signature(changes: Plain, said: str) -> None:
    found = found_with(receipt(**changes))
    assert found.verdict == "does not agree"
    assert said in found.told


def found_without_her(signed: Plain, record: RoundRecord = RECORD, **left: Any) -> dict[str, Finding]:
    """What is found in a record that leaves her out, ``left`` being those whom it lists."""
    proof = replace(kept_by(record, LINE.pseudonym), receipt=signed)
    record = replace(record, **left)
    return {each.name: each for each in pdqs.verify(record, proof=proof.text()).findings}


@pytest.mark.parametrize("of_few", [True, False])
def test_a_report_that_the_market_signed_for_and_left_out_convicts_it(of_few: bool) -> None:
    others = tuple(line for line in RECORD.owners if line != LINE and (line.code is not None or not of_few))
    found = found_without_her(receipt(), owners=others[:4] if of_few else others, of_few=of_few)
    assert found["your bid"].verdict == ("held" if of_few else "does not agree")
    told = "the market signed for a report of yours, and its record has none: its own signature shows it"
    assert (found["your receipt"].verdict, found["your receipt"].told) == ("does not agree", told)
    told = "your device sent one that the market took, and it is not in the record"
    assert (found["your report"].verdict, found["your report"].told) == ("does not agree", told)
    assert found["your payment"].verdict == "does not agree"
    unsigned = found_without_her(receipt(LINE, OTHER_KEY), owners=others, of_few=of_few)["your receipt"]
    assert "not signed by the key that the terms name" in unsigned.told


def test_a_receipt_that_names_nobody_convicts_a_record_without_such_a_report_alone() -> None:
    twin = replace(LINE, pseudonym=OTHERS)
    found = found_without_her(nameless(), RECORD_BEFORE, owners=(twin,), of_few=True)["your receipt"]
    assert found.verdict == "not checked"
    other = replace(twin, payment_micros=1)
    found = found_without_her(nameless(), RECORD_BEFORE, owners=(other,), of_few=True)["your receipt"]
    assert (found.verdict, "its record has none like it" in found.told) == ("does not agree", True)


def test_a_receipt_that_names_nobody_where_the_terms_promise_a_name_convicts_the_market() -> None:
    """Whether she is listed or not: it would else hold as one of a round that was frozen before."""
    signed = nameless(record=RECORD)
    others = tuple(line for line in RECORD.owners if line != LINE)
    for found in (found_with(signed), found_without_her(signed, owners=others, of_few=True)["your receipt"]):
        assert found.verdict == "does not agree"
        assert "without saying whose it is and what was asked, and the terms promise both" in found.told


def test_a_market_that_signed_for_a_side_where_values_are_asked_is_convicted() -> None:
    terms = pdqs.Terms(query=pdqs.Count(), budget=40.0)
    record = played(terms, receipt_key=KEY.public_key().public_bytes_raw().hex(), receipt_form=2)
    line = next(line for line in record.owners if line.code is not None)
    kept = kept_by(record, line.pseudonym)
    for changes, verdict in (({}, "held"), ({"side": 3}, "does not agree"), ({"stage": 2}, "does not agree")):
        signed = receipt(line, KEY, **{"terms_hash": record.terms_hash, **changes})
        found = {each.name: each for each in pdqs.verify(record, proof=replace(kept, receipt=signed)).findings}
        assert found["your receipt"].verdict == verdict
    asked = {each.name: each.verdict for each in pdqs.verify(record, proof=replace(kept, side=3, stage=1)).findings}
    assert asked["your question"] == "does not agree"


def test_what_the_market_did_not_sign_convicts_nobody() -> None:
    for unsigned in (
        receipt(LINE, OTHER_KEY, q_numerator=5),
        {**receipt(), "q_numerator": 5},
        {name: value for name, value in receipt().items() if name not in SAYS_LESS},
    ):
        found = found_with(unsigned)
        assert found.verdict == "does not agree"
        assert "not signed by the key that the terms name" in found.told


def test_a_receipt_of_the_form_before_is_held_to_what_it_says_and_said_to_say_less() -> None:
    held = found_with(nameless(), RECORD_BEFORE)
    assert held.verdict == "held"
    assert "before receipts said whose they are and what was asked" in held.told
    assert found_with(nameless(payment_micros=1), RECORD_BEFORE).verdict == "does not agree"


def test_proofs_with_and_without_a_receipt_are_read_and_what_is_no_receipt_is_not() -> None:
    proof = replace(kept_by(RECORD, LINE.pseudonym), receipt=receipt())
    assert OwnProof.read(proof.text()) == proof
    plain = json.loads(proof.text())
    before = {name: value for name, value in plain.items() if name != "receipt"} | {"format": "pdqs proof 2"}
    assert OwnProof.read(json.dumps(before)).receipt is None
    assert found_with(None).verdict == "not checked"
    for spoiled in (
        {**receipt(), "coin": 1},
        {**receipt(), "signature": "00"},
        {name: value for name, value in receipt().items() if name != "side"},
        {name: value for name, value in receipt().items() if name != "pseudonym"},
    ):
        with pytest.raises(PdqsError, match="the proof, 'receipt'"):
            OwnProof.read(json.dumps({**plain, "receipt": spoiled}))


def test_the_two_forms_are_signed_apart() -> None:
    """A signature of one form is none of the other, whatever is added to a receipt or left out of it."""
    public = KEY.public_key().public_bytes_raw().hex()
    full, less = receipt(), receipt(LINE, KEY, *SAYS_LESS)
    assert signed_bytes("ReportReceipt", full).startswith(b"pdqs receipt 2\n")
    assert signed_bytes("ReportReceipt", less).startswith(b"pdqs receipt 1\n")
    assert all(is_signed_by(public, "ReportReceipt", each) for each in (full, less))
    assert not is_signed_by(public, "ReportReceipt", {**full, "signature": less["signature"]})


def test_without_the_package_for_signatures_the_rest_is_checked_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signed, real = receipt(), builtins.__import__

    def lacks(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", lacks)
    found = found_with(signed)
    assert (found.verdict, "pdqs[owner]" in found.told) == ("not checked", True)


def of_other_terms(signed: Plain | None) -> dict[str, Finding]:
    """What is said where her device kept other terms and another name, and this receipt."""
    kept = replace(kept_by(RECORD, LINE.pseudonym), terms_hash="0" * 64, pseudonym="0" * 64, receipt=signed)
    found = pdqs.verify(RECORD, proof=kept.text())
    assert not found.agrees
    return {each.name: each for each in found.findings if each.name.startswith("your ")}


@pytest.mark.parametrize("signed", [receipt(round_id="r_2", terms_hash="0" * 64), None])
def test_the_proof_of_another_round_accuses_nobody_of_dropping_a_bid_and_is_named_as_what_it_may_be(
    signed: Plain | None,
) -> None:
    found = of_other_terms(signed)
    told = f"this proof is of other terms: if it is of another round, give that of {ROUND}; else you bid on other terms"
    assert found.pop("your terms") == Finding(name="your terms", verdict="does not agree", told=told)
    assert len(found) == 6
    assert {each.line for each in found.values()} == {"not checked: this proof is of other terms"}


def test_a_market_that_signed_for_a_report_in_this_very_round_under_other_terms_is_still_held_to_all_of_it() -> None:
    found = of_other_terms(receipt(terms_hash="0" * 64, pseudonym="0" * 64))
    assert found["your terms"].told == "you bid on other terms"
    assert found["your bid"].told == "you are not in the record: your bid was dropped"
    assert "its own signature shows it" in found["your receipt"].told
