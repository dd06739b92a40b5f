"""What Python's device is held to is held to by the browser's too: spellings, half letters, no time, late receipts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from owner.node import mutant, twin
from pdqs.owner.account import StoredReport
from pdqs.owner.addresses import one_address
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.present.text import printable, quoted
from pdqs.protocol.device_messages import RoundNotice

from .rounds import bid_fields, notice, offer, report_receipt
from .test_device import BID, MARKET, retold

SCRIPT = "browsers_side_twin.mjs"
ADDRESSES = (
    "http://127.0.0.1:8000",
    "HTTP://127.0.0.1:8000/",
    "https://Market.Example:443/Prefix//",
    "Http://market.example:80 u_0",
    "https://market.example:80",
    "http://market.example:443/a b",
    "http://[::1]:80/",
    "HTTPS://[FE80::1]",
    "market.example",
    "",
    "m",
)
DRAWN: dict[str, Any] = {
    "kind": "drawn",
    "round_id": "rnd_" + "a1" * 12,
    "attribute": "a",
    "text": "",
    "terms_hash": "",
    "body": "{}",
}
DRAWN |= {"epsilon_nanos": 1, "payment_micros": 1, "drawn_at_ms": 1}
HALF = "half a letter: \ud800"
WORDS = (
    "Bureau",
    "no\x1b[2Jsuch\nround",
    HALF,
    "\udc00 the other half",
    "a\u202eb\u2066c\u2028d\x7f\x85",
    "\U0001f600" * 401,
    "x" * 401,
)


def test_both_give_a_market_one_name_and_leave_what_is_stored_as_it_was(tmp_path: Path) -> None:
    stored, asked = "HTTPS://Market.Example:443/", "https://market.example"
    case = {"stored": stored, "asked": asked, "entry": DRAWN}
    found = twin(script=SCRIPT, addresses=ADDRESSES, spellings=[case])
    assert found["addresses"] == [one_address(each) for each in ADDRESSES]
    assert found["addresses"][1] == ADDRESSES[0]
    ledger = Ledger(tmp_path / "device.sqlite")
    ledger.note(**{**DRAWN, "market": stored})
    assert ledger.account().report(Device(market=asked, ledger=ledger).market, str(DRAWN["round_id"])) is not None
    ledger.close()
    assert found["spellings"] == [{"found": True, "stored": stored}]
    other = {**case, "asked": "https://market.example:444"}
    assert not twin(script=SCRIPT, spellings=[other])["spellings"][0]["found"]


def test_both_clean_words_from_outside_alike(tmp_path: Path) -> None:
    assert twin(script=SCRIPT, words=WORDS)["words"] == [printable(words) for words in WORDS]
    weak = mutant(tmp_path, "spelling.mjs", "\\p{Cs}", "")
    assert twin(weak, script=SCRIPT, words=WORDS)["words"] != [printable(words) for words in WORDS]


SAID = (
    "Ann",
    "Ann\u201d. All is well \u201c",
    'a "b" \u00abc\u00bb \u300cd\u300d',
    "x" * 60,
    "wide\u2003 \u3000   spaces",
    "\n",
)


def test_both_quote_alike_and_what_is_quoted_does_not_end_the_quotation(tmp_path: Path) -> None:
    found = twin(script=SCRIPT, words=SAID)["quoted"]
    assert found == [quoted(words, 40) for words in SAID]
    assert all(len(each) <= 42 and not set(each[1:-1]) & set('"\u201c\u201d\u00ab\u00bb') for each in found)
    weak = mutant(tmp_path, "spelling.mjs", '.replace(MARKS, "\'")', "")
    assert twin(weak, script=SCRIPT, words=SAID)["quoted"] != found


def with_half_a_letter(place: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(notice().model_dump_json())
    if place == "terms":
        told["terms"] = told["terms"].replace("Do you smoke?", HALF)
    elif place == "label":
        told["question"]["domain"] = {
            "kind": "categories",
            "labels": ["tea", HALF],
            "start": 0.0,
            "step": 1.0,
            "size": 2,
        }
    elif place:
        told["question"][place] = HALF
    return told


def test_both_take_no_half_of_a_letter() -> None:
    """No terminal can be told it, and the browser hashes another text than the one that it has."""
    places = ("", "text", "attribute", "label", "terms")
    notices = [with_half_a_letter(place) for place in places]
    refused = []
    for told in notices:
        try:
            RoundNotice.model_validate_json(json.dumps(told))
        except ValidationError:
            refused.append(True)
        else:
            refused.append(False)
    assert refused == [False, True, True, True, True]
    assert [bool(said) for said in twin(script=SCRIPT, notices=notices)["notices"]] == refused


@pytest.mark.parametrize("seconds", [0, -(10**9), 2**31, 1e308, "60", True, None])
def test_the_browsers_device_refuses_terms_that_give_no_time_to_report(seconds: object) -> None:
    good, bad = notice(state="open"), retold(notice(state="open"), report_seconds=seconds)
    bids = [{"market": MARKET, "notice": json.loads(each.model_dump_json()), "micros": BID} for each in (good, bad)]
    assert twin(script=SCRIPT, bids=bids)["bids"] == [
        {"refused": "", "kept": True},
        {"refused": "Refusal: The terms cannot be read.", "kept": False},
    ]


def receipts(about: RoundNotice, ordinals: tuple[int, ...]) -> dict[int, list[Any]]:
    """The market's word for a report in a round by number, whichever code is drawn."""
    plain: dict[str, Any] = {
        "market": MARKET,
        "round_id": about.round_id,
        "attribute": "smoker",
        "text": "",
        "epsilon_nanos": 1,
    }
    money = offer(about, bid_micros=BID).payment_micros
    made = [
        StoredReport(
            **plain, terms_hash=about.terms_hash, payment_micros=money, drawn_at_ms=1, body=json.dumps({"code": code})
        )
        for code in (0, 1)
    ]
    return {n: [report_receipt(each, ordinal=n).model_dump() for each in made] for n in ordinals}


def two_rounds() -> list[dict[str, object]]:
    """Two reports that are drawn one after the other, and what the market signs for them, by number."""
    first = notice()
    second = retold(notice(), round="rnd_" + "c3" * 12).model_copy(update={"round_id": "rnd_" + "c3" * 12})
    return [
        {
            "notice": about.model_dump(),
            "offer": offer(about, bid_micros=BID).model_dump(),
            "bid": bid_fields(about, BID, MARKET),
            "receipts": receipts(about, (0, 1, 2, 3)),
        }
        for about in (first, second)
    ]


@pytest.mark.parametrize(("ordinal", "taken"), [(1, True), (2, False), (3, False), (0, False)])
def test_in_the_browser_too_a_receipt_may_come_after_that_of_a_later_report(ordinal: int, taken: bool) -> None:
    (found,) = twin(script=SCRIPT, late=[{"market": MARKET, "rounds": two_rounds(), "ordinals": [ordinal, 2]}])["late"]
    assert found["accepted"] == [taken, True]
    assert ("counts your reports wrongly" in found["refused"]) != taken
    meanwhile = "another device reported for you meanwhile (it counts 3, and this browser knows of 2)"
    assert (meanwhile in found["refused"]) == (ordinal == 3)


def test_in_the_browser_too_a_report_that_was_drawn_first_may_arrive_last() -> None:
    told = {"market": MARKET, "rounds": two_rounds(), "ordinals": [2, 1], "first": 0}
    (found,) = twin(script=SCRIPT, late=[told])["late"]
    assert (found["refused"], found["accepted"]) == ("", [True, True])
