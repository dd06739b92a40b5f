"""The device checks before it consents, charges before it sends, and draws once."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.model.arrays import Words
from pdqs.owner.account import Charge, StoredReport
from pdqs.owner.errors import CapReached, LedgerError, OfferRefused
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device, Review
from pdqs.privacy.entropy import SystemEntropy
from pdqs.privacy.loss import NANOS_PER_EPSILON, epsilon_nanos
from pdqs.protocol.device_messages import Offer, RoundNotice

from .node import mutant, twin
from .rounds import ROUND, WITHOUT_DRAWS, bid_fields, bid_receipt, notice, offer, report_receipt

BID = 300_000
MARKET = "http://market.example"
AGES = pdqs.Domain.grid(18, 90, 1)


class CountedEntropy:
    """System entropy that counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def words(self, count: int) -> Words:
        self.asked += 1
        return SystemEntropy().words(count)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(tmp_path / "device.sqlite")
    yield opened
    opened.close()


def bidder(ledger: Ledger, about: RoundNotice, bid_micros: int = BID) -> Device:
    device = Device(market=MARKET, ledger=ledger, entropy=CountedEntropy())
    device.ledger.keep_bid(bid_fields(about, bid_micros, MARKET))
    return device


def drawn(device: Device, review: Review, value: Any, *, now_ms: int = 1) -> StoredReport:
    return device.report(review, value, fresh=review.offer, now_ms=now_ms, agreed=review.asks)


def retold(about: RoundNotice, **document: Any) -> RoundNotice:
    """A notice whose frozen document was changed and hashed again: consistent, but not what is shown."""
    changed = json.loads(about.terms) | document
    text = json.dumps(changed, sort_keys=True, separators=(",", ":"))
    return about.model_copy(update={"terms": text, "terms_hash": hashlib.sha256(text.encode()).hexdigest()})


def retermed(about: RoundNotice, **terms: Any) -> RoundNotice:
    return retold(about, terms=json.loads(about.terms)["terms"] | terms)


def honest() -> tuple[RoundNotice, Offer]:
    about = notice()
    return about, offer(about, bid_micros=BID)


def lies() -> dict[str, tuple[RoundNotice, Offer]]:
    """Every way in which a round or an offer can fail to be what it says."""
    about, fair = honest()
    ages = notice(pdqs.Median(AGES, "How old are you?"), attribute="age")
    other_domain = about.question.model_copy(update={"domain": ages.question.domain})
    other_text = about.question.model_copy(update={"text": "Do you drink?"})
    rounds = {
        "the hash is another's": about.model_copy(update={"terms_hash": "0" * 64}),
        "the terms were changed after hashing": about.model_copy(update={"terms": about.terms + " "}),
        "the terms are not JSON": about.model_copy(
            update={"terms": "{", "terms_hash": hashlib.sha256(b"{").hexdigest()}
        ),
        "the terms lack the question": retermed(about, query={}),
        "another round's terms": retold(about, round="rnd_" + "b2" * 12),
        "another attribute": retold(about, attribute="income"),
        "another closing time": retold(about, bids_close_at_ms=1),
        "another cap": retermed(about, epsilon_max=9.0),
        "another bid range": retermed(about, bid_range=[0.0, 2.0]),
        "a contract that shows the coin": retermed(about, contract="on-selection"),
        "another question is shown": about.model_copy(update={"question": other_text}),
        "another domain is shown": about.model_copy(update={"question": other_domain}),
    }
    found = {what: (told, offer(told, bid_micros=BID)) for what, told in rounds.items()}
    found |= {
        "an offer for other terms": (about, fair.model_copy(update={"terms_hash": "0" * 64})),
        "an offer for another round": (about, fair.model_copy(update={"round_id": "rnd_" + "b2" * 12})),
        "an offer with another question": (about, fair.model_copy(update={"question": other_text})),
        "a payment one micro-unit short": (
            about,
            fair.model_copy(update={"payment_micros": fair.payment_micros - 1}),
        ),
        "more privacy than the cap": (about, offer(about, bid_micros=BID, q_numerator=2**32 - 2**20)),
    }
    return found


def test_an_honest_offer_is_reviewed_with_its_exact_price_and_epsilon(ledger: Ledger) -> None:
    about, fair = honest()
    review = bidder(ledger, about).review(about, fair)
    assert review.epsilon == pytest.approx(np.log(3.0), rel=1e-14)
    assert review.least_payment_micros == fair.payment_micros
    assert review.within_cap
    assert "50.0 %" in review.meaning
    assert "75.0 %" in review.meaning


