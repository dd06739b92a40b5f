"""Options that several commands share, word for word."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Level = Annotated[float, typer.Option(help="Of the interval: how often it must hold the truth.")]
Picture = Annotated[Path | None, typer.Option(help="Draw it to a .png, .svg or .pdf file.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there already.")]
