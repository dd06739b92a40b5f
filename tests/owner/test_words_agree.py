"""Both devices fold words alike, and take the same spelling of a document for the one that it has."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pdqs
from owner.hostile.market import honest_document
from owner.node import mutant, twin
from pdqs.model.errors import PdqsError
from pdqs.model.names import RuleName
from pdqs.owner.words import plain_words, seen
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