@pytest.mark.parametrize("lie", lies())
def test_the_device_refuses_a_round_or_offer_that_is_not_what_it_says(lie: str, ledger: Ledger) -> None:
    told, made = lies()[lie]
    device = bidder(ledger, told)
    with pytest.raises(OfferRefused):
        device.review(told, made)
    assert ledger.account().reports() == []


def test_the_browsers_device_refuses_the_same_lies_and_consents_to_the_same_truth() -> None:
    cases = {"honest": honest(), **lies()}
    found = twin(consents=[consent(*case) for case in cases.values()])["consents"]
    refused = {name: one.get("refused") for name, one in zip(cases, found, strict=True)}
    assert refused == {"honest": None} | dict.fromkeys(lies(), "Refusal")
    assert all(one["words"] == 0 for one in found[1:]), "a refused offer drew random words"


def consent(told: RoundNotice, made: Offer, *, code: int = 1, **more: Any) -> dict[str, Any]:
    bid = bid_fields(told, BID, MARKET)
    return {"notice": told.model_dump(), "offer": made.model_dump(), "bid": bid, "code": code, **more}


CARELESS = {
    "the payment is not checked": ('"price": ["offer"', '"price": ["never"', "a payment one micro-unit short"),
    "the hash is not checked": ("=== t.notice.terms_hash, \"The terms do not match", "!== 0, \"The terms do not match",
                                "the hash is another's"),
    "the document is not compared": ("wrong(frozen === seen,", "wrong(true,", "another attribute"),
}  # fmt: skip


@pytest.mark.parametrize("carelessness", CARELESS)
def test_a_careless_browser_device_is_caught(carelessness: str, tmp_path: Path) -> None:
    was, becomes, lie = CARELESS[carelessness]
    found = twin(mutant(tmp_path, "checks.mjs", was, becomes), consents=[consent(*lies()[lie])])["consents"]
    assert "refused" not in found[0]


def test_both_devices_make_reports_of_the_same_bytes_and_charge(ledger: Ledger) -> None:
    about, fair = honest()
    ours = bidder(ledger, about)
    made = drawn(ours, ours.review(about, fair), 1)
    theirs = twin(consents=[consent(about, fair)])["consents"][0]
    assert {json.loads(made.body)["code"], json.loads(theirs["body"])["code"]} <= {0, 1}
    assert re_coded(made.body) == re_coded(theirs["body"])
    assert theirs["same"]
    assert theirs["spentNanos"] == made.epsilon_nanos == epsilon_nanos(2**31, 2)


def re_coded(body: str) -> str:
    return body.replace('"code":1}', '"code":0}')


def test_the_browsers_device_refuses_beyond_its_cap_without_drawing() -> None:
    about, fair = honest()
    exactly = epsilon_nanos(fair.q_numerator, 2)
    caps = [{"smoker": exactly}, {"smoker": exactly - 1}, {"": exactly - 1}]
    at_cap, *beyond = twin(consents=[consent(about, fair, caps=cap) for cap in caps])["consents"]
    assert at_cap["spentNanos"] == exactly
    assert [(one["refused"], one["words"]) for one in beyond] == [("CapReached", 0)] * 2


def test_a_report_is_drawn_once_and_resent_as_the_same_bytes(ledger: Ledger) -> None:
    about = notice(pdqs.Median(AGES, "How old are you?"), attribute="age")
    device = bidder(ledger, about)
    review = device.review(about, offer(about, bid_micros=BID, q_numerator=2**20))
    first = drawn(device, review, 44, now_ms=5)
    asked = device.entropy.asked  # type: ignore[attr-defined]  # the counting one above
    repeats = {drawn(device, review, value, now_ms=9).body for value in (44, 45, 46)}
    assert repeats == {first.body}
    assert device.entropy.asked == asked == 2  # type: ignore[attr-defined]  # a coin and a die, then never again
    assert ledger.account().spending("age").spent_nanos == review.epsilon_nanos


def test_both_draws_are_made_whatever_the_coin_says(ledger: Ledger) -> None:
    """Words are asked for twice (coin, die) at q of nearly 0 and nearly 1 alike."""
    for place, numerator in enumerate((1, 2**31)):
        about = notice()
        device = Device(market=f"{MARKET}/{place}", ledger=ledger, entropy=CountedEntropy())
        ledger.keep_bid(bid_fields(about, 0, device.market))
        drawn(device, device.review(about, offer(about, bid_micros=0, q_numerator=numerator)), 1)
        assert device.entropy.asked == 2  # type: ignore[attr-defined]


