"""pdqs clear: bids in, offers out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pdqs.cli.common import Json, Level, Picture
from pdqs.cli.options import TermsOptions, with_terms


@with_terms
def run(
    bids: Annotated[Path, typer.Argument(help="A .csv or .parquet file with columns owner,bid.")],
    options: TermsOptions,
    out: Annotated[
        Path | None, typer.Option(help="Write the offers (owner,bid,q,epsilon,payment) to a .csv or .parquet file.")
    ] = None,
    picture: Picture = None,
    level: Level = 0.95,
    as_json: Json = False,
) -> None:
    """Turn bids into offers."""
    import pdqs
    from pdqs import figures, files, records
    from pdqs.cli.output import offers_data, output, terms_data
    from pdqs.cli.saving import check_targets, save

    check_targets(out, picture)
    terms = options.terms()
    table = files.read_table(bids, ("owner", "bid"), optional=("value",))
    asked = table.bids(terms.bid_range)
    with files.naming(bids):
        offers = pdqs.clear(asked, terms)
    result = {**terms_data(terms), **offers_data(offers, level)}
    columns = records.offer_columns([str(owner) for owner in table.columns["owner"]], offers)
    save(out=out, table=columns, picture=picture, draw=lambda: figures.offers_figure(offers, terms))

    to = output(as_json)
    to.show(offers)
    to.first_rows(columns, "offers")
    to.wrote(out, picture)
    to.finish(result, columns if out is None else {}, "offers")
