"""Where results go: looked at before any work is done, so that a slip of the pen costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pdqs.model.errors import FileError
from pdqs.present import figures
from pdqs.tables import files
from pdqs.tables.delimited import STANDARD

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check_targets(
    out: Path | None = None, picture: Path | None = None, *, inputs: Sequence[str] = (), overwrite: bool = False
) -> None:
    """Refuse a file whose kind is unknown, whose folder is not there, which is read here, or which is there already."""
    for path, kinds in ((out, files.KINDS), (picture, figures.KINDS)):
        if path is not None and (path != STANDARD or path is picture):
            check_target(path, kinds, inputs=inputs, overwrite=overwrite)
    if out is not None and picture is not None and out.resolve() == picture.resolve():
        raise FileError(f"cannot write {out} twice: --out and --picture are the same file")


def check_target(path: Path, kinds: Sequence[str], *, inputs: Sequence[str] = (), overwrite: bool = False) -> None:
    """Refuse one file that could not, or should not, be written."""
    if any(path.resolve() == Path(given).resolve() for given in inputs):
        raise FileError(f"cannot write {path}: it is read by this very command; name another file")
    files.refuse_unknown_kind(path, kinds)
    if not path.parent.is_dir():
        raise FileError(f"cannot write {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise FileError(f"cannot write {path}: it is a folder")
    if path.exists() and not overwrite:
        raise FileError(f"{path} is there already: name another file, or add --overwrite")


def save(
    *,
    out: Path | None = None,
    table: Mapping[str, Sequence[object]] | None = None,
    picture: Path | None = None,
    draw: Callable[[], Figure] | None = None,
) -> None:
    """Write what was asked for, once all of it is made: a picture that cannot be drawn leaves no table behind."""
    drawn = draw() if picture is not None and draw is not None else None
    if out is not None and table is not None:
        files.write_table(out, table)
    if picture is not None and drawn is not None:
        figures.save(drawn, picture)
