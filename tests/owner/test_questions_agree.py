"""Python and JavaScript answer the four questions alike from the same words, and both have the exact law."""

from __future__ import annotations

import importlib.util
import json
import random
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pdqs.market.pages.numerals import fixed
from pdqs.model.arrays import Integers, Words
from pdqs.model.domain import Domain
from pdqs.model.questions import Asking, Bucket, Level, Side, Value
from pdqs.model.spelling import OTHER, Mark
from pdqs.privacy.asking import ask
from pdqs.privacy.bucket_maps import modulus, multipliers
from pdqs.privacy.entropy import Entropy
from pdqs.privacy.kernels import kernel

from . import node
from .node import mutant

VECTORS = Path(__file__).parents[1] / "vectors" / "questions.json"
BITS = 3


twin = partial(node.twin, script="questions_twin.mjs")


@pytest.fixture(scope="module")
def vectors() -> dict[str, Any]:
    return dict(json.loads(VECTORS.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def in_javascript(vectors: dict[str, Any]) -> dict[str, Any]:
    return twin(reports=vectors["reports"], maps=vectors["maps"], texts=vectors["texts"])


def makers_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "make_question_vectors", VECTORS.with_name("make_question_vectors.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def question_of(told: dict[str, Any], domain: Domain) -> Asking:
    kinds = {"value": Value, "level": Level, "side": Side, "bucket": Bucket}
    arguments = {name: value for name, value in told.items() if name != "kind"}
    made: Asking = kinds[told["kind"]](domain, **arguments)
    return made


class Replay:
    """Entropy that gives known words and counts them."""

    def __init__(self, words: list[int]) -> None:
        self.left, self.used = list(words), 0

    def words(self, count: int) -> Words:
        self.used += count
        taken, self.left = self.left[:count], self.left[count:]
        return np.array(taken, dtype=np.uint32)


def expected(vectors: dict[str, Any]) -> list[list[int]]:
    return [[case["kappa"], case["report"], case["words_used"]] for case in vectors["reports"]]


def test_the_vectors_are_those_that_the_script_makes() -> None:
    script = makers_script()
    assert VECTORS.read_text(encoding="utf-8") == script.text_of(script.vectors())


def test_python_answers_every_vector(vectors: dict[str, Any]) -> None:
    found = []
    for case in vectors["reports"]:
        question = question_of(case["question"], Domain.grid(0, case["domain_size"] - 1, 1))
        entropy = Replay(case["words"])
        numerators = np.array([case["numerator"]], dtype=np.uint32)
        reports, _ = ask(question, np.array([case["code"]]), numerators, entropy)
        found.append([question.kappa, int(reports[0]), entropy.used])
    assert found == expected(vectors)


def test_javascript_answers_every_vector(vectors: dict[str, Any], in_javascript: dict[str, Any]) -> None:
    assert in_javascript["reports"] == expected(vectors)


def test_both_cut_the_same_buckets_from_a_public_seed(vectors: dict[str, Any], in_javascript: dict[str, Any]) -> None:
    wanted = [{name: case[name] for name in "abp"} for case in vectors["maps"]]
    assert in_javascript["maps"] == wanted
    for case in vectors["maps"]:
        a, b = multipliers(np.array([case["seed"]], dtype=np.uint32), case["domain_size"])
        assert (a[0], b[0], modulus(case["domain_size"])) == (case["a"], case["b"], case["p"])


def test_both_put_the_question_in_the_same_plain_words(vectors: dict[str, Any], in_javascript: dict[str, Any]) -> None:
    wanted = [case["said"] for case in vectors["texts"]]
    assert in_javascript["texts"] == wanted
    for case, said in zip(vectors["texts"], wanted, strict=True):
        at = case["domain"]
        domain = Domain(kind="grid", start=at["start"], step=at["step"], size=at["size"])
        assert question_of(case["question"], domain).said("monthly income") == said


ODD_TEXTS = (
    *("What is your income?", "What's your age ?", "WHAT IS YOUR x?", "How old?", "", "What is your $& ?"),
    *("What i\u017f your x?", "What is your income\ufeff?", "What is your \ufeffincome?", "what is your a\u00a0?"),
    *("What is your a? b?", "What is your  x?", "What is your \u3000x?", "What\u2019s your \u212a?"),
    *("What is your x\x85?", "What is your x\u2029?", "What is your ??"),
)


def some_sides(count: int) -> list[dict[str, Any]]:
    """Sides of any grid, many of them at a tie of the twelfth digit."""
    chance = random.Random(29)
    found = []
    for _ in range(count):
        size, step = chance.randrange(2, 10_001), chance.choice([1.0, 0.1, 0.5, 0.25, 10 ** chance.uniform(-9, 9)])
        ties = (12_345_678_901.25, -568_353_593_870.5, 1_000_000_000_000.5, 0.0, -0.0, 2.0**-40)
        start = chance.choice([*ties, chance.uniform(-1e6, 1e6), float(chance.randrange(-(10**12), 10**12))])
        domain = {"start": start, "step": step, "size": size}
        found.append({"code": chance.randrange(size - 1), "domain": domain, "text": chance.choice(ODD_TEXTS)})
    return found


def test_both_word_a_side_alike_whatever_its_number_and_its_text(tmp_path: Path) -> None:
    cases = some_sides(3000)
    here = [Side(Domain(kind="grid", **case["domain"]), case["code"]).said_of(case["text"]) for case in cases]
    assert twin(asides=cases)["asides"] == here
    rounded = "Math.abs(x).toExponential(11)"
    weak = mutant(tmp_path, "questions.mjs", rounded, "Math.abs(x).toExponential(10)")
    assert twin(weak, asides=cases)["asides"] != here


@pytest.mark.parametrize("mark", [".", ","])
def test_both_write_numbers_with_the_mark_of_the_market(mark: Mark) -> None:
    cases = some_sides(500)
    here = [Side(Domain(kind="grid", **case["domain"]), case["code"]).said_of(case["text"], mark) for case in cases]
    levels = [
        {"question": {"kind": "level", "levels": 5}, "domain": {"start": 0.0, "step": step, "size": 51}}
        for step in (100.0, 0.25, 12_345.5)
    ]
    grids = [Domain(kind="grid", **one["domain"]) for one in levels]  # type: ignore[arg-type]  # a grid
    figures = [(4.0, 4), (1234567.891, 2), (0.0, 2), (999.999, 2), (-1234.5, 1), (1000.0, 0)]
    found = twin(asides=cases, texts=levels, figures=figures, mark=mark)
    assert found["asides"] == here
    assert found["texts"] == [Level(grid, 5).said("monthly income", mark) for grid in grids]
    assert found["figures"] == [fixed(value, places, mark) for value, places in figures]
    income = Side(Domain.grid(0, 5000, 100), 49)
    assert income.said_of("What is your income?", mark) == f"Is your income at most 4{OTHER[mark]}900?"


LAWS: list[dict[str, Any]] = [
    {"question": question, "domain_size": 6, "numerator": 3, "bits": BITS, "calls": calls}
    for question, calls in (
        ({"kind": "value"}, 2),
        ({"kind": "level", "levels": 2}, 3),
        ({"kind": "level", "levels": 4}, 3),
        ({"kind": "side", "code": 2}, 2),
        ({"kind": "bucket", "buckets": 3, "seed": 9}, 2),
    )
]


def python_laws() -> list[list[list[int]]]:
    found = []
    for case in LAWS:
        question = question_of(case["question"], Domain.grid(0, case["domain_size"] - 1, 1))

        def device(codes: Integers, entropy: Entropy, asked: Asking = question, n: int = case["numerator"]) -> Integers:
            return ask(asked, codes, np.full(codes.size, n, dtype=np.uint32), entropy, bits=BITS)[0]

        found.append(kernel(device, case["domain_size"], question.kappa, bits=BITS, calls=case["calls"]).tolist())
    return found


def test_javascript_has_the_same_law_over_all_words() -> None:
    assert twin(laws=LAWS)["laws"] == python_laws()


MISTAKES = {
    "a rounding chance off by one": ("word % sides < over", "word % sides < over - 1"),
    "no rounding word is refused": ("while (word >= limit) word = nextWord();\n  return low", "return low"),
    "the other side": ("code <= question.code", "code < question.code"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_javascript_is_caught(mistake: str, tmp_path: Path, vectors: dict[str, Any]) -> None:
    broken = mutant(tmp_path, "questions.mjs", *MISTAKES[mistake])
    found = twin(broken, reports=vectors["reports"], laws=LAWS)
    assert found["reports"] != expected(vectors)
    assert found["laws"] != python_laws()


def test_javascript_refuses_what_is_no_question_before_it_draws_a_word() -> None:
    hostile: list[dict[str, Any]] = [
        {"question": {"kind": "side", "code": 9}, "domain_size": 10, "code": 1},
        {"question": {"kind": "side", "code": -1}, "domain_size": 10, "code": 1},
        {"question": {"kind": "side", "code": 0.5}, "domain_size": 10, "code": 1},
        {"question": {"kind": "level", "levels": 1}, "domain_size": 10, "code": 1},
        {"question": {"kind": "level", "levels": 11}, "domain_size": 10, "code": 1},
        {"question": {"kind": "bucket", "buckets": 11, "seed": 1}, "domain_size": 10, "code": 1},
        {"question": {"kind": "bucket", "buckets": 4, "seed": 2**32}, "domain_size": 10, "code": 1},
        {"question": {"kind": "bucket", "buckets": 4, "seed": 1}, "domain_size": 2**21, "code": 1},
        {"question": {"kind": "elsewhere"}, "domain_size": 10, "code": 1},
        {"question": None, "domain_size": 10, "code": 1},
        {"question": {"kind": "value"}, "domain_size": 10, "code": 10},
    ]
    assert twin(refused=hostile)["refused"] == [["RangeError", 0]] * len(hostile)
