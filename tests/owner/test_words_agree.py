"""Both devices fold words alike, and take the same spelling of a document for the one that it has."""

from __future__ import annotations

import itertools
import json
import re
import struct
import sys
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pdqs
from owner.hostile.market import honest_document
from owner.node import mutant, twin
from pdqs.model import looks
from pdqs.model.errors import PdqsError
from pdqs.model.looks import fault_of_labels, is_turned, seen
from pdqs.model.names import RuleName
from pdqs.owner.words import plain_words
from pdqs.rounds.canonical import written

FIGURES = (0.0, -0.0, 1.0, 100.0, 0.1, 1e-4, 9.99e-5, 1e-5, 1.5e15, 1e16, 1.25e16, 1e21, 1e22, 5e-324, 1.7e308, -2.5)
TEXTS = (
    "What do you drink?",
    "Wh\u0430t d\u043e y\u03bfu \uff44r\u0456nk\u3164?",
    "Caf\u00e9 \u2014 STRASSE, \u0130stanbul, \ufb01n \u00b2",
    "cafe\u0301",
    "\u0427\u0442\u043e \u0432\u044b \u043f\u044c\u0451\u0442\u0435?",
    "\u4f60\u597d \U0001f600 \ud55c\uad6d",
    "l0 1I",
    " two\u00a0 words\u200b ",
)


def some_floats(count: int) -> list[float]:
    """Any bits that make a finite number."""
    words = np.random.default_rng(5).integers(0, 2**64, count, dtype=np.uint64, endpoint=False)
    floats = [struct.unpack("<d", int(word).to_bytes(8, "little"))[0] for word in words]
    return [x for x in floats if x == x and abs(x) != float("inf")]


GOOD = [
    *(
        written({"x": x})
        for x in (*FIGURES, *some_floats(400), *np.random.default_rng(6).uniform(0, 1e4, 200).tolist())
    ),
    *(written({"x": n}) for n in (0, -1, 2**53, 10**30)),
    *(written({"x": text, text: [True, None, {"a": {}}]}) for text in (*TEXTS, '"\\/\b\f\n\r\t\x00\x7f\u2028')),
]
BAD = [
    *(f'{{"x":{number}}}' for number in ("-0", "1.00", "1e2", "1E+16", "1e16", "01", "1.", "0.10")),
    *('{"x":"\\u0061"}', '{"x":"\\/"}', '{"x":"\u00e9"}', '{"x":"\\u00E9"}', '{"x":"\\u000a"}', '{"x":"\x7f"}'),
    '{"x":12300000000000000.0}',
    *('{"a":1,"a":1}', '{"a":1,"\\u0061":1}', '{"b":1,"a":1}', '{"a": 1}', '{"a":NaN}', '{"a":1}\n'),
]  # fmt: skip


def test_both_fold_words_alike_and_know_how_a_document_is_written() -> None:
    found = twin(script="words_twin.mjs", texts=TEXTS, documents=[*GOOD, *BAD])
    assert found["words"] == [plain_words(text) for text in TEXTS]
    assert found["seen"] == [seen(text) for text in TEXTS]
    assert found["words"][0] == found["words"][1]
    assert found["words"][2][:4] == found["words"][3]
    wrong = [text for text, good in zip(GOOD, found["canonical"], strict=False) if not good]
    taken = [text for text, good in zip(BAD, found["canonical"][len(GOOD) :], strict=True) if good]
    assert (wrong, taken) == ([], [])
    assert all(written(json.loads(text)) == text for text in GOOD)


