"""pdqs compare: mechanisms side by side on one market, a row each."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from pdqs.cli.options import PRESETS, TermsOptions, with_options
from pdqs.cli.shared_options import Json, Level

USUAL = ("honest", "sound", "robust")


@with_options
def run(
    market: Annotated[Path, typer.Argument(help="A .csv or .parquet file with columns owner,bid,value.")],
    options: TermsOptions,
    mechanisms: Annotated[
        list[str] | None,
        typer.Argument(help=f"{', '.join(PRESETS)}, or rule:NAME; {', '.join(USUAL)} if none is named."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How many for each mechanism.")] = 100,
    seed: Annotated[int | None, typer.Option(min=0, help="Of draws and coins; a fresh one if not given.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write a row a mechanism to a .csv or .parquet file.")] = None,
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
    from pdqs.tables import files

    if options.preset is not None:
        raise TermsError("name the mechanisms after the file, not with --preset")
    check_targets(out)
    seed = secrets.randbits(32) if seed is None else seed
    terms = {
        name: dataclasses.replace(options, rule=name.removeprefix("rule:")).terms()
        if name.startswith("rule:")
        else dataclasses.replace(options, preset=name).terms()
        for name in mechanisms or USUAL
    }
    table = files.read_table(market, ("owner", "bid", "value"))
    values = table.values(next(iter(terms.values())).domain)
    with files.naming(market):
        found = pdqs.compare(
            terms, values, table.columns["bid"], np.random.default_rng(seed), rounds=rounds, level=level
        )
    columns = {name: list(cells) for name, cells in found.columns().items()}
    save(out=out, table=columns)

    to = console_output(as_json)
    to.rows(found.HEAD, found.cells(), title=found.title())
    for note in found.notes():
        to.say(f"! {note}", style="yellow")
    to.say(f"  seed {seed}")
    to.wrote(out)
    outcomes = [plain(dataclasses.asdict(one)) for one in found.outcomes]
    to.finish({"seed": seed, "rounds": rounds, "level": level, "truth": found.truth, "mechanisms": outcomes})