def test_privacy_adds_up_over_rounds_and_stops_at_the_cap(ledger: Ledger) -> None:
    charge: dict[str, Any] = {"market": MARKET, "attribute": "age", "payment_micros": 1, "drawn_at_ms": 1}
    charge |= {"text": "", "terms_hash": ""}
    ledger.set_cap("age", 5 * NANOS_PER_EPSILON)
    for place in range(2):
        ledger.make_report(Charge(round_id=f"r{place}", epsilon_nanos=2 * NANOS_PER_EPSILON, **charge), lambda: "x")
    with pytest.raises(CapReached, match=r"'age': 4\.0000 of your lifetime cap of 5\.0000 .* would add 1\.0000"):
        ledger.make_report(Charge(round_id="r2", epsilon_nanos=NANOS_PER_EPSILON + 1, **charge), pytest.fail)
    ledger.make_report(Charge(round_id="r3", epsilon_nanos=NANOS_PER_EPSILON, **charge), lambda: "x")
    assert ledger.account().spending("age").left_nanos == 0
    assert ledger.account().spending("income").spent_nanos == 0, "another attribute has its own account"


def test_a_charge_is_never_given_back(ledger: Ledger, tmp_path: Path) -> None:
    about, fair = honest()
    device = bidder(ledger, about)
    drawn(device, device.review(about, fair), 1)
    with sqlite3.connect(tmp_path / "device.sqlite") as other:
        for attempt in (
            "DELETE FROM entries",
            "UPDATE entries SET entry = '{}'",
            "INSERT OR REPLACE INTO entries SELECT place, '{}', hash FROM entries",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="an entry"):
                other.execute(attempt)
    other.close()
    assert ledger.account().spending("smoker").spent_nanos == epsilon_nanos(2**31, 2)


def test_a_draw_that_fails_charges_nothing(ledger: Ledger) -> None:
    class Broken:
        def words(self, count: int) -> Words:
            raise OSError(f"no entropy for {count} words")

    about, fair = honest()
    device = Device(market=MARKET, ledger=ledger, entropy=Broken())
    ledger.keep_bid(bid_fields(about, BID, MARKET))
    with pytest.raises(OSError, match="no entropy"):
        drawn(device, device.review(about, fair), 1)
    assert ledger.account().spending("smoker").spent_nanos == 0
    assert ledger.account().report(MARKET, ROUND) is None


def test_two_processes_with_one_file_draw_one_report_between_them(tmp_path: Path) -> None:
    about, fair = honest()
    bodies: list[str] = []

    def work() -> None:
        ledger = Ledger(tmp_path / "device.sqlite")
        ledger.keep_bid(bid_fields(about, BID, MARKET))
        device = Device(market=MARKET, ledger=ledger)
        bodies.append(drawn(device, device.review(about, fair), 1).body)
        ledger.close()

    Ledger(tmp_path / "device.sqlite").close()
    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(bodies) == 8
    assert len(set(bodies)) == 1


def test_the_value_is_in_no_file_of_the_device_and_in_no_error(tmp_path: Path) -> None:
    """A category that names itself: were it kept, its letters would be found. The report names it by chance alone."""
    labels = ["plain", "CANARY-5b1f"]
    about = notice(pdqs.Histogram(pdqs.Domain.categories(labels), "Which?"), attribute="kind")
    ledger = Ledger(tmp_path / "device.sqlite")
    device = bidder(ledger, about)
    review = device.review(about, offer(about, bid_micros=BID))
    with pytest.raises(OfferRefused) as refused:
        drawn(device, review, "CANARY-not-a-label")
    drawn(device, review, "CANARY-5b1f")
    ledger.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    terms = about.terms.replace('"', '\\"').encode() + about.question.model_dump_json().replace('"', '\\"').encode()
    assert kept.count(b"CANARY") == terms.count(b"CANARY"), "once in the terms, once in the question, and nowhere else"
    assert "CANARY-not" not in str(refused.value)
    assert b'code\\":' in kept, "the search would have found what is there"


def test_the_devices_file_is_its_owners_alone(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "deep" / "device.sqlite")
    ledger.close()
    assert stat.S_IMODE((tmp_path / "deep" / "device.sqlite").stat().st_mode) == 0o600


def test_a_file_that_is_no_ledger_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("not a database " * 100, encoding="utf-8")
    with pytest.raises(LedgerError, match=r"letter\.txt"):
        Ledger(tmp_path / "letter.txt")
    assert (tmp_path / "letter.txt").read_text(encoding="utf-8") == "not a database " * 100


def test_an_offer_is_held_against_the_devices_own_record_of_the_bid(ledger: Ledger) -> None:
    about, fair = honest()
    device = Device(market=MARKET, ledger=ledger, checks=WITHOUT_DRAWS)
    with pytest.raises(OfferRefused, match="made no bid"):
        device.review(about, fair)
    device.bid(about.model_copy(update={"state": "open"}), BID + 1)
    with pytest.raises(OfferRefused, match="where your price comes to"):
        device.review(about, fair)


