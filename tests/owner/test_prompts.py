"""What ``pdqs owner`` asks before it draws can be answered by yes or no, and reads as one question."""

from __future__ import annotations

import io
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from pdqs.cli import main
from pdqs.owner import asks
from pdqs.owner.ledger import Ledger

from .hostile.market import ROUND, Lie, hostile

QUESTION = r"[A-Z'][^?]*\. (Is|Do|Was|Has) [^?.]*\?"


def everything_asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Each question that there is, in two rounds: no one round can ask for all of them."""
    monkeypatch.setattr(asks, "signs_elsewhere", lambda *_: ["https://other.example"])
    monkeypatch.setattr(asks, "named_elsewhere", lambda *_: ["https://other.example"])
    account: Any = MagicMock()
    account.knows.return_value = account.asked_so.return_value = False
    account.also_asked_as.return_value = ("beverage",)
    account.keys.return_value, account.elsewhere.return_value, account.made.return_value = frozenset({"k"}), 3, 0
    told = {"promise": SimpleNamespace(receipt_key="x", seed_hash="s", nonce_hash="n", receipt_form=1), "accepted": 0}
    notice = SimpleNamespace(question=SimpleNamespace(attribute="drink", text="?"), terms_hash="h")
    rounds: list[Any] = [SimpleNamespace(**told, notice=notice, counted=counted) for counted in (5, 1)]
    return {name: said for each in rounds for name, said in asks.asks_of(account, "m", each).items()}


def test_each_question_is_one_that_yes_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = everything_asked(monkeypatch)
    assert set(asked) == set(asks.NAMES)
    for sentence in asked.values():
        assert re.fullmatch(QUESTION, sentence), sentence
        assert sentence.isprintable()


def test_it_is_asked_as_it_is_worded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PDQS_DEVICE", str(tmp_path / "device.sqlite"))
    with hostile({"truth": Lie(goal="")}) as address:
        ledger = Ledger(tmp_path / "device.sqlite")
        ledger.enrol(f"{address}/truth/run", "Ann", "t" * 43)
        ledger.close()
        main(["owner", "bid", ROUND, "0.3", "--yes"])
        monkeypatch.setattr("sys.stdin", io.StringIO("y\ncoffee\ny\n"))
        main(["owner", "report", ROUND])
    shown = capsys.readouterr().out
    assert "cap of its own. Is that so? [y/N]: " in shown
    assert "Do you want to have your answer randomised and the report sent? [y/N]: " in shown
    assert "Agree?" not in shown
