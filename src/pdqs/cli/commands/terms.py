"""pdqs terms: freeze what a round promises in a file that every command takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pdqs.cli.options import TermsOptions, with_options
from pdqs.cli.shared_options import Json, Overwrite


@with_options
def run(
    options: TermsOptions,
    out: Annotated[
        Path | None, typer.Option(help="Write them, frozen under their hash, to a .toml file, or to -.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Show what the terms promise, and freeze them in a file for --terms."""
    from pdqs.cli.output import console_output, terms_data
    from pdqs.cli.saving import check_target
    from pdqs.tables.delimited import STANDARD
    from pdqs.tables.files import write_text
    from pdqs.tables.terms_files import frozen

    if out not in (None, STANDARD):
        check_target(out, (".toml",), inputs=options.files, overwrite=overwrite)
    to = console_output(as_json, out)
    terms = options.terms()
    if out is not None:
        write_text(out, frozen(terms))
    to.show(terms)
    to.say(f"  hash {terms.hash}")
    to.wrote(out)
    to.finish(terms_data(terms))
