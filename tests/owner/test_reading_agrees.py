"""Both devices take the same frozen documents and refuse the same: hundreds of changed ones, by a seed."""

from __future__ import annotations

import copy
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import pdqs
from owner.hostile.market import canonical, honest_document
from owner.node import BROWSER, mutant, twin
from pdqs.model.errors import PdqsError
from pdqs.owner import reading, told
from pdqs.owner.errors import OfferRefused
from pdqs.owner.reading import MOST_DEEP
from pdqs.owner.told import promise_of
from pdqs.protocol.device_messages import RoundNotice

GRID = pdqs.Domain.grid(0, 100, 5)
TERMS = (
    pdqs.Terms(query=pdqs.Count("Are you well?"), budget=20.0),
    pdqs.Terms(query=pdqs.Median(GRID, "What is your income?"), budget=100.0, question="side"),
    pdqs.Terms(query=pdqs.Median(GRID), budget=100.0, question="side:20:40", stages=1),
    pdqs.Terms(query=pdqs.Quantile(GRID, 0.9), budget=100.0, question="value", rule="optimal", estimator="weighted"),
    pdqs.Terms(query=pdqs.Mean(GRID), budget=100.0, question="level:5", epsilon_max=1.25),
    pdqs.Terms(query=pdqs.Histogram(GRID), budget=100.0, question="bucket:4", bid_range=(0.25, 2.5)),
    pdqs.Terms(query=pdqs.Histogram(pdqs.Domain.categories(["tea", "caf\u00e9"])), budget=7.0, rule="linear"),
)
NUMBERS = (0, 1, 2, 3, 8, 9, -1, 0.0, -0.0, 1.0, 2.0, 5.0, 0.5, 20.0, 20.5, 1e-9, 1e-5, 0.000_000_5, 1e12, 2e12, 1e300)
LARGE = (60.0, 10_000, 10_001, 2**31 - 1, 2**31, 2**53 - 1, 2**53, -(2**53), 10**30)
NAMES = (
    "value",
    "level",
    "side",
    "bucket",
    "auto",
    "optimal",
    "flat",
    "lottery",
    "Lottery",
    "open",
    "ladder",
    "greedy",
)
MORE = (
    "on-selection",
    "naive",
    "shrunk",
    "weighted",
    "count",
    "mean",
    "median",
    "histogram",
    "quantile",
    "grid",
    "binary",
)
TEXTS = ("", "a", "x" * 81, "\u202e", "\U0001f600", "ab" * 32, "Terms", "Prior", "categories")
LOTTERY = {"is": "lottery", "prior": None}
THINGS: tuple[Any, ...] = (
    None, True, False, [], {}, ["a"], ["a", "b"], [1, 2], [1, "1"], [0.0, 1.0], [0.0, 1.0, 2.0], [5.0, 0.0], [0.5, 1.0],
    [1.0, 1.0], [20.0, 40.0], [20.0, 41.0], [20.0, 40.000001], LOTTERY, {"is": "linear"},
    {"a": 1}, {"is": "Uniform", "low": 0.0, "high": 1.0}, {"is": "side", "codes": 2, "stages": 1}, {"is": "value"},
)  # fmt: skip
VALUES = (*NUMBERS, *LARGE, *NAMES, *MORE, *TEXTS, *THINGS)
KEYS = (
    "question",
    "prior",
    "zzz",
    "is",
    "kind",
    "guess",
    "p",
    "domain",
    "text",
    "\uff5e",
    "\U0001f600",
    "groups",
    "use",
)


