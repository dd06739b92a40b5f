"""pdqs demo: every mechanism on one population, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pdqs.cli.extras import require
from pdqs.cli.shared_options import Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pdqs.cli.output import Output
    from pdqs.cli.showcase import Showing
    from pdqs.present.figures import Strip


def run(
    out: Annotated[Path, typer.Option(help="The folder for the picture and the figures; made if need be.")],
    population: Annotated[
        str, typer.Option(help="obesity, maternal, exam, students, salaries or customers.")
    ] = "obesity",
    query: Annotated[str, typer.Option(help="count or median.")] = "count",
    budget_share: Annotated[float, typer.Option(help="The budget, in units of money an owner.")] = 0.3,
    seed: Annotated[int, typer.Option(min=0, help="Of the bids and of the owners' coins.")] = 1,
    as_json: Json = False,
) -> None:
    """Run every mechanism on an embedded population and draw what came out."""
    require("rich", "matplotlib")
    import numpy as np

    from pdqs.cli.output import console_output, json_text
    from pdqs.cli.showcase import MECHANISMS, moral, question_of, showings
    from pdqs.experiments import populations
    from pdqs.model.errors import TermsError
    from pdqs.present import figures
    from pdqs.tables import files

    people = populations.load(population)
    if query not in ("count", "median"):
        raise TermsError(f"unknown query {query!r}: the demonstration knows count and median")
    if not 0 < budget_share < float("inf"):
        raise TermsError(f"--budget-share must be a finite number above 0, got {budget_share}")
    unit = "owners" if query == "count" else people.median_unit
    _, _, truth, words = question_of(people, query)
    _make_folder(out)
    to = console_output(as_json)
    running = showings(people, query, budget_share * people.owners, np.random.default_rng(seed))
    shown = to.progress(running, len(MECHANISMS), "running the mechanisms")
    sentence = moral(shown, unit)
    result = {
        "population": people.name,
        "title": people.title,
        "source": people.source,
        "question": words,
        "seed": seed,
        "mechanisms": [one.data() for one in shown],
        "notice": sentence,
    }
    drawn = figures.demo_figure([_strip(one) for one in shown], title=words, truth=truth, unit=unit)
    figures.save(drawn, out / "demo.png")
    files.write_text(out / "demo.json", json_text(result))

    to.say(f"{people.title}: {words}", style="bold")
    _table(to, shown)
    to.say(sentence)
    to.wrote(out / "demo.png", out / "demo.json")
    to.finish(result)


def _make_folder(path: Path) -> None:
    from pdqs.model.errors import FileError

    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise FileError(f"cannot make the folder {path}: {fault.strerror}") from None


def _table(to: Output, shown: Sequence[Showing]) -> None:
    rows = []
    for one in shown:
        answer, payments = one.first.answer, one.first.payments
        kept = " ".join(promise.name if promise.kept else "-" * len(promise.name) for promise in one.promises)
        low, high = answer.interval
        rows.append(
            (
                one.name,
                f"{answer.value:,.0f}",
                f"{one.truth:,.0f}",
                f"{(answer.value - one.truth) / one.truth:+.1%}",
                f"{low:,.0f} to {high:,.0f}",
                f"{payments.total_micros / payments.budget_micros:.1%}" if payments.budget_micros else "-",
                kept,
            )
        )
    level = f"{shown[0].first.answer.level:.0%}"
    to.rows(("mechanism", "answer", "truth", "error", f"{level} interval", "of budget", "promises kept"), rows)
    to.say("IC no lie gains, IR nobody loses, BF the budget holds, LDP the broker learns no more than stated")


def _strip(one: Showing) -> Strip:
    from pdqs.present.figures import Strip

    answer, offers = one.first.answer, one.first.offers
    return Strip(
        name=one.name,
        answers=one.answers,
        interval=answer.interval,
        level=answer.level,
        keeps_all=len(one.kept) == len(one.promises),
        bids=offers.bids,
        q=offers.q,
    )