SAME = (
    ["Tea", "\u0422ea"], ["HIV", "\u041d\u0406V"], ["Aids", "\u0391ids"], ["mint", "m\u0456nt"], ["al\u04cf", "all"],
    ["caf\u00e9", "\u0441af\u0435\u0301"], ["no", "n\u0585"], ["1-5", "1\u20135"], ["tea", " tea"], ["10", "1O\u200b"],
    ["\u00b2", "2"], [" \u00b2\u00b3", "23"], ["10\u00b2", "10\u200b\u00b2"], ["t\u04bda", "tea"],
    ["\u03b1 I", "\u03b1 1"],
    ["\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
     "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"],
    ["x" * 40, "x" * 40 + "\u200f"], ["\u0131", "\u0131\u200b"], ["Ann\u00e9e I", "Anne\u0301e I"],
    ["10\u00b9", "10\u02e1"], ["10\u00b9", "10\u1d35"], ["x\u2081", "x\u2097"], ["10\u2070", "10\u1d3c"],
    ["10\u00ba", "10\u2070"], ["10\u00b0", "10\u2070"], ["10\u02da", "10\u00ba"], ["x\u2080", "x\u2092"],
    ["Tea\u2122", "Tea\u1d40\u1d39"], ["a\u1d52b", "a\u00bab"],
    ["3 \u0447\u0430\u0441\u0430", "\u04e0 \u0447\u0430\u0441\u0430"], ["3", "\u04e0"], ["\u0417", "3"],
    ["pace", "\u0440\u0430\u0441\u04bd"], ["\u0440\u0430\u0441\u04bd", "pace"], ["\u0440\u212e", "\u0440\u04bd"],
    ["\u0430\u04bd I", "\u0430\u0435 1"], ["\u041e\u04c0", "\u041e1"],
    ["\ue000", "\uf8ff"], ["\u30ab", "\u529b"], ["l", "\u0406"], ["\u03f2at", "cat"], ["\u2160", "I"],
)  # fmt: skip
BLANK = (["tea", "\u200b"], ["tea", "\u00a0"], ["tea", "\u2800\u3164"], ["tea", "\ufe0f"])
APART = (
    ["I", "l", "1", "|", "O", "0", "o"], ["CO\u2082", "CO", "H\u2082O"], ["\u03b1-blocker", "\u03b2-blocker", "none"],
    ["\u0434\u0430", "\u043d\u0435\u0442", "\u041d\u0435\u0442"], ["s\u0131n\u0131r", "sinir"],
    ["Stra\xdfe", "Strasse"], ["\u304a\u8336", "\u30b3\u30fc\u30d2\u30fc", "\u7d05\u8336\u30c6\u30a3\u30fc", "Tea"],
    ["\ucee4\ud53c", "\ucc28", "\uc5c6\uc74c"], ["\u05d3\u05d9\u05df", "\u05d3\u05d9\u05d5"],
    ["\u0443\u0441", "\u04af\u0441"], ["\u0634\u0627\u064a", "\u0642\u0647\u0648\u0629", "\u0645\u0627\u0621"],
    ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f468"], ["cafe", "caf\xe9"], ["m", "M"],
    ["1-5", "6-10", "11-15"], ["10\u00b2", "102", "10\u2082"], ["CO\u2082", "CO2"], ["m\u00b2", "m\u00b3", "m2"],
    ["\u0430\u0435", "\u0430\u04bd"], ["\u04e0\u0430", "\u0417\u0430"], ["3 \u04bd", "3 \u0435", "1\u02e1", "1l"],
    ["1\u1d49", "1e"], ["10\u00b0", "100", "10o"], ["1\u00ba", "1\u00aa"], ["10\u1d49", "10\u2091", "10\u00b2"],
    ["Ann\u00e9e I", "Ann\u00e9e 1", "Ann\u00e9e l"],
    ["\u0141\u00f3d\u017a 0", "\u0141\u00f3d\u017a O"], ["\U0001f1eb\U0001f1f7", "\U0001f1e9\U0001f1ea"],
)  # fmt: skip


