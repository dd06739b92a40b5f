"""pdqs populations"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pdqs.experiments import populations
from pdqs.model.errors import InputError, PdqsError
from pdqs.present.text import table

run = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="List, verify and fetch the six populations of the paper.",
)


@run.command("list")
def list_them() -> None:
    """The figures that the package holds."""
    head = ("population", "owners", "count", "median", "values", "licence", "source")
    rows = [
        (
            found.name,
            f"{found.owners:,}",
            f"{found.count_ones:,}",
            f"{found.median_truth:,g} {found.median_unit}",
            str(found.median_domain.size),
            found.licence,
            found.source,
        )
        for found in map(populations.load, populations.names())
    ]
    typer.echo(table(head, rows))


@run.command()
def verify(data: Annotated[Path, typer.Option(help="Directory with NAME.csv for each population.")]) -> None:
    """Recount the populations from their raw files and say which figures agree."""
    from pdqs.experiments.verify import refuse_disagreement
    from pdqs.experiments.verify import verify_populations as recounted

    figures = recounted(data)
    rows = [
        (each.population, each.name, "agrees" if each.agrees else "DIFFERS", _short(each.held), _short(each.counted))
        for each in figures
    ]
    typer.echo(table(("population", "figure", "", "held", "counted"), rows))
    missing = [name for name in populations.names() if name not in {each.population for each in figures}]
    if missing:
        typer.echo(f"not there, so not verified: {', '.join(missing)}")
    refuse_disagreement(figures)
    typer.echo(f"{len(figures)} of {len(figures)} figures agree")


@run.command()
def fetch(
    data: Annotated[Path, typer.Option(help="Directory to put the raw files in.")],
    base: Annotated[str, typer.Option(help="Where the UCI archives are, for a mirror.")] = "",
    only: Annotated[list[str] | None, typer.Option(help="Only this population (may be given again).")] = None,
) -> None:
    """Download what may be downloaded, check it, and say how to get the rest."""
    from pdqs.experiments import fetch as fetching

    for name in only or ():
        if name not in fetching.ARCHIVES:
            raise InputError(
                f"{name!r} cannot be fetched: {fetching.by_hand().get(name, 'there is no such population')}"
            )
    faults = []
    for name in only or fetching.ARCHIVES:
        try:
            new = fetching.fetch_population(name, data, base=base or fetching.UCI)
            typer.echo(f"{name}: {'fetched' if new else 'already there'}, sha256 as held")
        except PdqsError as fault:
            faults.append(fault)
            typer.echo(f"{name}: {fault}")
    if only is None:
        for name, how in fetching.by_hand().items():
            typer.echo(f"{name}: needs an account of your own: {how}")
    if faults:
        raise faults[0]


def _short(text: str) -> str:
    return text if len(text) <= 32 else f"{text[:29]}..."