def paths(held: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    parts = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    return [here, *(path for name, part in parts for path in paths(part, (*here, name)))]


def changed(document: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """One place of a document said otherwise, left out, or said beside the others."""
    found: Any = copy.deepcopy(document)
    *way, last = chance.choice(paths(document)[1:])
    place: Any = found
    for name in way:
        place = place[name]
    match chance.randrange(8):
        case 0:
            del place[last]
        case 1 if isinstance(place, dict):
            place[chance.choice(KEYS)] = chance.choice(VALUES)
        case 2 if isinstance(place[last], int | float):
            place[last] = float(place[last]) if isinstance(place[last], int) else round(place[last])
        case _:
            place[last] = chance.choice(VALUES)
    return dict(found)


def misspelled(text: str, chance: random.Random) -> str:
    """One sign of a text left out, or another put in."""
    place, sign = chance.randrange(len(text)), chance.choice(' "{}[]:,0.1e-\\n\u00a0')
    return text[:place] + sign * chance.randrange(2) + text[place + chance.randrange(2) :]


def otherwise(base: dict[str, Any], **terms: Any) -> dict[str, Any]:
    return {**base, "terms": {**base["terms"], **terms}}


@cache
def documents(count: int = 300) -> list[str]:
    chance = random.Random(13)
    bases = [{**honest_document(), "terms": json.loads(terms.canonical())} for terms in TERMS]
    bases += [
        {**bases[0], "groups": ["night shift"], "purpose": "health", "use": "a report"},
        bases[0] | {"later": [1.5]},
    ]
    made = [canonical(base) for base in bases]
    for _ in range(count):
        twice = changed(changed(chance.choice(bases), chance), chance)
        made += [canonical(changed(chance.choice(bases), chance)), canonical(twice)]
        made.append(misspelled(chance.choice(made[: len(bases)]), chance))
    by_levels = {"is": "level", "codes": 3, "stages": 1}
    made += [canonical(otherwise(base, question=by_levels)) for base in bases]
    made += [canonical(otherwise(base, rule=LOTTERY)) for base in bases]
    made += [canonical(otherwise(base, clearing="open", contract=word)) for base in bases for word in MORE[:1]]
    guessed = bases[2]["terms"]["question"]
    made += [canonical(otherwise(bases[2], question={**guessed, "guess": guess})) for guess in THINGS]
    made += [canonical({**bases[0], "receipt_form": form}) for form in VALUES]
    nested = [made[0][:-1] + ',"z":' + "[" * deep + "]" * deep + "}" for deep in (MOST_DEEP - 1, MOST_DEEP, 100_000)]
    halves = [
        made[0].replace('"Are you well?"', f'"{half}"') for half in ("\\ud800", "\\ud83d\\ude00", "\\ude00\\ud83d")
    ]
    keys = [made[0][:-1] + f',"z{one}":1,"z{two}":2}}' for one, two in (KEYS[10:12], KEYS[11:9:-1])]
    escaped = [
        text.encode("ascii", "backslashreplace").decode().replace("\\U0001f600", "\\ud83d\\ude00") for text in keys
    ]
    digits = [made[0][:-1] + f',"z":{"1" * many}}}' for many in (15, 16, 17, 5000)]
    return [
        *made,
        *nested,
        *halves,
        *escaped,
        *digits,
        "",
        "7",
        "[]",
        "null",
        '"a"',
        "\ufeff" + made[0],
        made[0] + "\n",
    ]


def taken(text: str) -> bool:
    try:
        return promise_of(RoundNotice.model_construct(terms=text, round_id="rnd")).is_canonical
    except PdqsError:
        return False


def in_the_browser(modules: Path = BROWSER) -> list[bool]:
    found = twin(modules, script="words_twin.mjs", texts=[], documents=documents())
    return [read and spelled for read, spelled in zip(found["read"], found["canonical"], strict=True)]


@pytest.fixture(scope="module")
def here() -> list[bool]:
    return [taken(text) for text in documents()]


def test_both_take_the_same_documents_and_refuse_the_same(here: list[bool]) -> None:
    there = in_the_browser()
    differ = [(text, one) for text, one, other in zip(documents(), here, there, strict=True) if one != other]
    assert not differ
    assert all(here[: len(TERMS) + 2])
    assert len(here) > 900
    assert len(here) / 12 < sum(here) < len(here) / 2


REAL = 'const isReal = (held) => typeof held === "number"'
MISTAKES = {
    "a rule that is no name": ("need(RULES.includes(rule) && ", "need("),
    "a field beside the others": ("Object.keys(held).length === names.length && ", ""),
    "a whole number for another": (REAL, REAL.replace("typeof held", "typeof Number(held)")),
    "a question that does not serve the query": ("SERVES[is].includes(plain.is)", "plain.is"),
    "any guess": (" && isGuess(guess, domain)", ""),
    "any form of receipts": ("isWhole(document.receipt_form, 1, MOST_RECEIPT_FORM)", "true"),
    "any nesting": ("need(deep <= MOST_DEEP)", "need(true)"),
    "a seed that is no text": ("every((name) => isTextOrNone(document[name]))", "every(() => true)"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_reader_that_is_less_strict_is_caught(mistake: str, tmp_path: Path, here: list[bool]) -> None:
    module = "json.mjs" if "nesting" in mistake else "reading.mjs"
    assert in_the_browser(mutant(tmp_path, module, *MISTAKES[mistake])) != here


def test_whether_lots_are_drawn_hangs_on_what_the_rule_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lottery spelled as an object is refused; were it read, its draws would be looked at all the same."""
    text = canonical(otherwise(honest_document(), rule=LOTTERY))
    assert not taken(text)
    monkeypatch.setattr(reading, "_refuse_other_terms", lambda _terms: None)
    told._promised.cache_clear()
    found = promise_of(RoundNotice.model_construct(terms=text, round_id="rnd"))
    told._promised.cache_clear()
    assert found.by_lot


def test_answers_that_cannot_be_shown_are_refused_in_a_sentence() -> None:
    for labels in (["x" * 81, "1", "3"], ["x\u202e", "1", "3"], [1, "1", 3], [1, 2, 3], ["", "1", "3"]):
        document = honest_document()
        document["terms"]["query"]["domain"].update(labels=labels)
        with pytest.raises(OfferRefused, match=r"rnd: the terms cannot be read \([a-z' ,0-9:]+\)$"):
            promise_of(RoundNotice.model_construct(terms=canonical(document), round_id="rnd"))
