"""pdqs trade: a whole round in one process, every part played here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pdqs.cli.options import TermsOptions, with_terms
from pdqs.cli.shared_options import Json, Level, Picture
from pdqs.cli.streams import Cluster, streamed, trade_stream


@with_terms
def run(
    market: Annotated[
        str,
        typer.Argument(
            help="A .csv or .parquet file with columns owner,bid,value; or a folder, pattern or URI of Parquet."
        ),
    ],
    options: TermsOptions,
    seed: Annotated[int | None, typer.Option(min=0, help="Of draws and coins; a fresh one if not given.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write what pdqs clear writes, and report,paid, to a .csv or .parquet file, or folder."),
    ] = None,
    picture: Picture = None,
    level: Level = 0.95,
    cluster: Cluster = None,
    as_json: Json = False,
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
    if streamed(market, cluster, out):
        trade_stream(market, options.terms(), seed, out, picture, cluster, level, as_json)
        return
    check_targets(out, picture, inputs=(market,))
    terms = options.terms()
    table = files.read_table(Path(market), ("owner", "bid", "value"))
    values = table.values(terms.question.domain)
    with files.naming(Path(market)):
        done = pdqs.trade(values, table.columns["bid"], terms, np.random.default_rng(seed), level=level)
    columns = round_files.trade_columns([str(owner) for owner in table.columns["owner"]], done)
    save(out=out, table=columns, picture=picture, draw=lambda: figures.offers_figure(done.offers, terms))

    to = console_output(as_json)
    to.show(done)
    to.say(f"  seed {seed}")
    to.wrote(out, picture)
    result = {
        "seed": seed,
        **terms_data(terms),
        **offers_data(done.offers, level),
        "paid_micros": done.payments.total_micros,
        "within_budget": done.payments.within_budget,
        "answer": done.answer.to_dict(),
    }
    to.finish(result, columns if out is None else {}, "trades")
