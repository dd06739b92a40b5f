"""pdqs trade: a whole round in one process, every part played here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pdqs.cli.options import TermsOptions, with_options
from pdqs.cli.streams import RoundOptions, streamed


@with_options
def run(
    market: Annotated[
        str,
        typer.Argument(
            help="A .csv or .parquet file with columns owner,bid,value; or a folder, pattern or URI of Parquet."
        ),
    ],
    way: RoundOptions,
    options: TermsOptions,
    seed: Annotated[int | None, typer.Option(min=0, help="Of draws and coins; a fresh one if not given.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write what pdqs clear writes, and report,paid, to a .csv or .parquet file, or folder."),
    ] = None,
) -> None:
    """Run a whole round: bids and values in, an answer and payments out."""
    import secrets

    import numpy as np

    import pdqs
    from pdqs.cli.output import console_output, offers_data, terms_data
    from pdqs.cli.saving import check_targets, save
    from pdqs.present import figures
    from pdqs.tables import files, round_files

    seed = secrets.randbits(32) if seed is None else seed
    if streamed(market, way.cluster, out):
        way.trade_stream(market, options.terms(), seed, out)
        return
    check_targets(out, way.picture, inputs=(market,))
    terms = options.terms()
    table = files.read_table(Path(market), ("owner", "bid", "value"))
    values = table.values(terms.domain)
    with files.naming(Path(market)):
        done = pdqs.trade(values, table.columns["bid"], terms, np.random.default_rng(seed), level=way.level)
    columns = round_files.trade_columns([str(owner) for owner in table.columns["owner"]], done)
    save(out=out, table=columns, picture=way.picture, draw=lambda: figures.offers_figure(done.offers, terms))

    to = console_output(way.as_json)
    to.show(done)
    to.say(f"  seed {seed}")
    to.wrote(out, way.picture)
    result = {
        "seed": seed,
        **terms_data(terms),
        **offers_data(done.offers, way.level),
        "paid_micros": done.payments.total_micros,
        "within_budget": done.payments.within_budget,
        "answer": done.answer.to_dict(),
    }
    to.finish(result, columns if out is None else {}, "trades")
