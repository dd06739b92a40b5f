"""An answer as files that stand for themselves: who finds one a month later knows what was asked, when and of whom."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import quote

from pdqs.market.pages.numerals import figure, in_style, short, whole
from pdqs.model.names import QueryKind
from pdqs.model.spelling import Mark
from pdqs.present.times import moment_text
from pdqs.protocol.market_messages import AnswerMessage, Round
from pdqs.tables.spreadsheet import harmless

COLUMNS = (
    "label", "value", "raw", "low", "high", "level", "low_if_dishonest", "high_if_dishonest", "dishonest_share",
    "question", "kind", "about", "answered_at", "owners", "asked", "reports", "warnings", "round_id",
)  # fmt: skip
"""What each is for is said in docs/market.md."""

_LONGEST = 60


def answer_csv(found: AnswerMessage, of: Round) -> str:
    """A row for each figure, and beside each what it is an answer to; one that says so when there is none."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    beside = _beside(found, of)
    if not found.values:
        rows.writerow(("", "no answer", "", "", "", found.level, "", "", found.dishonest_share, *beside))
    nothing: list[Sequence[float | str]] = [("", "")] * len(found.values)
    wide = found.interval_if_dishonest or nothing  # answers from before there was a second interval have none
    for label, value, raw, ends, wider in zip(found.labels, found.values, found.raw, found.interval, wide, strict=True):
        name = harmless(label) if found.kind == QueryKind.HISTOGRAM else _figure_name(of)
        rows.writerow((name, value, raw, *ends, found.level, *wider, found.dishonest_share, *beside))
    return text.getvalue()


def file_name(of: Round) -> str:
    """The question's own words and the day of the answer, without an ending."""
    words = "-".join(re.findall(r"\w+", of.plan.query.text.lower()))[:_LONGEST].strip("-_")
    return "-".join(filter(None, (words or of.plan.attribute, _day(of))))


def as_attachment(of: Round, ending: str) -> str:
    """The header that gives a file this name; one in letters that all browsers know stands beside it."""
    name = file_name(of)
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().strip("-")
    if re.fullmatch(r"[\d-]*", plain):  # nothing was left of the words
        plain = f"{of.plan.attribute}-{_day(of)}"
    return f"attachment; filename=\"{plain}.{ending}\"; filename*=UTF-8''{quote(f'{name}.{ending}')}"


def picture_words(found: AnswerMessage, of: Round, mark: Mark = ".") -> list[str]:
    """What stands under the picture of an answer: its figure, its interval, of whom and when, and what to beware of."""
    times = f"{short(100 * found.level, 6, mark)} times in 100"
    cheats = f"{short(100 * found.dishonest_share, 6, mark)} in 100 owners sent noise"
    said = []
    if found.kind == QueryKind.HISTOGRAM:
        said.append(f"How many of the {whole(found.owners, mark)} owners who bid hold each value,")
        said[0] += f" with intervals that hold {times}."
        if found.interval_if_dishonest:
            said.append(f"The paler lines are these intervals if {cheats}.")
    elif found.values:
        low, high = found.interval[0]
        middle = (
            whole(found.values[0], mark) if found.kind == QueryKind.COUNT else figure(found.values[0], low, high, mark)
        )
        ends = [figure(end, low, high, mark) for end in (low, high)]
        said.append(f"{_figure_name(of, mark)}: {middle}, between {ends[0]} and {ends[1]}.")
        said[0] = said[0][:1].upper() + said[0][1:]
        said.append(f"An interval like this holds the truth {times}.")
        for wide in found.interval_if_dishonest:
            ends = [figure(end, wide[0], wide[1], mark) for end in wide]
            said.append(f"Between {ends[0]} and {ends[1]} if {cheats}: the paler band.")
    people = [f"{whole(found.owners, mark)} owners bid", f"{whole(found.reports, mark)} reported"]
    if of.ended_at_ms is not None:
        people.insert(0, f"Answered {moment_text(of.ended_at_ms)}")
    return [*said, f"{'; '.join(people)}.", *(in_style(each, mark) for each in _sentences(found.warnings))]


def _beside(found: AnswerMessage, of: Round) -> tuple[str | int, ...]:
    at = (
        ""
        if of.ended_at_ms is None
        else datetime.fromtimestamp(of.ended_at_ms / 1000, tz=UTC).isoformat(timespec="seconds")
    )
    return (
        harmless(of.plan.query.text),
        found.kind,
        harmless(of.plan.attribute),
        at,
        found.owners,
        "" if found.asked is None else found.asked,
        found.reports,
        harmless(" ".join(_sentences(found.warnings))),
        found.round_id,
    )


def _figure_name(of: Round, mark: Mark = ".") -> str:
    """What the one figure of an answer is."""
    query = of.plan.query
    if query.kind == QueryKind.COUNT:
        return "owners who would say yes"
    return f"quantile {short(query.p, 6, mark)}" if query.kind == QueryKind.QUANTILE else str(query.kind)


def _sentences(warnings: Sequence[str]) -> list[str]:
    return [f"{warning[:1].upper()}{warning[1:]}{'' if warning.endswith('.') else '.'}" for warning in warnings]


def _day(of: Round) -> str:
    return "" if of.ended_at_ms is None else datetime.fromtimestamp(of.ended_at_ms / 1000, tz=UTC).date().isoformat()