def test_both_say_alike_which_answers_look_the_same_and_have_nothing_against_honest_ones() -> None:
    lists = [*SAME, *BLANK, *APART]
    found = twin(script="words_twin.mjs", texts=[], documents=[], lists=lists)["faults"]
    here = [fault_of_labels(labels) for labels in lists]
    same, blank = r"answers 1 and 2 \(“.+” and “.+”\) look the same, ", "answer 2 shows nothing, "
    expected = [same] * len(SAME) + [blank] * len(BLANK)
    for labels, said, fault in zip(lists, expected, here, strict=False):
        assert re.match(said, fault), labels
        assert len(fault) < 160
        assert not is_turned(fault)
    assert here[len(expected) :] == [""] * len(APART)
    assert found == [f"{fault[0].upper()}{fault[1:]}." if fault else None for fault in here]


def test_both_see_every_letter_alike_and_nothing_where_nothing_is_shown() -> None:
    """Of all that the older of the two knows: what it does not know yet it cannot take apart."""
    known = [chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) not in ("Cn", "Cs", "Cc")]
    texts = [f"a{letter}b" for letter in known]
    found = twin(script="words_twin.mjs", texts=texts, documents=[])
    assert found["tables"] == [*TABLES]
    assert [text for text, there in zip(texts, found["seen"], strict=True) if seen(text) != there] == []
    assert len(found["ignorable"]) > 4000
    assert {seen(f"a{chr(n)}b") for n in found["ignorable"]} == {"ab"}
    assert all(is_turned(letter) for letter in known if unicodedata.bidirectional(letter) in TURNING)
    words = [text for text, there in zip(texts, found["words"], strict=True) if plain_words(text) != there]
    assert len(words) < 20


TABLES = (looks.LOOKALIKES, looks.UNSEEN, looks.TURNING, looks.RAISED, looks.LOWERED, looks.CYRILLIC_APART)


@pytest.mark.parametrize(
    ("table", "form"), [(looks.RAISED, "<super>"), (looks.LOWERED, "<sub>")], ids=["above", "below"]
)
def test_every_sign_off_the_line_is_known(table: str, form: str) -> None:
    letters = [chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) != "Cn"]
    here = {letter for letter in letters if unicodedata.decomposition(letter).startswith(form)}
    assert {letter for letter in letters if re.match(f"[{table}]", letter)} == here


def codes(count: int) -> list[str]:
    """Labels that are told apart, and look much like one another."""
    return ["".join(each) for each in itertools.islice(itertools.product("Il1|", repeat=6), count)]


def steps_over(labels: list[str]) -> int:
    """How many calls are made while a list is looked at."""
    count = 0

    def counted(*_what: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(counted)
    try:
        fault_of_labels(labels)
    finally:
        sys.setprofile(None)
    return count


def test_twice_as_many_labels_that_look_much_alike_are_twice_the_work() -> None:
    few, many = codes(200), codes(400)
    there = twin(script="words_twin.mjs", texts=[], documents=[], lists=[few, many])["normalised"]
    for one, two in ([steps_over(few), steps_over(many)], there):
        assert 200 < two <= 2.1 * one


TURNING = ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI")


def test_a_device_that_does_not_look_at_spelling_is_caught(tmp_path: Path) -> None:
    weak = mutant(tmp_path, "messages.mjs", "!tokens.every(isSpelled)", "tokens.some((token) => /^\\s/.test(token))")
    found = twin(weak, script="words_twin.mjs", texts=[], documents=BAD)
    assert sum(found["canonical"]) > len(BAD) / 2


def test_terms_under_a_rule_that_nobody_knows_are_not_read(tmp_path: Path) -> None:
    """A lottery by another name would be one whose draws nobody looks at."""
    known, unknown = honest_document(), honest_document()
    unknown["terms"]["rule"] = "Lottery"
    asked: dict[str, Any] = {"texts": [], "documents": [written(known), written(unknown)]}
    found = twin(script="words_twin.mjs", **asked)
    assert found["read"] == [True, False]
    assert found["rules"] == list(RuleName)
    weak = mutant(tmp_path, "reading.mjs", "need(RULES.includes(rule) && ", "need(")
    assert twin(weak, script="words_twin.mjs", **asked)["read"] == [True, True]
    with pytest.raises(PdqsError):
        pdqs.Terms.read(unknown["terms"])
