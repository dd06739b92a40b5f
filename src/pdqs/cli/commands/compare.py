"""pdqs compare: mechanisms side by side on one market, a row each."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pdqs.cli.market_files import MarketColumns
from pdqs.cli.options import PRESETS, TermsOptions, read_frozen, with_options
from pdqs.cli.shared_options import Json, Level, Overwrite

if TYPE_CHECKING:
    from pdqs.rounds.terms import Terms

USUAL = ("honest", "sound", "robust")


@with_options
def run(
    market: Annotated[
        Path, typer.Argument(help="A .csv, .tsv (gzipped too) or .parquet file with columns owner,bid,value, or -.")
    ],
    options: TermsOptions,
    columns: MarketColumns,
    mechanisms: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"{', '.join(PRESETS)}, rule:NAME, or a file of terms; {', '.join(USUAL)} if none is named."
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How many for each mechanism.")] = 100,
    seed: Annotated[int | None, typer.Option(min=0, help="Of draws and coins; a fresh one if not given.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write a row a mechanism to a file of those kinds, or to -.")] = None,
    overwrite: Overwrite = False,
    level: Level = 0.95,
    as_json: Json = False,
) -> None:
    """Run several mechanisms on the same market, and say how near, how sure and how dear each is."""
    import secrets

    import numpy as np

    import pdqs
    from pdqs.cli.output import console_output
    from pdqs.cli.saving import check_targets, save
    from pdqs.model.errors import TermsError
    from pdqs.present.frames import plain

    if options.preset is not None:
        raise TermsError("name the mechanisms after the file, not with --preset")
    check_targets(out, inputs=(str(market), *options.files), overwrite=overwrite)
    to = console_output(as_json, out)
    seed = secrets.randbits(32) if seed is None else seed
    terms = {name: _terms_of(name, options) for name in mechanisms or USUAL}
    table = columns.read(market)
    values = columns.values(table, next(iter(terms.values())).domain)
    with table.naming():
        found = pdqs.compare(
            terms, values, table.columns["bid"], np.random.default_rng(seed), rounds=rounds, level=level
        )
    save(out=out, table={name: list(cells) for name, cells in found.columns().items()})

    to.rows(found.HEAD, found.cells(), title=found.title())
    for note in found.notes():
        to.say(f"! {note}", style="yellow")
    to.say(f"  seed {seed}")
    to.wrote(out)
    outcomes = [plain(dataclasses.asdict(one)) for one in found.outcomes]
    to.finish({"seed": seed, "rounds": rounds, "level": level, "truth": found.truth, "mechanisms": outcomes})


def _terms_of(name: str, options: TermsOptions) -> Terms:
    """The terms that a word stands for: those of a file, or a mechanism's under the options, or under --terms."""
    if name.endswith((".toml", ".json")):
        return read_frozen(Path(name))
    if options.terms_file is not None:
        given = options.terms()
        low, high = given.bid_range
        market = TermsOptions(budget=given.budget, bid_range=f"{low!r}:{high!r}")
        return dataclasses.replace(_terms_of(name, market), query=given.query)
    if name.startswith("rule:"):
        return dataclasses.replace(options, rule=name.removeprefix("rule:")).terms()
    return dataclasses.replace(options, preset=name).terms()
