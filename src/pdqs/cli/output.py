"""What commands print: tables for people, JSON (and nothing else) for machines."""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar, final

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from pdqs.model.errors import FileError
from pdqs.planning.forecasts import Plan, PlanChanges, PlanCurve
from pdqs.planning.promised import promised_half_width
from pdqs.present.frames import plain
from pdqs.present.text import Shown, spelled_out
from pdqs.rounds.offers import Offers
from pdqs.rounds.terms import Terms
from pdqs.tables.delimited import STANDARD, print_out
from pdqs.tables.files import MONEY_COLUMNS

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Output:
    """Where a command speaks. With ``as_json`` only :meth:`finish` prints, and only JSON."""

    as_json: bool
    console: Console

    def show(self, result: Shown) -> None:
        """A result as a titled table, its notes below."""
        self.say(result.title(), style="bold")
        table = Table(show_header=False, box=None)
        table.add_column(style="cyan", no_wrap=True)
        table.add_column()
        for name, value in result.rows():
            table.add_row(name, value)
        self._print(table)
        for note in result.notes():
            self.say(f"! {note}", style="yellow")

    def rows(self, head: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None) -> None:
        """A table with a header; the first column to the left, the others to the right."""
        if title is not None:
            self.say(title, style="bold")
        if _width_of(head, rows) > self.console.width:
            self._row_by_row(head, rows)
            return
        table = Table(box=None, header_style="cyan", collapse_padding=True, pad_edge=False)
        for i, name in enumerate(head):
            table.add_column(name, justify="left" if i == 0 else "right", no_wrap=i > 0)
        for row in rows:
            table.add_row(*row)
        self._print(table)

    def _row_by_row(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """What is too wide for the terminal: each row under its name, a line for each of its cells."""
        for row in rows:
            self.say(row[0], style="cyan")
            told = Table(show_header=False, box=None)
            told.add_column(no_wrap=True)
            told.add_column()
            for name, cell in zip(head[1:], row[1:], strict=True):
                told.add_row(name, cell)
            self._print(told)

    def say(self, sentence: str, style: str | None = None) -> None:
        """A line for people."""
        if not self.as_json:
            self.console.print(sentence, style=style, markup=False, highlight=False, soft_wrap=True)

    def first_rows(self, table: Mapping[str, Sequence[object]], what: str, most: int = 8) -> None:
        """The first rows of a table of owners."""
        rows = [[_cell(cell) for cell in row] for row in islice(zip(*table.values(), strict=True), most)]
        owners = len(next(iter(table.values())))
        title = f"The first {most} of {owners:,} {what}" if owners > most else f"All {owners} {what}"
        self.rows(tuple(table), rows, title=title)

    def progress(self, work: Iterable[T], steps: int, doing: str) -> list[T]:
        """Do the work, with a bar on standard error for people at a terminal."""
        bar = Progress(console=Console(stderr=True), transient=True, disable=self.as_json or not sys.stderr.isatty())
        with bar:
            return list(bar.track(work, total=steps, description=doing))

    def wrote(self, *paths: Path | str | None) -> None:
        """Name the files that were written."""
        for path in paths:
            if path not in (None, STANDARD):
                self.say(f"wrote {path}")

    def finish(
        self, result: Mapping[str, object], table: Mapping[str, Sequence[object]] | None = None, what: str = ""
    ) -> None:
        """The whole result for machines, with the rows of a table unless they went to a file."""
        if self.as_json:
            print_out(json_text({**result, what: records(table)} if table else result))

    def _print(self, table: Table) -> None:
        if not self.as_json:
            self.console.print(table)


def console_output(as_json: bool, out: Path | None = None) -> Output:
    """Standard output, at the terminal's width; wide enough for every table where there is no terminal.

    Where a table goes to standard output, what is said to people goes to standard error.
    """
    aside = out == STANDARD
    if aside and as_json:
        raise FileError("--json and --out - both write to standard output: choose one")
    stream = sys.stderr if aside else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # a terminal without ± still gets the figures
    console = Console(stderr=aside)
    return Output(as_json, console if console.is_terminal else Console(stderr=aside, width=120))


def _width_of(head: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """How many columns a table takes without a cell being cut.

    >>> _width_of(("who", "paid"), [("Ann", "12.00")])
    9
    """
    return sum(max(len(row[i]) for row in [head, *rows]) for i in range(len(head))) + len(head) - 1


def _cell(cell: object) -> str:
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)


def json_text(result: Mapping[str, object]) -> str:
    """JSON that any reader accepts: what is not a finite number is null, and nothing in it steers a terminal.

    >>> print(json_text({"half_width": float("inf"), "q": (0.5,)}), end="")
    {
      "half_width": null,
      "q": [
        0.5
      ]
    }
    """
    return spelled_out(json.dumps(plain(result), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def terms_data(terms: Terms) -> dict[str, object]:
    """Terms for machines: their canonical form and its hash."""
    return {"terms": json.loads(terms.canonical()), "terms_hash": terms.hash}


def offers_data(offers: Offers, terms: Terms, level: float) -> dict[str, object]:
    """What was bought, for machines; money in units, and exactly in micro-units."""
    return {
        "owners": len(offers),
        "bought": offers.bought,
        "spent": offers.spent,
        "spent_micros": offers.spent_micros,
        "budget_micros": offers.budget_micros,
        "information": offers.information,
        "forecast_half_width": promised_half_width(offers, terms, level),
    }


def plan_data(plan: Plan, curve: PlanCurve, changes: PlanChanges, alpha: float | None) -> dict[str, object]:
    """A plan for machines; an error of ``alpha`` or more has a chance of at most ``delta``."""
    stated = plan.share_half_width if alpha is None else alpha
    return {
        **plan.to_dict(),
        "alpha": stated,
        "delta": plan.delta(stated) if math.isfinite(stated) else None,
        "curve": [{"budget": b, "half_width": w} for b, w in zip(curve.budgets, curve.half_widths, strict=True)],
        "changes": [{"terms": each.name, "half_width": width} for each, width in changes.found],
    }


def records(table: Mapping[str, Sequence[object]]) -> list[dict[str, object]]:
    """Columns as a list of rows, for JSON; money as a number.

    >>> records({"owner": ["a", "b"], "payment": ["0.500000", "0.000000"]})
    [{'owner': 'a', 'payment': 0.5}, {'owner': 'b', 'payment': 0.0}]
    """
    held = {name: [float(str(c)) for c in cells] if name in MONEY_COLUMNS else cells for name, cells in table.items()}
    return [dict(zip(held, row, strict=True)) for row in zip(*held.values(), strict=True)]
