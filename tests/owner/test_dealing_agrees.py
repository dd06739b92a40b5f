"""Python and JavaScript deal stages alike, to the word, and put the same question in the same words."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pdqs.model.domain import Domain
from pdqs.model.questions import Side
from pdqs.rounds.stages import parts_of, stage_ends, stages_of

from . import node
from .node import mutant

twin = partial(node.twin, script="questions_twin.mjs")

DOMAINS = (Domain.grid(0, 10_000, 500), Domain.grid(-1, 1, 0.1), Domain.grid(0, 9e6, 1000))
TEXTS = (
    "What is your monthly income?",
    "what's your  age ?",
    "What\u2019s your age in years?",
    "How old are you?",
    "What is your age? And your sister's?",
    "",
    "How much do you earn a month, in US$'000 ($& and $$)?",
)


def words_at_every_edge(stages: int) -> list[int]:
    ends = stage_ends(parts_of(stages)).tolist()
    near = {end + off for end in ends for off in (-1, 0, 1)} | {0, 2**32 - 1}
    return sorted(near | set(np.random.default_rng(stages).integers(0, 2**32, 50).tolist()))


def stage_cases() -> list[dict[str, int]]:
    return [{"word": word, "stages": stages} for stages in range(1, 9) for word in words_at_every_edge(stages)]


def python_stages(cases: list[dict[str, int]]) -> list[int]:
    return [int(stages_of(np.array([case["word"]], dtype=np.uint32), parts_of(case["stages"]))[0]) for case in cases]


def test_a_word_falls_into_the_same_stage_at_every_edge() -> None:
    cases = stage_cases()
    assert twin(stages=cases)["stages"] == python_stages(cases)


def test_a_stage_that_begins_one_word_later_is_caught(tmp_path: Path) -> None:
    cases = stage_cases()
    wrong = mutant(tmp_path, "dealing.mjs", "word >= Math.floor(", "word > Math.floor(")
    assert twin(wrong, stages=cases)["stages"] != python_stages(cases)


def test_a_side_is_put_in_the_same_words() -> None:
    cases: list[dict[str, Any]] = [
        {"code": code, "text": text, "domain": {"start": d.start, "step": d.step, "size": d.size}}
        for d in DOMAINS
        for code in (0, 5, d.size - 2)
        for text in TEXTS
    ]
    said = twin(asides=cases)["asides"]
    assert said == [Side(d, code).said_of(text) for d in DOMAINS for code in (0, 5, d.size - 2) for text in TEXTS]
    assert said[3 * len(TEXTS) - len(TEXTS)] == "Is your monthly income at most 9,500?"
