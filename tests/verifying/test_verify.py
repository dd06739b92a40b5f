"""A record of an honest round agrees with itself; whatever a broker changes in it is caught, and named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

import pdqs
from pdqs.model.errors import PdqsError
from pdqs.rounds.canonical import written
from pdqs.rounds.commitments import pseudonym_of
from pdqs.verifying import OwnProof, RoundRecord, Verification, record_of, strict
from pdqs.verifying.figures import answer_figures, cleared
from pdqs.verifying.making import frozen_document, words_for
from pdqs.verifying.record import promise_in

from .rounds import NONCE, ROUND, SEED, Plain, asked_row, kept_by, plain, played

COUNT = pdqs.Terms(query=pdqs.Count("Do you like tea?"), budget=30.0)
HONEST = played(COUNT)


def broken(found: Verification) -> list[str]:
    return [each.name for each in found.findings if each.verdict == "does not agree"]


@pytest.mark.parametrize(
    "terms",
    [
        COUNT,
        pdqs.Terms(query=pdqs.Count(), budget=30.0, rule="optimal", estimator="weighted"),
        pdqs.Terms(query=pdqs.Histogram(pdqs.Domain.categories(["tea", "milk", "rum"])), budget=30.0),
        pdqs.Terms(query=pdqs.Median(pdqs.Domain.grid(0, 9, 1)), budget=30.0, epsilon_max=4.0),
        pdqs.Terms(query=pdqs.Count(), budget=0.001),
    ],
    ids=["lottery", "ladder", "histogram", "median", "no answer"],
)
@pytest.mark.parametrize("silent", [0, 2])
def test_an_honest_round_agrees_with_its_record(terms: pdqs.Terms, silent: int) -> None:
    record = played(terms, silent=silent)
    found = pdqs.verify(record.text())
    assert found.agrees, repr(found)
    assert {each.verdict for each in found.findings} == {"held"}
    assert [each.name for each in found.findings] == [
        "terms", "seed", "nonce", "bids", "draws", "offers", "reports", "answer", "payments", "totals",
    ]  # fmt: skip


def test_a_record_is_read_back_as_it_was_written() -> None:
    assert RoundRecord.read(HONEST.text()) == HONEST
    assert RoundRecord.read(json.dumps(plain(HONEST), indent=2)).hash == HONEST.hash


def drop_bid(told: Plain) -> None:
    del told["owners"][7]


def add_bid(told: Plain) -> None:
    made = {**told["owners"][7], "pseudonym": pseudonym_of(ROUND, "u_puppet").hex()}
    told["owners"] = sorted([*told["owners"], made], key=lambda row: str(row["pseudonym"]))


def change_bid(told: Plain) -> None:
    told["owners"][7]["bid_micros"] += 1


def change_draw(told: Plain) -> None:
    asked_row(told)["draw"] += 1


def change_offer(told: Plain) -> None:
    asked_row(told)["payment_micros"] -= 1


def change_chance(told: Plain) -> None:
    asked_row(told)["chance_numerator"] -= 1


def change_truth(told: Plain) -> None:
    asked_row(told)["q_numerator"] += 1


def change_posted(told: Plain) -> None:
    asked_row(told)["posted_micros"] += 1


def change_report(told: Plain) -> None:
    asked_row(told)["code"] ^= 1


def change_payment(told: Plain) -> None:
    asked_row(told)["paid_micros"] += 1


def change_answer(told: Plain) -> None:
    told["answer"]["values"][0] += 1.0


def change_interval(told: Plain) -> None:
    told["answer"]["interval"][0][0] += 1e-9


def hide_warnings(told: Plain) -> None:
    told["answer"]["warnings"] = [*told["answer"]["warnings"], "all is well"]


def change_terms(told: Plain) -> None:
    told["terms"] = told["terms"].replace('"budget":30.0', '"budget":31.0')


def other_seed(told: Plain) -> None:
    told["seed"] = hashlib.sha256(b"another").hexdigest()


def other_nonce(told: Plain) -> None:
    told["nonce"] = hashlib.sha256(b"another").hexdigest()


def other_root(told: Plain) -> None:
    told["bids_root"] = hashlib.sha256(b"another").hexdigest()


def keep_money(told: Plain) -> None:
    told["ledger"]["returned_micros"] -= 1


@pytest.mark.parametrize(
    ("forge", "names"),
    [
        (drop_bid, {"bids", "answer"}),
        (add_bid, {"bids", "draws"}),
        (change_bid, {"bids"}),
        (change_draw, {"draws"}),
        (change_offer, {"offers"}),
        (change_chance, {"offers"}),
        (change_truth, {"offers"}),
        (change_posted, {"offers"}),
        (change_report, {"reports", "answer"}),
        (change_payment, {"payments", "totals"}),
        (change_answer, {"answer"}),
        (change_interval, {"answer"}),
        (hide_warnings, {"answer"}),
        (change_terms, {"terms", "totals"}),
        (other_seed, {"seed", "draws"}),
        (other_nonce, {"nonce", "draws"}),
        (other_root, {"bids"}),
        (keep_money, {"totals"}),
    ],
)
def test_what_a_broker_changes_is_caught_and_named(forge: Callable[[Plain], None], names: set[str]) -> None:
    told = plain(HONEST)
    forge(told)
    found = pdqs.verify(told)
    assert not found.agrees
    assert names <= set(broken(found)), repr(found)


@pytest.mark.parametrize("forge", [change_draw, change_offer, change_payment])
def test_a_figure_changed_for_one_owner_is_laid_at_her_row(forge: Callable[[Plain], None]) -> None:
    told = plain(HONEST)
    forge(told)
    first = next(each for each in pdqs.verify(told).findings if each.verdict == "does not agree")
    assert first.owners == (asked_row(told)["pseudonym"],)
    assert f"for {first.owners[0][:12]}..." in first.told


def test_a_warning_that_is_only_worded_otherwise_is_said_to_be_that() -> None:
    told = plain(played(pdqs.Terms(query=pdqs.Count(), budget=2.0)))
    (reason,) = told["answer"]["warnings"]
    told["answer"]["warnings"] = [f"In the words of a year ago: {reason}"]
    (found,) = (each for each in pdqs.verify(told).findings if each.verdict == "does not agree")
    assert found.name == "answer"
    assert "all figures of the answer agree, and another version of pdqs" in found.told
    told["answer"]["warnings"] = []  # one that was left out is no matter of words
    (found,) = (each for each in pdqs.verify(told).findings if each.verdict == "does not agree")
    assert "another version" not in found.told


def test_a_changed_report_is_caught_even_where_there_is_no_answer() -> None:
    told = plain(played(pdqs.Terms(query=pdqs.Count(), budget=2.0)))
    assert told["answer"]["values"] == []
    change_report(told)
    assert broken(pdqs.verify(told)) == ["reports"]


def test_a_report_from_an_owner_who_was_not_asked_is_named() -> None:
    told = plain(HONEST)
    row = next(row for row in told["owners"] if row["q_numerator"] == 0)
    row["code"] = 1
    found = pdqs.verify(told)
    assert broken(found) == ["reports"]
    assert row["pseudonym"][:12] in repr(found)


def without_one(record: RoundRecord, pseudonym: str) -> RoundRecord:
    """The round as a thorough broker would write it up who drops a bid: everything made again without her."""
    rows = {bytes.fromhex(line.pseudonym): line for line in record.owners if line.pseudonym != pseudonym}
    bids = {name: line.bid_micros for name, line in rows.items()}
    return record_of(record.terms, SEED, NONCE, bids, lambda offers: [1 if q else None for q in offers.q])


def test_a_record_made_anew_without_a_bid_is_caught_by_the_root_that_was_kept_and_by_the_owners_proof() -> None:
    dropped = HONEST.owners[7].pseudonym
    forged = without_one(HONEST, dropped)
    assert pdqs.verify(forged).agrees, "by itself it holds together: that is why the root is published"
    assert broken(pdqs.verify(forged, root=HONEST.bids_root)) == ["root you kept"]
    assert broken(pdqs.verify(forged, proof=kept_by(HONEST, dropped))) == ["your bid"]
    assert pdqs.verify(HONEST, root=HONEST.bids_root, terms_hash=HONEST.terms_hash).agrees
    assert broken(pdqs.verify(HONEST, terms_hash=HONEST.bids_root)) == ["terms you kept"]


def test_an_owners_proof_agrees_with_an_honest_record_whether_she_was_asked_or_not() -> None:
    for line in HONEST.owners:
        found = pdqs.verify(HONEST, proof=kept_by(HONEST, line.pseudonym).text())
        assert found.agrees, repr(found)
        names = ["your bid", "your offer", "your question", "your report", "your receipt", "your payment"]
        assert [each.name for each in found.findings][-6:] == names
        if line.paid_micros:
            break


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"bid_micros": 1}, "your bid"),
        ({"place": 0}, "your bid"),
        ({"terms_hash": "0" * 64}, "your terms"),
        ({"chance_numerator": 5}, "your offer"),
        ({"payment_micros": 5}, "your offer"),
        ({"epsilon_nanos": 5}, "your question"),
        ({"code": 7}, "your report"),
        ({"paid_micros": 5}, "your payment"),
    ],
)
def test_what_the_record_says_otherwise_than_an_owners_device_is_named(change: Plain, name: str) -> None:
    who = asked_row(plain(HONEST))["pseudonym"]
    told = {**json.loads(kept_by(HONEST, who).text()), **change}
    assert broken(pdqs.verify(HONEST, proof=json.dumps(told)))[0] == name


def test_a_report_that_was_never_signed_for_is_called_neither_held_nor_false() -> None:
    """It may have been lost on its way there, or its receipt on the way back."""
    taken = next(line for line in HONEST.owners if line.code is not None)
    kept = replace(kept_by(HONEST, taken.pseudonym), code=None, paid_micros=None)
    dropped = {**plain(HONEST), "owners": [{**row} for row in plain(HONEST)["owners"]]}
    row = next(row for row in dropped["owners"] if row["pseudonym"] == taken.pseudonym)
    row["code"], row["paid_micros"] = None, 0
    for record, says in ((HONEST, "has one that yours cannot be held against"), (dropped, "has none")):
        found = {each.name: each for each in pdqs.verify(record, proof=kept).findings}
        assert {found[name].verdict for name in ("your report", "your payment")} == {"not checked"}
        told = f"your device drew one, the market never signed for it, and the record {says}"
        assert found["your report"].told == told


def test_who_drew_no_report_is_told_that_none_was_sent() -> None:
    silent = next(line for line in HONEST.owners if line.code is None)
    found = {each.name: each for each in pdqs.verify(HONEST, proof=kept_by(HONEST, silent.pseudonym)).findings}
    assert (found["your report"].verdict, found["your report"].told) == ("held", "your device sent none")


def test_a_small_record_of_a_huge_domain_holds_nobody_up() -> None:
    many = pdqs.Terms(query=pdqs.Histogram(pdqs.Domain.grid(0, 200_000, 1)), budget=10.0, question="bucket:8")
    with pytest.raises(PdqsError, match="at most 100,000 values"):
        promise_in(frozen_document("r_1", many, bytes(32), bytes(32)))


def test_an_owner_who_was_asked_for_more_or_about_another_side_than_the_record_says_finds_it() -> None:
    terms = pdqs.Terms(query=pdqs.Median(pdqs.Domain.grid(0, 100, 5)), budget=40.0, question="side", stages=3)
    record = played(terms, owners=90)
    who = next(line for line in record.owners if line.code is not None and line.stage == 2)
    kept = kept_by(record, who.pseudonym)
    assert pdqs.verify(record, proof=kept).agrees
    charged = kept.epsilon_nanos or 0
    for told, said in (
        (replace(kept, epsilon_nanos=charged + 1_000_000_000), "you were asked for epsilon"),
        (replace(kept, epsilon_nanos=charged - 1), "you were asked for epsilon"),
        (replace(kept, side=(who.side or 0) + 1), "you were asked in stage 2 whether it is at most"),
        (replace(kept, stage=1), "you were asked in stage 1"),
    ):
        found = pdqs.verify(record, proof=told.text())
        assert broken(found) == ["your question"]
        assert said in next(each.told for each in found.findings if each.name == "your question")


def test_a_proof_from_before_devices_kept_what_they_were_asked_for_is_read_and_leaves_that_open() -> None:
    who = asked_row(plain(HONEST))["pseudonym"]
    told = json.loads(kept_by(HONEST, who).text())
    since = ("epsilon_nanos", "stage", "side", "receipt")
    before = {name: value for name, value in told.items() if name not in since}
    text = json.dumps({**before, "format": "pdqs proof 1"})
    found = pdqs.verify(HONEST, proof=text)
    assert found.agrees
    verdicts = {each.name: each.verdict for each in found.findings}
    assert (verdicts["your question"], verdicts["your receipt"]) == ("not checked", "not checked")
    assert OwnProof.read(OwnProof.read(text).text()) == OwnProof.read(text)


def test_a_record_does_not_choose_how_sure_its_interval_is() -> None:
    names, bids = HONEST.names, HONEST.bid_micros
    made = cleared(bids, words_for(HONEST.seed, HONEST.nonce, names), COUNT)
    for level, share in ((0.01, 0.05), (0.95, 0.0), (0.999, 0.05)):
        figures = answer_figures(HONEST.codes, made.offers, COUNT, level=level, dishonest_share=share)
        assert broken(pdqs.verify(replace(HONEST, answer=figures))) == ["answer"]
    told = next(each.told for each in pdqs.verify(HONEST).findings if each.name == "answer")
    assert told.endswith("with an interval at level 0.95")


def test_a_round_that_its_terms_call_off_for_too_few_owners_does_not_agree() -> None:
    bids = {bytes.fromhex(line.pseudonym): line.bid_micros for line in HONEST.owners}
    for needed, wrong in ((len(bids), []), (len(bids) + 1, ["owners"])):
        document = written({**json.loads(HONEST.terms), "minimum_owners": needed})
        record = record_of(document, SEED, NONCE, bids, lambda _: HONEST.codes)
        assert broken(pdqs.verify(record)) == wrong


def test_a_round_that_its_terms_call_off_for_want_of_an_answer_does_not_agree() -> None:
    bids = {bytes.fromhex(line.pseudonym): line.bid_micros for line in HONEST.owners}
    document = json.loads(HONEST.terms)
    for budget, wrong in ((document["terms"]["budget"], []), (0.2, ["hope"])):
        said = {**document, "terms": {**document["terms"], "budget": budget}, "only_with_answer": True}
        record = record_of(written(said), SEED, NONCE, bids, lambda _: [None] * len(bids))
        assert broken(pdqs.verify(record)) == wrong


def test_a_report_that_a_thorough_broker_changed_is_seen_by_its_owner_alone() -> None:
    who = asked_row(plain(HONEST))["pseudonym"]
    bids = {bytes.fromhex(line.pseudonym): line.bid_micros for line in HONEST.owners}
    codes = [1 - line.code if line.pseudonym == who and line.code is not None else line.code for line in HONEST.owners]
    forged = record_of(HONEST.terms, SEED, NONCE, bids, lambda _: codes)
    assert pdqs.verify(forged).agrees
    assert any("only she can tell" in note for note in pdqs.verify(forged).notes())
    assert broken(pdqs.verify(forged, proof=kept_by(HONEST, who))) == ["your report"]


def test_what_a_record_cannot_show_is_said() -> None:
    by_itself, with_root = pdqs.verify(HONEST), pdqs.verify(HONEST, root=HONEST.bids_root)
    assert any("names of its own" in note for note in by_itself.notes())
    assert any("--root" in note for note in by_itself.notes())
    assert not any("--root" in note for note in with_root.notes())
    assert by_itself.to_dict()["agrees"] is True


def test_bids_outside_their_range_leave_the_rest_unchecked() -> None:
    told = plain(HONEST)
    told["owners"][0]["bid_micros"] = 5_000_000
    found = pdqs.verify(told)
    assert {"bids", "offers"} <= set(broken(found))
    assert {each.name: each.verdict for each in found.findings}["draws"] == "held"
    assert [each.name for each in found.findings if each.verdict == "not checked"] == ["reports", "answer", "payments"]


@pytest.mark.parametrize("step", [1e154, 1e300])
def test_values_beyond_all_numbers_are_told_and_end_in_no_error(step: float) -> None:
    told = plain(played(pdqs.Terms(query=pdqs.Mean(pdqs.Domain.grid(0, 100, 5)), budget=30.0, question="level")))
    document = json.loads(told["terms"])
    document["terms"]["query"]["domain"]["step"] = step
    told |= {"terms": written(document), "terms_hash": hashlib.sha256(written(document).encode()).hexdigest()}
    found = pdqs.verify(told)
    assert broken(found) == ["answer"]
    assert next(each.told for each in found.findings if each.name == "answer") == "its values are beyond all numbers"


def test_prices_below_all_numbers_are_told_too() -> None:
    told = plain(played(pdqs.Terms(query=pdqs.Count(), budget=30.0, rule="flat", estimator="weighted")))
    told["owners"] = [row | {"bid_micros": 0} for row in told["owners"]]
    prior = {"is": "Uniform", "low": 5e-324, "high": 3.0}
    found = pdqs.verify(under(json.dumps(told), bid_range=[0.0, 5e-324], epsilon_max=1.0, prior=prior))
    offers = next(each.told for each in found.findings if each.name == "offers")
    assert offers == "the offers cannot be made again: its values are beyond all numbers"


def cut(text: str) -> str:
    return text[: len(text) // 2]


def swapped(name: str, value: object) -> Callable[[str], str]:
    def change(text: str) -> str:
        told = json.loads(text)
        told[name] = value
        return json.dumps(told)

    change.__name__ = f"{name}={str(value)[:12]}"
    return change


def owner_with(name: str, value: object) -> Callable[[str], str]:
    def change(text: str) -> str:
        told = json.loads(text)
        told["owners"][3][name] = value
        return json.dumps(told)

    change.__name__ = f"owner {name}={str(value)[:12]}"
    return change


def twice(text: str) -> str:
    told = json.loads(text)
    told["owners"].insert(3, told["owners"][3])
    return json.dumps(told)


def disordered(text: str) -> str:
    told = json.loads(text)
    told["owners"].reverse()
    return json.dumps(told)


def nested(_: str) -> str:
    return "[" * 200_000


def field_twice(text: str) -> str:
    return text[:-1] + ',"seed":"' + "0" * 64 + '"}'


def endless_number(text: str) -> str:
    return text.replace('"draw":', '"draw":' + "9" * 5000, 1)


def no_domain(text: str) -> str:
    told = json.loads(text)
    told["terms"] = told["terms"].replace('"is":"count"', '"is":"tally"')
    return json.dumps(told)


def under(text: str, **terms: object) -> str:
    told = json.loads(text)
    document = json.loads(told["terms"])
    document["terms"] |= terms
    told["terms"] = written(document)
    return json.dumps(told)


def unpriced(text: str) -> str:
    """Terms that the core knows, under a rule whose prices it cannot work out."""
    return under(text, rule="optimal", contract="on-selection", epsilon_max=0.1)


def beyond_all_numbers(text: str) -> str:
    """What comes of it is no number, of which the library has a line of its own to say."""
    prior = {"is": "TruncatedNormal", "mean": 1.7e308, "sd": 0.1, "low": 0.0, "high": 1.0}
    return under(text, rule="optimal", estimator="weighted", prior=prior)


@pytest.mark.parametrize(
    "spoil",
    [
        cut,
        twice,
        unpriced,
        beyond_all_numbers,
        disordered,
        nested,
        field_twice,
        endless_number,
        no_domain,
        lambda _: "",
        lambda _: "[]",
        lambda _: "null",
        lambda _: '"\\ud800"',
        swapped("format", "pdqs record 2"),
        swapped("owners", {}),
        swapped("owners", [1]),
        swapped("seed", "00"),
        swapped("seed", "G" * 64),
        swapped("software", "\ud800"),
        swapped("terms", "{}"),
        swapped("terms", "[]"),
        swapped("terms", "no"),
        swapped("surprise", 1),
        swapped("answer", None),
        swapped("answer", float("nan")),
        swapped("ledger", {"escrow_micros": 1}),
        owner_with("bid_micros", 1.0),
        owner_with("bid_micros", "1"),
        owner_with("bid_micros", True),
        owner_with("bid_micros", -1),
        owner_with("bid_micros", None),
        owner_with("bid_micros", 10**40),
        owner_with("bid_micros", float("nan")),
        owner_with("paid_micros", float("inf")),
        owner_with("draw", 2**32),
        owner_with("chance_numerator", 2**32 + 1),
        owner_with("code", 2**31),
        owner_with("surprise", 1),
    ],
    ids=lambda spoil: spoil.__name__,
)
def test_what_is_no_record_is_refused_with_one_sentence(spoil: Callable[[str], str]) -> None:
    with pytest.raises(PdqsError) as told:
        pdqs.verify(spoil(HONEST.text()))
    sentence = str(told.value)
    assert "\n" not in sentence
    assert 10 < len(sentence) < 200


def test_looking_for_a_name_that_comes_twice_looks_at_each_name_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0

    class Name(str):
        __slots__ = ()

        def __hash__(self) -> int:
            nonlocal looked_at
            looked_at += 1
            return super().__hash__()

    def loaded(_text: str, *, object_pairs_hook: Callable[[list[tuple[str, int]]], object], **_: object) -> object:
        return object_pairs_hook([(Name(i), 0) for i in (*range(300), 299)])

    monkeypatch.setattr(json, "loads", loaded)
    with pytest.raises(PdqsError, match="says '299' twice in one place"):
        strict.parsed("", "the record")
    assert looked_at < 5 * 300


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "pdqs proof 4"}'])
def test_what_is_no_proof_is_refused_with_one_sentence(text: str) -> None:
    with pytest.raises(PdqsError, match="the proof"):
        pdqs.verify(HONEST, proof=text)


def test_a_root_that_is_none_is_refused() -> None:
    with pytest.raises(PdqsError, match="the root to compare with must be 64 digits"):
        pdqs.verify(HONEST, root="abc")


def redocumented(told: Plain, change: Callable[[Plain], None]) -> Plain:
    """A record with another frozen document, whose hash is made to fit."""
    document = json.loads(told["terms"])
    change(document)
    text = written(document)
    return {**told, "terms": text, "terms_hash": hashlib.sha256(text.encode()).hexdigest()}


def test_an_answer_that_is_no_number_is_told_as_such_and_no_fault() -> None:
    grid = played(pdqs.Terms(query=pdqs.Mean(pdqs.Domain.grid(0, 20, 1)), budget=30.0))

    def far(document: Plain) -> None:
        document["terms"]["query"]["domain"]["start"] = 1e308

    found = pdqs.verify(redocumented(plain(grid), far))
    assert {each.name: each.told for each in found.findings}["answer"] == "an answer that is not a number"
    assert "answer" in broken(found)


def test_to_the_last_bit_means_the_sign_of_nothing_too() -> None:
    told = plain(played(pdqs.Terms(query=pdqs.Count(), budget=0.001)))
    assert told["answer"]["information"] == 0.0
    told["answer"]["information"] = -0.0
    assert broken(pdqs.verify(json.dumps(told))) == ["answer"]


@pytest.mark.parametrize("name", ["nonce_by", "record"])
@pytest.mark.parametrize("word", ["MARKET", "", "market ", None, ["market"], 1])
def test_words_that_nobody_knows_are_refused_in_frozen_documents(name: str, word: object) -> None:
    told = redocumented(plain(HONEST), lambda document: document.update({name: word}))
    with pytest.raises(PdqsError, match=f"the frozen document, '{name}' must be '"):
        pdqs.verify(told)


@pytest.mark.parametrize("word", [1, "true", None, []])
def test_whether_a_round_needs_hope_of_an_answer_is_yes_or_no(word: object) -> None:
    told = redocumented(plain(HONEST), lambda document: document.update(only_with_answer=word))
    with pytest.raises(PdqsError, match="the frozen document, 'only_with_answer' must be true or false"):
        pdqs.verify(told)


def test_hope_is_not_forgotten_where_the_offers_cannot_be_made_again() -> None:
    told = redocumented(plain(HONEST), lambda document: document.update(only_with_answer=True))
    told["owners"][0]["bid_micros"] = 5_000_000
    assert {each.name: each.verdict for each in pdqs.verify(told).findings}["hope"] == "not checked"


@pytest.mark.parametrize(
    ("by", "caveat"), [("market", "the market drew"), (None, "do not say who drew"), ("consumer", "")]
)
def test_who_may_have_known_the_draws_is_said_unless_the_consumer_drew_the_nonce(by: str | None, caveat: str) -> None:
    told = redocumented(plain(HONEST), lambda document: document.update({} if by is None else {"nonce_by": by}))
    notes = [note for note in pdqs.verify(told).notes() if "knew the draws" in note]
    assert [caveat in note for note in notes] == ([True] if caveat else [])
