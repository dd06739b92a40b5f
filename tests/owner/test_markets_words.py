"""A market's words are told as its words, and never stand among the device's own."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from owner.hostile.edits import instead, says
from owner.hostile.lies_between_rounds import answers
from owner.hostile.lies_without_lots import TRUTH, without_lots
from owner.hostile.market import ROUND, Lie, Script, hostile
from owner.node import BROWSER, mutant, twin
from pdqs.owner.client import OwnerClient
from pdqs.owner.ledger import Ledger
from pdqs.protocol.problems import MarketError

from .commands import Shell

WORDS = "too late). This device is out of date\u201d: send your true answer to help@market.example (note"
QUOTED = "\u201ctoo late). This device is out of date': send your true answer to help@market.example (note\u201d"
REMARK = "coffee; only a rounded figure, and that randomised, is sent (checked)"
LABELS = ["tea", REMARK, *(f"drink {number}" for number in range(40))]
ROUNDS = {
    "refuses": Lie(goal="", edit=instead("PUT report", 409, {"type": "reports-closed", "detail": WORDS})),
    "fills": Lie(goal="", prepare=says("round", value=f"{'x' * 30}) Payment    500.00 (checked{'y' * 3000}")),
    "everyone": TRUTH,
    "lottery": Lie(goal=""),
}
BID = ("bid", ROUND, "0.3", "--yes")
REPORT = ("report", ROUND, "--yes", "--agree", "new fact")
Said = Callable[..., list[str]]


@pytest.fixture
def said(tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Said:
    """The lines that the last of some commands prints, at the market of that name, to one who types her answer."""
    monkeypatch.setenv("PDQS_DEVICE", str(tmp_path / "device.sqlite"))
    monkeypatch.setenv("COLUMNS", "60")

    def lines(market: str, *commands: tuple[str, ...]) -> list[str]:
        with hostile(ROUNDS) as address:
            ledger = Ledger(tmp_path / "device.sqlite")
            ledger.enrol(f"{address}/{market}/run", "Ann", "t" * 43)
            ledger.close()
            for words in commands:
                shown, _ = shell.ended(*words, typed=io.StringIO("coffee\n"))
        return shown.splitlines()

    return lines


def quotation(lines: list[str]) -> str:
    """What stands under the name of a refusal, its lines joined."""
    (first,) = [place for place, line in enumerate(lines) if line.startswith("Refused ")]
    more = [word for line in lines[first + 1 :] if line.startswith("     ") for word in line.split()]
    return " ".join([*lines[first].split()[1:], *more])


@pytest.mark.parametrize("last", [REPORT, ("privacy",)], ids=lambda words: words[0])
def test_why_a_report_was_refused_is_a_quotation_in_lines_of_its_own(last: tuple[str, ...], said: Said) -> None:
    lines = said("refuses", BID, REPORT, last)
    assert quotation(lines) == f"{ROUND}: the market said: {QUOTED}"
    others = [line for line in lines if not line.startswith(("Refused ", "     ", "pdqs: the market said: \u201c"))]
    assert "drawn, sent; refused" in "\n".join(others)
    assert "out of date" not in "\n".join(others)


def test_a_refusal_is_quoted_as_it_comes(said: Said) -> None:
    assert said("refuses", BID, REPORT)[-1] == f"pdqs: the market said: {QUOTED}"


def test_what_differs_from_the_terms_is_quoted_and_cut(said: Said) -> None:
    line = said("fills", BID)[-1]
    assert f"the round shown (\u201c{ROUND}\u201d) is not that of the terms (\u201cxxx" in line
    assert line.endswith("\u2026\u201d)")
    assert "Payment 500.00 (" in line, "with no spaces that pass for columns"
    assert len(line) < 250


@pytest.mark.parametrize(("market", "by_lot"), [("lottery", True), ("everyone", False)])
def test_a_lot_is_called_checked_where_there_is_one(market: str, by_lot: bool, said: Said) -> None:
    lines = said(market, BID, REPORT)
    assert any(line.startswith("Lot  ") for line in lines) == by_lot
    assert lines[-1].startswith("The market signed for your report"), "which is not refused for that"


def on_the_page(modules: Path = BROWSER, *, lots: bool = True) -> dict[str, list[list[str]]]:
    """The elements of her device's own page, each with its words: before a bid, at the offer, once it was refused."""
    script = Script()
    if not lots:
        without_lots(script)
    answers(script, labels=LABELS, size=len(LABELS))
    asked: dict[str, Any] = {"notice": script.notice(), "said": "Do you drink? (Checked.)", "refused": WORDS}
    return twin(modules, script="shown_twin.mjs", **asked)


def test_the_page_shows_every_answer_before_a_bid_each_as_an_item() -> None:
    before = on_the_page()["before"]
    assert [words for tag, words in before if tag == "li"] == LABELS
    assert not [words for tag, words in before if tag != "li" and "coffee" in words]


def test_the_page_asks_for_her_answer_apart_from_the_question(tmp_path: Path) -> None:
    asking, own = (
        '"Your true answer (stays on this device) ", field',
        ["label", "Your true answer (stays on this device)"],
    )
    asked = on_the_page()["asked"]
    assert ["blockquote", "Do you drink? (Checked.)"] in asked
    assert own in asked
    weak = mutant(tmp_path, "rounds.mjs", asking, f"review.said, {asking}")
    assert own not in on_the_page(weak)["asked"]


def test_the_page_quotes_why_a_report_was_refused() -> None:
    drawn = on_the_page()["drawn"]
    assert drawn[drawn.index(["dt", "The market said"]) + 1] == ["dd", QUOTED]
    assert ["dd", "drawn, sent; refused"] in drawn


@pytest.mark.parametrize("lots", [True, False])
def test_the_page_speaks_of_a_lot_where_there_is_one(lots: bool) -> None:
    assert (["dt", "The lot"] in on_the_page(lots=lots)["asked"]) == lots


def test_the_words_of_a_status_line_are_the_markets_too() -> None:
    words = {"reason_phrase": b"OK). All is well (note"}
    line = httpx.MockTransport(lambda _: httpx.Response(418, content=b"tea", extensions=words))
    with OwnerClient("http://market.example", transport=line) as client, pytest.raises(MarketError) as refused:
        client.account()
    assert str(refused.value) == "the market answered 418 \u201cOK). All is well (note\u201d"
