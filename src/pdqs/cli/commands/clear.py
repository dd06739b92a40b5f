"""pdqs clear: bids in, offers out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pdqs.cli.market_files import BidColumns
from pdqs.cli.options import TermsOptions, with_options
from pdqs.cli.streams import RoundOptions, streamed


@with_options
def run(
    bids: Annotated[
        str,
        typer.Argument(
            help="A .csv, .tsv (gzipped too) or .parquet file with columns owner,bid, or -; or a folder,"
            " pattern or URI of Parquet."
        ),
    ],
    way: RoundOptions,
    options: TermsOptions,
    columns: BidColumns,
    out: Annotated[
        str | None,
        typer.Option(
            help="Write owner,bid,q,epsilon,payment,chance,draw to a file of those kinds, -, a folder or a URI."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of a lottery's draws; without one they follow from terms and owner ids.")
    ] = None,
) -> None:
    """Turn bids into offers."""
    import pdqs
    from pdqs.cli.output import console_output, offers_data, terms_data
    from pdqs.cli.saving import check_targets, save
    from pdqs.present import figures
    from pdqs.tables import round_files

    if streamed(bids, way.cluster, out):
        way.clear_stream(bids, options.terms(), columns, seed, out)
        return
    target = None if out is None else Path(out)
    check_targets(target, way.picture, inputs=(bids, *options.files), overwrite=way.overwrite)
    to = console_output(way.as_json, target)
    terms = options.terms()
    table = columns.read(Path(bids))
    owners = [str(owner) for owner in table.columns["owner"]]
    with table.naming():
        offers = pdqs.clear(table.columns["bid"], terms, draws=seed, owners=table.columns["owner"])
    result = {**terms_data(terms), **offers_data(offers, terms, way.level)}
    made = round_files.offer_columns(owners, offers)
    save(out=target, table=made, picture=way.picture, draw=lambda: figures.offers_figure(offers, terms))

    to.show(offers)
    to.first_rows(made, "offers")
    to.wrote(target, way.picture)
    to.finish(result, made if out is None else {}, "offers")
