"""The atomic writer: a file or folder is there whole or not at all, and stays there if the power fails.

What is written goes to a passing name in the same folder, is synced to the disk, takes its own name in one step, and
the folder is synced so that the new name lasts too. Everything in the package that replaces a file goes through here.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pdqs.model.errors import FileError

UNFINISHED = ".unfinished-"
"""How passing names begin: what is left of a process that was killed can be known by it, and swept up."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A passing file beside ``path``: it takes its place when the block ends well and vanishes when it does not.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with replacing(Path(place) / "a.txt") as passing:
    ...         _ = passing.write_text("whole")
    ...     [found.name for found in Path(place).iterdir()]
    ['a.txt']
    """
    if path.is_dir():
        raise FileError(f"cannot write {path}: it is a folder")
    passing = path.with_name(f"{UNFINISHED}{secrets.token_hex(6)}{path.suffix}")
    try:
        yield passing
        _sync(passing)
        take_place(passing, path)
    except OSError as fault:
        raise FileError(f"cannot write {path}: {reason(fault)}") from None
    finally:
        with suppress(OSError):
            passing.unlink()


def take_place(passing: Path, path: Path) -> None:
    """Give a finished file or folder its own name, for good."""
    os.replace(passing, path)
    _sync(path.parent)


def reason(fault: OSError) -> str:
    """Why a write failed, in a few words.

    >>> reason(OSError(errno.ENOSPC, "No space left on device")), reason(OSError(errno.EACCES, "Permission denied"))
    ('no room left', 'Permission denied')
    """
    if fault.errno in _NO_ROOM:
        return "no room left"
    return fault.strerror or str(fault).partition("\n")[0]


def _sync(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
