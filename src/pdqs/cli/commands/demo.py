"""pdqs demo: same money, prices that tell, and who is still right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pdqs.cli.extras import require
from pdqs.cli.shared_options import Json, Overwrite
from pdqs.model.names import QueryKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from pdqs.cli.output import Output
    from pdqs.cli.showcase import Showing
    from pdqs.present.figures import Strip

QUERIES = (QueryKind.COUNT, QueryKind.MEDIAN)


def run(
    out: Annotated[Path, typer.Option(help="The folder for the picture and the figures; made if need be.")],
    population: Annotated[
        str, typer.Option(help="obesity, maternal, exam, students, salaries or customers.")
    ] = "obesity",
    query: Annotated[str, typer.Option(help=f"{' or '.join(QUERIES)}.")] = QueryKind.COUNT.value,
    budget_share: Annotated[float, typer.Option(help="The budget, in units of money an owner.")] = 0.3,
    seed: Annotated[int, typer.Option(min=0, help="Of the bids and of the owners' coins.")] = 1,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Run every mechanism where owners with the trait ask for more, and draw who is still right."""
    require("rich", "matplotlib")
    import numpy as np

    from pdqs.auditing.price_patterns import DEARER
    from pdqs.cli.output import console_output, json_text
    from pdqs.cli.showcase import MECHANISMS, moral, question_of, showings
    from pdqs.experiments import populations
    from pdqs.model.errors import TermsError
    from pdqs.present import figures
    from pdqs.tables import files

    people = populations.load(population)
    if query not in QUERIES:
        raise TermsError(f"unknown query {query!r}: the demonstration knows {' and '.join(QUERIES)}")
    if not 0 < budget_share < float("inf"):
        raise TermsError(f"--budget-share must be a finite number above 0, got {budget_share}")
    unit = "owners" if query == QueryKind.COUNT else people.median_unit
    _, _, truth, words = question_of(people, query)
    _make_folder(out, overwrite)
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
        "prices": f"owners {_dearer(query)} ask {DEARER:g} times more (lognormal)",
        "mechanisms": [one.data() for one in shown],
        "notice": sentence,
    }
    title = f"Same money, and owners {_dearer(query)} ask {DEARER:g} times more: who is still right?\n{words}"
    figures.save(_drawn(shown, title=title, truth=truth, unit=unit), out / "demo.png")
    files.write_text(out / "demo.json", json_text(result))

    to.say(f"{people.title}: {words}", style="bold")
    to.say(f"The truth is {truth:,.0f}. Owners {_dearer(query)} ask {DEARER:g} times more; all have the same money.")
    _table(to, shown)
    to.say(sentence)
    to.wrote(out / "demo.png", out / "demo.json")
    to.finish(result)


def _dearer(query: str) -> str:
    return "with the trait" if query == QueryKind.COUNT else "above the median"


def _make_folder(path: Path, overwrite: bool) -> None:
    from pdqs.cli.saving import check_target
    from pdqs.model.errors import FileError

    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise FileError(f"cannot make the folder {path}: {fault.strerror}") from None
    for name in ("demo.png", "demo.json"):
        check_target(path / name, (".png", ".json"), overwrite=overwrite)


def _table(to: Output, shown: Sequence[Showing]) -> None:
    from pdqs.cli.promises import IN_WORDS

    rows = []
    for one in shown:
        answer, payments = one.first.answer, one.first.payments
        kept = " ".join(map(str, one.promises))
        told = ("no answer", "-", "-")
        if answer.value is not None:
            low, high = answer.interval
            error = f"{(answer.value - one.truth) / one.truth:+.0%}" if one.truth else "-"
            told = (f"{answer.value:,.0f}", error, f"{low:,.0f} to {high:,.0f}")
        spent = f"{payments.total_micros / payments.budget_micros:.0%}" if payments.budget_micros else "-"
        rows.append((one.name, *told, f"{one.held}/{len(one.rounds)}", spent, kept))
    level = f"{shown[0].first.answer.level:.0%}"
    to.rows(("mechanism", "answer", "error", f"{level} interval", "held", "budget", "promises kept"), rows)
    named = [f"{name} {words}" for name, words in IN_WORDS.items()]
    to.say(f"{', '.join(named[:3])} ((BF): on average),")
    to.say(f"{', '.join(named[3:])};")
    to.say("nobody promises that owners do not send noise, nor that a bid tells nothing")


def _drawn(shown: Sequence[Showing], *, title: str, truth: float, unit: str) -> Figure:
    from pdqs.cli.promises import IN_WORDS
    from pdqs.present.figures import demo_figure

    return demo_figure([_strip(one) for one in shown], title=title, truth=truth, unit=unit, promises=IN_WORDS)


def _strip(one: Showing) -> Strip:
    from pdqs.cli.showcase import DRAWN
    from pdqs.present.figures import Strip

    answer, offers = one.first.answer, one.first.offers
    return Strip(
        name=one.name,
        answers=one.answers,
        interval=answer.interval or (float("nan"), float("nan")),
        level=answer.level,
        held=one.held,
        broken=tuple(promise.name for promise in one.promises if not promise.kept),
        drawn=one.name in DRAWN,
        bids=offers.bids,
        heard=offers.chance * offers.q.max() if offers.by_lottery else offers.q,
    )
