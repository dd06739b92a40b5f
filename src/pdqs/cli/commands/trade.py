"""pdqs trade: a whole round in one process, every part played here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pdqs.cli.market_files import MarketColumns
from pdqs.cli.options import TermsOptions, with_options
from pdqs.cli.streams import RoundOptions, streamed


@with_options
def run(
    market: Annotated[
        str,
        typer.Argument(
            help="A .csv, .tsv (gzipped too) or .parquet file with columns owner,bid,value, or -; or a"
            " folder, pattern or URI of Parquet."
        ),
    ],
    way: RoundOptions,
    options: TermsOptions,
    columns: MarketColumns,
    seed: Annotated[int | None, typer.Option(min=0, help="Of draws and coins; a fresh one if not given.")] = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="Write what pdqs clear writes, and report,paid, to a file of those kinds, -, a folder or a URI."
        ),
    ] = None,
) -> None:
    """Run a whole round: bids and values in, an answer and payments out."""
    import secrets

    import numpy as np

    import pdqs
    from pdqs.cli.output import console_output, offers_data, terms_data
    from pdqs.cli.saving import check_targets, save
    from pdqs.present import figures
    from pdqs.tables import round_files

    seed = secrets.randbits(32) if seed is None else seed
    if streamed(market, way.cluster, out):
        way.trade_stream(market, options.terms(), columns, seed, out)
        return
    target = None if out is None else Path(out)
    check_targets(target, way.picture, inputs=(market, *options.files), overwrite=way.overwrite)
    to = console_output(way.as_json, target)
    terms = options.terms()
    table = columns.read(Path(market))
    values = columns.values(table, terms.domain)
    with table.naming():
        done = pdqs.trade(values, table.columns["bid"], terms, np.random.default_rng(seed), level=way.level)
    made = round_files.trade_columns([str(owner) for owner in table.columns["owner"]], done)
    save(out=target, table=made, picture=way.picture, draw=lambda: figures.trade_figure(done))

    to.show(done)
    to.say(f"  seed {seed}")
    to.wrote(target, way.picture)
    result = {
        "seed": seed,
        **terms_data(terms),
        **offers_data(done.offers, terms, way.level),
        "paid_micros": done.payments.total_micros,
        "within_budget": done.payments.within_budget,
        "answer": done.answer.to_dict(),
    }
    to.finish(result, made if out is None else {}, "trades")
