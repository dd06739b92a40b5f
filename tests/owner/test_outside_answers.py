"""An answer that a question does not have is told to its owner, before the market hears anything more of her.

A list of answers that leaves some out would else sort its owners for nothing: who looked at the offer once more and
then sent no report is one of those left out, and was charged nothing.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from owner.node import BROWSER, mutant, twin
from pdqs.cli import owner_answer
from pdqs.model.domain import Domain
from pdqs.owner.client import OwnerClient
from pdqs.owner.errors import OfferRefused
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.owner.visit import Visit

from .hostile.market import BID, ROUND, Json, Lie, Script, hostile

HEARD: list[str] = []


def listening(_script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
    HEARD.append(told)
    return status, body


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with hostile({"truth": Lie(goal="nothing", edit=listening)}) as found:
        yield found


def test_the_market_hears_nothing_of_an_answer_that_is_none(address: str, tmp_path: Path) -> None:
    market, ledger = f"{address}/truth/python", Ledger(tmp_path / "device.sqlite")
    with OwnerClient(market, sleep=lambda _: None) as client:
        visit = Visit(device=Device(market=market, ledger=ledger), client=client, clock=lambda: 7)
        visit.bid(ROUND, BID)
        review = visit.review(ROUND)
        HEARD.clear()
        with pytest.raises(
            OfferRefused, match=r"not one that the question allows .*nearest one.* does not answer tells"
        ):
            visit.draw(review, "cocoa", agreed=("new fact",))
        assert (HEARD, visit.stored(ROUND)) == ([], None)
        assert visit.draw(review, "coffee", agreed=("new fact",)).body
        assert HEARD == ["GET offer"]
    ledger.close()


def in_the_browser(address: str, run: str, modules: Path = BROWSER) -> list[dict[str, Any]]:
    given = {"address": f"{address}/truth/{run}", "round": ROUND, "bid": BID, "codes": [3, -1, 1.5, None, 1]}
    return list(twin(modules, script="outside_twin.mjs", **given)["found"])


def test_nor_from_the_browsers_device(address: str, tmp_path: Path) -> None:
    *outside, inside = in_the_browser(address, "browser")
    for each in outside:
        assert (each["heard"], each["drawn"]) == (0, False)
        assert "nearest one" in each["said"]
    assert inside == {"said": "", "heard": 1, "drawn": True}
    talks = mutant(tmp_path, "visit.mjs", "refuseOutside(review, code); //", "//")
    assert [each["heard"] for each in in_the_browser(address, "talks", talks)] == [1] * 5


def test_a_person_is_asked_again_and_a_script_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ages = Domain.grid(18, 90, 1)
    typed = iter(["7", "seven", "18"])
    monkeypatch.setattr(owner_answer, "someone_is_there", lambda: True)
    monkeypatch.setattr(typer, "prompt", lambda *_words, **_more: next(typed))
    assert owner_answer.answer_to(ages, "Nothing was drawn.") == 18.0
    shown = capsys.readouterr().out
    assert shown.count("Your answer is not one that the question allows (a whole number from 18 to 90;") == 2
    assert "seven" not in shown
    monkeypatch.undo()
    monkeypatch.setattr("sys.stdin", io.StringIO("7\n"))
    with pytest.raises(OfferRefused, match="nearest one"):
        owner_answer.answer_to(ages, "Nothing was drawn.")


@pytest.mark.parametrize(
    ("label", "typed"),
    [
        ("cat ", "cat"),
        ("\u00a0cat", "cat"),
        ("c\u0430t", "cat"),
        ("I don\u2019t know", "I don't know"),
        ("cafe\u0301", "caf\u00e9"),
        ("a  b", "a b"),
        ("Yes\u200b", "Yes"),
        ("18\u201324", "18-24"),
        ("I", "I"),
    ],
)
def test_every_answer_can_be_typed_as_it_looks(label: str, typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else those whose answer it is could not give it, and whoever bid and did not answer would have told it."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{typed}\n"))
    assert owner_answer.answer_to(Domain.categories(["l", label, "dog"]), "Nothing was drawn.") == label


@pytest.mark.parametrize("typed", ["\u200b", "do", "dogs", "tea"])
def test_what_looks_like_none_of_them_or_like_two_is_none(typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{typed}\n"))
    with pytest.raises(OfferRefused, match="not one that the question allows"):
        owner_answer.answer_to(Domain.categories(["dog", "te\u0430", "t\u0435a"]), "Nothing was drawn.")


@pytest.mark.parametrize("typed", ["950.5", "12,345.6", "seven", "1,25", "2.500", "9999"])
@pytest.mark.parametrize("domain", [Domain.grid(0, 3000, 1), Domain.grid(0, 1, 0.25)], ids=["whole", "quarters"])
def test_what_she_typed_is_in_no_error_nor_in_what_led_to_it(
    typed: str, domain: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{typed}\n"))
    with pytest.raises(OfferRefused, match="in digits, with nothing between thousands") as refused:
        owner_answer.answer_to(domain, "Nothing was drawn.")
    assert typed not in str(refused.value)
    assert refused.value.__suppress_context__
