"""One server for one SQLite file. Two would each keep the deadlines, send letters and remember who is signed in."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from pdqs.model.errors import FileError

SUFFIX = "-served"
"""What the lock's file has behind the name of the database: a file of its own, for SQLite has its own locks."""
_MOST = 200


@contextmanager
def served_once(url: str, address: str) -> Iterator[None]:
    """Serve a SQLite file alone while the block lasts; the system lets go however the process ends.

    The lock's file stays, with the address in it: to remove it would let two in, one at the old file and one at a new.
    PostgreSQL is served by as many as like, and keeps them apart by itself. What is no database is told on opening.
    """
    database = _file(url)
    if database is None or not database.parent.is_dir():
        yield
        return
    place = database.resolve()
    try:
        lock = os.open(place.with_name(place.name + SUFFIX), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as fault:
        raise FileError(f"database {str(database)!r} cannot be kept for one server: {fault.strerror}") from None
    try:
        _take(lock, database)
        os.ftruncate(lock, 0)
        os.write(lock, address.encode()[:_MOST])
        yield
    finally:
        os.close(lock)


def _take(lock: int, database: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        found = os.pread(lock, _MOST, 0).decode(errors="replace")
        where = f" at {found}" if found.isprintable() and found else ""
        raise FileError(
            f"the market in {str(database)!r} is served already{where}: stop that server first, or name another file"
            " with --database"
        ) from None
    except OSError as fault:
        raise FileError(f"database {str(database)!r} cannot be kept for one server: {fault.strerror}") from None


def _file(url: str) -> Path | None:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # a port that is no number is the second; who opens the database words it
        return None
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        return None
    return Path(str(parsed.database)).absolute()
