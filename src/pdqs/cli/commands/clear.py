"""pdqs clear: bids in, offers out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pdqs.cli.options import TermsOptions, with_options
from pdqs.cli.streams import RoundOptions, streamed


@with_options
def run(
    bids: Annotated[
        str,
        typer.Argument(help="A .csv or .parquet file with columns owner,bid; or a folder, pattern or URI of Parquet."),
    ],
    way: RoundOptions,
    options: TermsOptions,
    out: Annotated[
        Path | None,
        typer.Option(help="Write owner,bid,q,epsilon,payment,chance,draw to a .csv or .parquet file, or folder."),
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
    from pdqs.tables import files, round_files

    if streamed(bids, way.cluster, out):
        way.clear_stream(bids, options.terms(), seed, out)
        return
    check_targets(out, way.picture, inputs=(bids,))
    terms = options.terms()
    table = files.read_table(Path(bids), ("owner", "bid"), optional=("value",))
    owners = [str(owner) for owner in table.columns["owner"]]
    with files.naming(Path(bids)):
        offers = pdqs.clear(table.columns["bid"], terms, draws=seed, owners=table.columns["owner"])
    result = {**terms_data(terms), **offers_data(offers, way.level)}
    columns = round_files.offer_columns(owners, offers)
    save(out=out, table=columns, picture=way.picture, draw=lambda: figures.offers_figure(offers, terms))

    to = console_output(way.as_json)
    to.show(offers)
    to.first_rows(columns, "offers")
    to.wrote(out, way.picture)
    to.finish(result, columns if out is None else {}, "offers")
