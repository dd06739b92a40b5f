"""Python and JavaScript draw the same reports from the same words, and both match the exact enumeration."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.model.arrays import Words
from pdqs.model.questions import Value
from pdqs.owner import price
from pdqs.owner.review import draw_code
from pdqs.privacy.loss import epsilon_nanos
from pdqs.privacy.randomiser import dice_limit, draw_reports

from .node import mutant, twin

VECTORS = Path(__file__).parents[1] / "vectors" / "randomiser.json"


class Replay:
    """Entropy that gives known words and counts them."""

    def __init__(self, words: list[int]) -> None:
        self.left = list(words)
        self.used = 0

    def words(self, count: int) -> Words:
        self.used += count
        taken, self.left = self.left[:count], self.left[count:]
        return np.array(taken, dtype=np.uint32)


@pytest.fixture(scope="module")
def vectors() -> dict[str, Any]:
    return dict(json.loads(VECTORS.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def in_javascript(vectors: dict[str, Any]) -> dict[str, Any]:
    return twin(reports=vectors["reports"], epsilons=vectors["epsilons"], prices=vectors["prices"])


def makers_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_vectors", VECTORS.with_name("make_vectors.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def expected(vectors: dict[str, Any]) -> list[list[int]]:
    return [[case["report"], case["words_used"]] for case in vectors["reports"]]


def python_reports(vectors: dict[str, Any]) -> list[list[int]]:
    found = []
    for case in vectors["reports"]:
        entropy = Replay(case["words"])
        asked = Value(pdqs.Domain.grid(0, case["domain_size"] - 1, 1))
        report = draw_code(asked, np.array([case["code"]]), case["numerator"], entropy)
        found.append([report, entropy.used])
    return found


def test_the_vectors_are_those_that_the_script_makes() -> None:
    script = makers_script()
    assert VECTORS.read_text(encoding="utf-8") == script.text_of(script.vectors())


def test_the_vectors_cover_refused_dice_edge_coins_and_every_small_domain(vectors: dict[str, Any]) -> None:
    cases = vectors["reports"]
    assert {case["domain_size"] for case in cases} >= set(range(2, 65)) | {2**31}
    assert {case["numerator"] for case in cases} >= {0, 1, 2**31, 2**32 - 1}
    assert {case["words_used"] for case in cases} == {2, 3, 4, 5}


def test_python_draws_every_vector(vectors: dict[str, Any]) -> None:
    assert python_reports(vectors) == expected(vectors)


def test_javascript_draws_every_vector(vectors: dict[str, Any], in_javascript: dict[str, Any]) -> None:
    assert in_javascript["reports"] == expected(vectors)


def test_both_agree_on_epsilon_and_round_it_up(vectors: dict[str, Any], in_javascript: dict[str, Any]) -> None:
    for case, (epsilon, nanos) in zip(vectors["epsilons"], in_javascript["epsilons"], strict=True):
        ours = price.epsilon_of(case["numerator"], case["domain_size"])
        assert ours == pytest.approx(case["epsilon"], rel=1e-14)
        assert epsilon == pytest.approx(case["epsilon"], rel=1e-14)
        assert nanos == epsilon_nanos(case["numerator"], case["domain_size"]) == case["nanos"]


def test_both_refuse_a_payment_one_micro_unit_short_and_take_the_least_fair_one(
    vectors: dict[str, Any], in_javascript: dict[str, Any]
) -> None:
    fair = [case["fair"] for case in vectors["prices"]]
    fields = ("bid_micros", "numerator", "domain_size", "payment_micros")
    assert [price.is_fair(*(case[field] for field in fields)) for case in vectors["prices"]] == fair
    assert in_javascript["prices"] == fair
    assert fair.count(True) >= 40
    assert fair.count(False) >= 40


# --- exact enumeration at reduced width -------------------------------------------------------------------------


def reduced_cases() -> Iterator[dict[str, int]]:
    """Words of 4 bits: every domain from 2 to 16, every q, the first and the last value."""
    for domain_size in range(2, 17):
        for numerator in range(16):
            for code in (0, domain_size - 1):
                yield {"bits": 4, "domain_size": domain_size, "numerator": numerator, "code": code}


def exact_counts(case: dict[str, int]) -> dict[str, Any]:
    """Over all pairs of words: N L for the truth and (2^w - N) L / k for each value, with L dice that are taken."""
    words = 2 ** case["bits"]
    taken = dice_limit(case["domain_size"], case["bits"])
    counts = [(words - case["numerator"]) * taken // case["domain_size"]] * case["domain_size"]
    counts[case["code"]] += case["numerator"] * taken
    return {"counts": counts, "refused": words * (words - taken)}


Draw = Callable[[int, int, int, Replay], int]


def enumerated(case: dict[str, int], draw: Draw) -> dict[str, Any]:
    words = 2 ** case["bits"]
    counts, refused = [0] * case["domain_size"], 0
    for coin in range(words):
        for die in range(words):
            entropy = Replay([coin, die, 0])
            report = draw(case["code"], case["numerator"], case["domain_size"], entropy)
            if entropy.used == 2:
                counts[report] += 1
            else:
                refused += 1
    return {"counts": counts, "refused": refused}


def core_draw(code: int, numerator: int, domain_size: int, entropy: Replay) -> int:
    reports, _ = draw_reports(np.array([code]), np.array([numerator], dtype=np.uint32), domain_size, entropy, bits=4)
    return int(reports[0])


def test_python_matches_the_exact_enumeration() -> None:
    for case in list(reduced_cases())[::7]:  # numpy pays per call; every 7th case still meets each domain and most q
        assert enumerated(case, core_draw) == exact_counts(case), case


def test_javascript_matches_the_exact_enumeration() -> None:
    cases = list(reduced_cases())
    assert twin(enumerate=cases)["enumerate"] == [exact_counts(case) for case in cases]


def test_a_die_taken_modulo_k_without_refusing_any_is_caught() -> None:
    def biased(code: int, numerator: int, domain_size: int, entropy: Replay) -> int:
        coin, die = entropy.words(2)
        return code if coin < numerator else int(die) % domain_size

    case = {"bits": 4, "domain_size": 3, "numerator": 5, "code": 1}
    assert enumerated(case, biased) != exact_counts(case)


MISTAKES = {
    "no die is refused": ("while (die >= limit)", "while (false)"),
    "one die too many is refused": ("while (die >= limit)", "while (die >= limit - 1)"),
    "the coin's edge is off by one": ("(coin - numerator) /", "(coin - numerator - 1) /"),
    "the truth is told the other way round": ("^ code) & truth)", "^ code) & ~truth)"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_javascript_is_caught(mistake: str, tmp_path: Path, vectors: dict[str, Any]) -> None:
    broken = mutant(tmp_path, "randomiser.mjs", *MISTAKES[mistake])
    cases = list(reduced_cases())
    found = twin(broken, reports=vectors["reports"], enumerate=cases)
    assert found["reports"] != expected(vectors)
    assert found["enumerate"] != [exact_counts(case) for case in cases]


def test_javascript_fails_closed_without_secure_random_numbers(in_javascript: dict[str, Any]) -> None:
    # `undefined` means the browser's own source, which node has; a source without getRandomValues is refused.
    assert in_javascript["withoutEntropy"] == [None, "NoEntropyError", "NoEntropyError"]


def test_a_browser_without_crypto_draws_nothing(tmp_path: Path) -> None:
    without = mutant(tmp_path, "randomiser.mjs", "source = globalThis.crypto", "source = globalThis.noSuchThing")
    assert twin(without)["withoutEntropy"] == ["NoEntropyError"] * 3
