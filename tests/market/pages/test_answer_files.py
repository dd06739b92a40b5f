"""The answer as files: read by a spreadsheet and by a program, and plain to whoever finds them later."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

import pdqs
from market.town import Town, found_town, plan
from pdqs.market import round_steps
from pdqs.market.pages.answer_files import COLUMNS, answer_csv, as_attachment, file_name, picture_words
from pdqs.protocol.device_messages import DomainMessage
from pdqs.protocol.market_messages import AnswerMessage, QueryMessage, Round, RoundPlan

ENDED_MS = 1_794_786_536_585  # 15 November 2026
FORMULA = '=HYPERLINK("https://evil.example","Do you cycle?")'


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return found_town(f"sqlite:///{tmp_path_factory.mktemp('files')}/market.db")


def of(town: Town, wanted: RoundPlan, key: str) -> Round:
    made = round_steps.draft_round(town.market, town.consumer, wanted, f"a-file-of-{key}")
    return made.model_copy(update={"ended_at_ms": ENDED_MS, "state": "settled"})


def answered(kind: str, labels: list[str], **changes: object) -> AnswerMessage:
    counts = [12.5] * len(labels)
    message = AnswerMessage(
        round_id=f"r_{1:024x}", terms_hash="0" * 64, kind=kind, labels=labels, values=counts, raw=counts,
        interval=[[9.25, 16.0]] * len(labels), interval_if_dishonest=[[8.0, 18.0]] * len(labels), level=0.95,
        estimator="unbiased", owners=1240, asked=60, reports=50, information=9.0,
        warnings=["10 of 60 owners did not report", "prices and answers may go together"],
        budget_micros=1, paid_micros=1, returned_micros=0,
    )  # fmt: skip
    return message.model_copy(update=changes)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_row_says_what_was_asked_when_of_whom_and_what_to_beware_of(town: Town) -> None:
    count = of(
        town, plan(query=QueryMessage(kind="count", text="Do you cycle, even in winter?"), attribute="cycling"), "count"
    )
    (row,) = rows_of(answer_csv(answered("count", [""]), count))
    assert row == {
        "label": "owners who would say yes",
        "value": "12.5",
        "raw": "12.5",
        "low": "9.25",
        "high": "16.0",
        "level": "0.95",
        "low_if_dishonest": "8.0",
        "high_if_dishonest": "18.0",
        "dishonest_share": "0.05",
        "question": "Do you cycle, even in winter?",
        "kind": "count",
        "about": "cycling",
        "answered_at": "2026-11-15T23:48:56+00:00",
        "owners": "1240",
        "asked": "60",
        "reports": "50",
        "warnings": "10 of 60 owners did not report. Prices and answers may go together.",
        "round_id": f"r_{1:024x}",
    }


def test_one_header_row_and_numbers_that_a_program_reads_as_numbers(town: Town) -> None:
    pandas = pytest.importorskip("pandas")
    which = QueryMessage(
        kind="histogram", text="Which?", domain=DomainMessage(kind="categories", labels=["a", "b"], size=2)
    )
    made = of(town, plan(query=which), "histogram")
    table = pandas.read_csv(
        io.StringIO(answer_csv(answered("histogram", ["a", "b"]), made)), parse_dates=["answered_at"]
    )
    assert list(table.columns) == list(COLUMNS)
    assert list(table["label"]) == ["a", "b"]
    assert table["value"].sum() == 25.0
    assert (table["owners"] == 1240).all()
    assert table["answered_at"].dt.year.tolist() == [2026, 2026]
    old = answered("histogram", ["a", "b"], interval_if_dishonest=[])
    assert pandas.read_csv(io.StringIO(answer_csv(old, made)))["low_if_dishonest"].isna().all()


def test_words_are_disarmed_where_they_look_like_a_formula_and_empty_where_they_are(town: Town) -> None:
    made = of(town, plan(query=QueryMessage(kind="count", text=FORMULA)), "formula")
    labels = ["=1+1", "-5", "tea", ""]
    rows = rows_of(answer_csv(answered("histogram", labels, warnings=["@sum(a)"]), made))
    assert [row["label"] for row in rows] == ["'=1+1", "-5", "tea", ""]
    assert {row["question"] for row in rows} == {f"'{FORMULA}"}
    assert {row["warnings"] for row in rows} == {"'@sum(a)."}


def test_an_answer_that_is_none_says_so_and_why(town: Town) -> None:
    found = answered("count", [], warnings=["no report came"])
    (row,) = rows_of(answer_csv(found, of(town, plan(), "none")))
    assert (row["value"], row["warnings"]) == ("no answer", "No report came.")


@pytest.mark.parametrize(
    ("text", "name", "plain"),
    [
        ("Do you like tea?", "do-you-like-tea-2026-11-15", "do-you-like-tea-2026-11-15"),
        ('../../etc/passwd"; x', "etc-passwd-x-2026-11-15", "etc-passwd-x-2026-11-15"),
        ("Trinkst du Öl?", "trinkst-du-öl-2026-11-15", "trinkst-du-ol-2026-11-15"),
        ("お茶は好きですか", "お茶は好きですか-2026-11-15", "illness-2026-11-15"),
        ("?!", "illness-2026-11-15", "illness-2026-11-15"),
        ("word " * 40, "-".join(["word"] * 12) + "-2026-11-15", "-".join(["word"] * 12) + "-2026-11-15"),
    ],
)
def test_a_file_is_named_by_its_question_and_day(town: Town, text: str, name: str, plain: str) -> None:
    made = of(town, plan(), "name")
    query = made.plan.query.model_copy(update={"text": text})
    made = made.model_copy(update={"plan": made.plan.model_copy(update={"query": query})})
    assert file_name(made) == name
    header = as_attachment(made, "csv")
    assert header.startswith(f"attachment; filename=\"{plain}.csv\"; filename*=UTF-8''")
    assert header.isascii()
    assert header.count('"') == 2


def test_under_the_picture_are_its_figure_and_interval_in_words(town: Town) -> None:
    said = picture_words(answered("count", [""]), of(town, plan(), "picture"), ",")
    assert said == [
        "Owners who would say yes: 12, between 9,2 and 16,0.",
        "An interval like this holds the truth 95 times in 100.",
        "Between 8 and 18 if 5 in 100 owners sent noise: the paler band.",
        "Answered 15 Nov 2026, 23:48 UTC; 1.240 owners bid; 50 reported.",
        "10 of 60 owners did not report.",
        "Prices and answers may go together.",
    ]


def test_under_a_histogram_is_what_its_two_lines_are(town: Town) -> None:
    said = picture_words(answered("histogram", ["tea", "coffee"]), of(town, plan(), "bars"), ",")
    assert said[:2] == [
        "How many of the 1.240 owners who bid hold each value, with intervals that hold 95 times in 100.",
        "The paler lines are these intervals if 5 in 100 owners sent noise.",
    ]


def test_every_column_is_said_in_the_guide() -> None:
    guide = Path(pdqs.__file__).parents[2].joinpath("docs/market.md").read_text(encoding="utf-8")
    assert [name for name in COLUMNS if f"`{name}`" not in guide] == []