def test_an_acknowledged_bid_stands(ledger: Ledger) -> None:
    about = notice(state="open")
    device = Device(market=MARKET, ledger=ledger, checks=WITHOUT_DRAWS)
    device.bid(about, 1)
    device.bid(about, 2)
    device.take_bid_receipt(about, bid_receipt(about, 2))
    assert device.bid(about, 3).bid_micros == 2


def test_a_bid_outside_the_rounds_range_is_refused(ledger: Ledger) -> None:
    with pytest.raises(OfferRefused, match=r"between 0\.00 and 1\.00"):
        Device(market=MARKET, ledger=ledger, checks=WITHOUT_DRAWS).bid(notice(state="open"), 1_000_001)


@pytest.mark.parametrize(("ordinal", "taken"), [(1, True), (2, False), (3, False), (0, False)])
def test_a_receipt_that_was_lost_on_its_way_may_come_after_that_of_a_later_report(
    ledger: Ledger, ordinal: int, taken: bool
) -> None:
    """Its number is its own: no other report's, and no more than were ever made here."""
    first = notice()
    second = retold(notice(), round="rnd_" + "c3" * 12).model_copy(update={"round_id": "rnd_" + "c3" * 12})
    device = bidder(ledger, first)
    ledger.keep_bid(bid_fields(second, BID, MARKET))
    made = [
        drawn(device, device.review(about, offer(about, bid_micros=BID), bid_there=bid_receipt(about, BID)), 1)
        for about in (first, second)
    ]
    device.take_receipt(second, report_receipt(made[1], ordinal=2))
    late = report_receipt(made[0], ordinal=ordinal)
    if taken:
        device.take_receipt(first, late)
    else:
        with pytest.raises(OfferRefused, match="counts your reports wrongly"):
            device.take_receipt(first, late)
    accepted = [report.accepted_at_ms is not None for report in ledger.account().reports()]
    assert accepted == [taken, True]


def test_an_honest_market_is_not_accused_where_another_device_of_hers_reported_meanwhile(ledger: Ledger) -> None:
    """The line broke after she drew, she reported elsewhere from her phone, and then sends: the market counts two."""
    about = notice()
    device = bidder(ledger, about)
    made = drawn(device, device.review(about, offer(about, bid_micros=BID), bid_there=bid_receipt(about, BID)), 1)
    meanwhile = r"or another device reported for you meanwhile \(it counts 2, and this device knows of 1\)"
    with pytest.raises(OfferRefused, match=meanwhile):
        device.take_receipt(about, report_receipt(made, ordinal=2))
    ledger.note("elsewhere", market=MARKET, reports=1)  # as she says at her next offer
    device.take_receipt(about, report_receipt(made, ordinal=2))
    assert [report.ordinal for report in ledger.account().reports()] == [2]


@pytest.mark.parametrize("seconds", [0, -(10**9), 2**31, 1e308, "60", True])
def test_terms_that_give_no_time_to_report_are_refused_when_she_bids(ledger: Ledger, seconds: object) -> None:
    about = retold(notice(state="open"), report_seconds=seconds)
    with pytest.raises(OfferRefused, match="the terms cannot be read"):
        Device(market=MARKET, ledger=ledger, checks=WITHOUT_DRAWS).bid(about, BID)
    assert ledger.account().bid(MARKET, about.round_id) is None


@pytest.mark.parametrize(("between", "taken"), [(False, True), (True, False)])
def test_a_report_that_was_drawn_first_may_arrive_last(ledger: Ledger, between: bool, taken: bool) -> None:
    """Only what was signed for before a report was drawn has certainly a lower number than it."""
    first = notice()
    second = retold(notice(), round="rnd_" + "c3" * 12).model_copy(update={"round_id": "rnd_" + "c3" * 12})
    device = bidder(ledger, first)
    ledger.keep_bid(bid_fields(second, BID, MARKET))
    ledger.note("elsewhere", market=MARKET, reports=1)

    def made(about: RoundNotice) -> StoredReport:
        told = offer(about, bid_micros=BID)
        return drawn(device, device.review(about, told, bid_there=bid_receipt(about, BID), counted=1), 1)

    one = made(first)
    if between:
        device.take_receipt(first, report_receipt(one, ordinal=2))
    other = made(second)
    if not between:
        device.take_receipt(first, report_receipt(one, ordinal=2))
    with nullcontext() if taken else pytest.raises(OfferRefused, match="counts your reports wrongly"):
        device.take_receipt(second, report_receipt(other, ordinal=1))
    assert [report.ordinal for report in ledger.account().reports()] == [2, int(taken)]
