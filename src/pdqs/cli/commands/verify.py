"""pdqs verify: check the record of a round that somebody else ran."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pdqs.cli.shared_options import Json


def run(
    record: Annotated[
        Path, typer.Argument(metavar="RECORD", help="The record of a round, a .json file; - reads it in.")
    ],
    root: Annotated[
        str | None, typer.Option(metavar="HEX", help="The root over the bids that you wrote down when bids closed.")
    ] = None,
    terms_hash: Annotated[
        str | None, typer.Option(metavar="HEX", help="The hash of the terms that you wrote down when the round opened.")
    ] = None,
    proof: Annotated[Path | None, typer.Option(help="What your own device kept, a file of pdqs owner proof.")] = None,
    as_json: Json = False,
) -> None:
    """Make a round again from its record. Exit code 1 when something does not agree."""
    from pdqs.cli.output import console_output
    from pdqs.tables.delimited import read_bytes, text_of
    from pdqs.tables.files import naming
    from pdqs.verifying import OwnProof, RoundRecord, verify
    from pdqs.verifying.record import promise_in

    to = console_output(as_json)
    with naming(record):
        told = RoundRecord.read(text_of(read_bytes(record), record))
        promise_in(told.terms)
    own = None
    if proof is not None:
        with naming(proof):
            own = OwnProof.read(text_of(read_bytes(proof), proof))
    found = verify(told, root=root, terms_hash=terms_hash, proof=own)
    to.show(found)
    to.finish(found.to_dict())
    if not found.agrees:
        raise typer.Exit(1)
