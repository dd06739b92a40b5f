"""Both devices read a number that an owner types alike, as prices are read, and say the same of what is none."""

from __future__ import annotations

import dataclasses
import itertools
from functools import partial
from pathlib import Path

import pytest

from pdqs.model.domain import Domain
from pdqs.model.errors import InputError
from pdqs.model.figures import in_full
from pdqs.model.money import Currency
from pdqs.owner.answers import number_typed, numbers_in_words

from . import node
from .node import mutant

twin = partial(node.twin, script="answers_twin.mjs")

EURO, DOLLAR = Currency(code="EUR", symbol="\u20ac", mark=","), Currency(code="USD", symbol="$")
COMMA = "a comma before the decimals"
WHOLE = "Give a whole number from 0 to 3.000."
GRIDS = (
    Domain.grid(0, 3000, 1),
    Domain.grid(0, 5000, 100),
    Domain.grid(-10, 10, 0.5),
    Domain.grid(0.1, 0.9, 0.1),
    Domain.grid(1_000_000, 9_000_000, 1000),
)
TYPED = (
    *("", " ", "0", "1.500", "1,500", "1 500", "1'500", "1.500,5", "950,5", "950.5", "950 \u20ac", "EUR 950", "4000"),
    *(
        "-1",
        "\u22120,5",
        "-0.5",
        "abc",
        "1e3",
        "\u0661\u0662",
        "0,3",
        "0.3",
        "0,30",
        "(5)",
        "5,0",
        "5.0",
        "1.000.000",
        "1,000,000",
    ),
    *("2999,999", "12,3456", "-", "- 5", "1.2.3", "3000,0000001", "100", "150"),
)
SAID = {
    "1.500": 1500,
    "1500": 1500,
    "1 500": 1500,
    "950 \u20ac": 950,
    "950,0": 950,
    "1,500": f'"1,500" is 1,5 here: if you mean 1500, write it without a comma. {WHOLE}',
    "950,5": f'"950,5" is not a whole number. {WHOLE}',
    "950.5": f'"950.5" could mean 950,5 or 9505: write the one that you mean, with {COMMA}. {WHOLE}',
    "4000": WHOLE,
    "-1": WHOLE,
    "": WHOLE,
    "abc": f'"abc" is not a number: write it like 1500. {WHOLE}',
}


def read(text: str, domain: Domain, currency: Currency) -> int | str:
    try:
        return number_typed(text, domain, currency)
    except InputError as fault:
        return str(fault)


@pytest.mark.parametrize(("text", "said"), SAID.items())
def test_each_mistake_has_a_sentence_of_its_own(text: str, said: int | str) -> None:
    assert read(text, GRIDS[0], EURO) == said


@pytest.mark.parametrize("currency", [EURO, DOLLAR])
def test_both_read_what_is_typed_alike(currency: Currency, tmp_path: Path) -> None:
    cases = list(itertools.product(TYPED, GRIDS))
    told = [(text, {"start": grid.start, "step": grid.step, "size": grid.size}) for text, grid in cases]
    found = twin(currency=dataclasses.asdict(currency), typed=told)
    assert found["read"] == [read(text, grid, currency) for text, grid in cases]
    assert found["words"] == [numbers_in_words(grid, currency.mark) for _, grid in cases]
    weak = mutant(tmp_path, "answers.mjs", "isWhole(domain), like", "false, like")
    assert twin(weak, currency=dataclasses.asdict(currency), typed=told)["read"] != found["read"]


FINE = (
    Domain(kind="grid", start=20_000.0, step=1 / 30, size=60),
    Domain(kind="grid", start=1_000_000.0, step=1 / 3, size=60),
    Domain(kind="grid", start=123_456_789.123, step=0.0013, size=60),
    Domain(kind="grid", start=-1e9, step=1 / 7, size=60),
)


@pytest.mark.parametrize("grid", FINE, ids=str)
def test_every_number_can_be_typed_as_it_is_shown(grid: Domain) -> None:
    """Else those whose answer it is could not give it, and whoever bid and did not answer would have told it."""
    shown = [in_full(grid.start + grid.step * code) for code in range(grid.size)]
    assert len(set(shown)) == grid.size
    assert [read(text, grid, DOLLAR) for text in shown] == list(range(grid.size))
    near = [in_full(grid.start + grid.step * (code + 0.4)) for code in range(grid.size)]
    far = [text for text in (*near, in_full(grid.start - grid.step), "9" * 400) if text not in shown]
    typed = [(text, {"start": grid.start, "step": grid.step, "size": grid.size}) for text in (*shown, *far)]
    found = twin(currency=dataclasses.asdict(DOLLAR), typed=typed)["read"]
    assert found == [read(text, grid, DOLLAR) for text, _ in typed]
    assert all(isinstance(each, str) for each in found[grid.size :])
