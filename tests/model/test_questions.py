"""What can be asked, and what is refused with a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from pdqs.model import questions
from pdqs.model.domain import Domain
from pdqs.model.errors import TermsError
from pdqs.model.questions import KINDS, Bucket, Level, Side, Value

untyped: Any = questions
GRID = Domain.grid(0, 100, 5)
COLOURS = Domain.categories(["red", "green", "blue"])


def test_each_question_is_priced_by_its_own_number_of_report_codes() -> None:
    assert [Value(GRID).kappa, Level(GRID, 3).kappa, Side(GRID, 4).kappa, Bucket(GRID, 5, 1).kappa] == [21, 3, 2, 5]
    assert [kind.kind for kind in KINDS] == ["value", "level", "side", "bucket"]


def test_levels_reach_from_end_to_end() -> None:
    assert Level(GRID, 5).numbers.tolist() == [0.0, 25.0, 50.0, 75.0, 100.0]
    assert Level(GRID, 5).gap == 25.0


def test_equal_questions_are_equal_and_can_be_keys() -> None:
    assert {Side(GRID, 3), Side(GRID, 3), Side(GRID, 4)} == {Side(GRID, 3), Side(GRID, 4)}


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Level(GRID, 1), "the number of levels must be from 2 to 21 here, got 1"),
        (lambda: Level(GRID, 22), "the number of levels must be from 2 to 21 here, got 22"),
        (lambda: Level(COLOURS, 2), "a level question needs an ordered domain"),
        (lambda: Side(GRID, -1), "the code of a side must be from 0 to 19 here, got -1"),
        (lambda: Side(GRID, 20), "the code of a side must be from 0 to 19 here, got 20"),
        (lambda: Side(COLOURS, 1), "a side question needs an ordered domain"),
        (lambda: Bucket(GRID, 22, 1), "the number of buckets must be from 2 to 21 here, got 22"),
        (lambda: Bucket(GRID, 4, 2**32), "the seed of a bucket question must be from 0"),
        (lambda: Bucket(Domain.grid(0, 2**21, 1), 4, 1), "a histogram of 2,097,153 values is too large"),
        (lambda: untyped.Value("ages"), "a value question needs a domain, such as"),
        (lambda: untyped.Side(GRID, "5"), "the code of a side must be a whole number, got '5'"),
    ],
)
def test_what_is_no_question_of_the_domain_is_refused_with_a_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(TermsError, match=sentence):
        make()


def test_a_million_values_may_be_asked_for_levels_sides_and_buckets() -> None:
    million = Domain.grid(0, 999_999, 1)
    assert [Level(million, 3).kappa, Side(million, 500_000).kappa, Bucket(million, 4, 1).kappa] == [3, 2, 4]
