"""The command line shows all that may be answered, in full, where she decides: before a bid and at the offer."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from owner.hostile.edits import says
from owner.hostile.lies_about_questions import asking
from owner.hostile.lies_between_rounds import answers
from owner.hostile.market import ROUND, Lie, Script, hostile
from pdqs.owner.ledger import Ledger

from .commands import Owner, Shell

DRINKS = ["tea", "coffee", "milk", "juice", "water", "HIV", "hepatitis"]


def labelled(labels: list[str]) -> Callable[[Script], None]:
    def prepare(script: Script) -> None:
        answers(script, labels=labels, size=len(labels))
        script.kappa, script.q_numerator = len(labels), 2**29

    return prepare


def gridded(start: float, step: float, size: int) -> Callable[[Script], None]:
    def prepare(script: Script) -> None:
        asking("value")(script)
        answers(script, start=start, step=step, size=size)
        script.kappa = size

    return prepare


ROUNDS = {
    "many": Lie(goal="", prepare=labelled(DRINKS)),
    "large": Lie(goal="", prepare=gridded(1_234_567.0, 1.0, 9)),
    "fine": Lie(goal="", prepare=gridded(1_999_999.5, 0.5, 3)),
    "long": Lie(goal="", prepare=says("terms", "query", "domain", "labels", value=["x" * 81, "1", "3"])),
}
SHOWN = {
    "many": ", ".join(f"'{drink}'" for drink in DRINKS),
    "large": "1234567 to 1234575 by 1",
    "fine": "1999999.5 to 2000000.5 by 0.5",
}


@pytest.fixture
def said(tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Owner:
    """What ``pdqs owner`` prints at the market of one round, and how it ends."""
    monkeypatch.setenv("PDQS_DEVICE", str(tmp_path / "device.sqlite"))

    def command(*words: str) -> str:
        shown, ended = shell.ended(*words, typed=io.StringIO())
        return f"{ended} " + " ".join(shown.split())

    return command


def enrolled(tmp_path: Path, market: str) -> Ledger:
    ledger = Ledger(tmp_path / "device.sqlite")
    ledger.enrol(market, "Ann", "t" * 43)
    return ledger


@pytest.mark.parametrize("name", SHOWN)
def test_every_answer_is_shown_in_full_before_a_bid_and_at_the_offer(name: str, tmp_path: Path, said: Owner) -> None:
    with hostile(ROUNDS) as address:
        market = f"{address}/{name}/run"
        enrolled(tmp_path, market).close()
        assert f"Answers {SHOWN[name]} " in said("bid", ROUND, "0.3", "--yes")
        assert f"Answers {SHOWN[name]} " in said("report", ROUND)


def test_an_answer_too_long_to_be_shown_is_refused_in_a_sentence(tmp_path: Path, said: Owner) -> None:
    with hostile(ROUNDS) as address:
        enrolled(tmp_path, f"{address}/long/run").close()
        shown = said("bid", ROUND, "0.3", "--yes")
    assert shown.startswith(("1 ", "2 "))
    assert "the terms cannot be read (its answers cannot be shown" in shown
    assert "Traceback" not in shown
