"""One database behind two doors: ``read`` for looking, ``write`` for a transaction that happens wholly or not at all.

SQLite runs in WAL mode with every commit on the disk before it is acknowledged (synchronous=FULL) and one writer at a
time in this process, so that waiting is fair; PostgreSQL keeps its own order, with rows locked by the commands.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import final

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from pdqs.market.store.database_url import read_url
from pdqs.model.errors import FileError

_BUSY_SECONDS = 30
_WAIT_SECONDS = 20
_CONNECT_SECONDS = 5
_SPARE = 4
_HEAD = b"SQLite format 3\0"
_ONE_STATE = {"sqlite": "BEGIN", "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}
"""How a transaction begins whose statements all see the same, whatever others write meanwhile."""


@final
class Store:
    """A database, open. Make one with :func:`open_store`."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.dialect = engine.dialect.name
        self._writing = threading.Lock()
        # A transaction that will write says so at once: a reader that turned into a writer could find itself outdated.
        self._write_engine = engine.execution_options(
            pdqs_begins="BEGIN IMMEDIATE" if self.dialect == "sqlite" else "BEGIN"
        )
        self._read_engine = engine.execution_options(pdqs_begins=_ONE_STATE[self.dialect])
        self._look_engine = engine.execution_options(pdqs_begins="")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one state of the database, and changes nothing."""
        with self._read_engine.connect() as connection:
            yield connection

    @contextmanager
    def look(self) -> Iterator[Connection]:
        """A connection for one statement: without a transaction around it there is less to say to the database."""
        with self._look_engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction: committed when the block ends well, undone when it raises."""
        if self.dialect != "sqlite":
            with self._write_engine.begin() as connection:
                yield connection
            return
        with self._writing, self._write_engine.begin() as connection:
            yield connection

    @contextmanager
    def try_write(self) -> Iterator[Connection | None]:
        """A transaction if one can begin now; nothing while another is under way, which shows that one can."""
        if self.dialect != "sqlite":
            with self._write_engine.begin() as connection:
                yield connection
        elif self._writing.acquire(blocking=False):
            try:
                with self._write_engine.begin() as connection:
                    yield connection
            finally:
                self._writing.release()
        else:
            yield None

    def apart(self) -> Connection:
        """A connection of one's own, outside the pool, for as long as it is kept; each statement stands alone."""
        line = self._look_engine.connect()
        line.detach()
        return line

    def close(self) -> None:
        """Let go of every connection; SQLite folds its log into the file when the last one goes."""
        self.engine.dispose()


def open_store(url: str, *, connections: int = 36) -> Store:
    """Open the database at an SQLAlchemy URL; bring it up to date with :func:`pdqs.market.store.migrate.upgrade`.

    ``connections`` are the most that are opened to PostgreSQL; a SQLite file costs nothing to open.
    """
    parsed = read_url(url)
    if parsed.get_backend_name() == "sqlite":
        file = Path(str(parsed.database))
        if not file.absolute().parent.is_dir():
            raise FileError(f"database {str(file)!r}: its directory does not exist")
        _make_private(file)
    engine = _engine(parsed, connections)
    if engine.dialect.name == "sqlite":
        _make_careful(engine)
    _begin_as_asked(engine)
    return Store(engine)


def threads_for(dialect: str, connections: int) -> int:
    """How many requests may work at once: each has a connection, and some commands take a second one for a moment."""
    return 40 if dialect == "sqlite" else max(1, connections - _SPARE)


def _engine(parsed: URL, connections: int) -> Engine:
    kept = {"poolclass": QueuePool, "pool_timeout": _WAIT_SECONDS, "hide_parameters": True}
    if parsed.get_backend_name() == "sqlite":
        return create_engine(parsed, pool_size=48, max_overflow=16, **kept)
    patience = {} if "connect_timeout" in parsed.query else {"connect_timeout": _CONNECT_SECONDS}
    pool = {"pool_size": threads_for("postgresql", connections), "max_overflow": min(_SPARE, connections - 1)}
    # The driver begins no transaction of its own: to switch that off and on again would cost more than a look itself.
    return create_engine(parsed, connect_args=patience, isolation_level="AUTOCOMMIT", **pool, **kept)


def _make_private(file: Path) -> None:
    """A file that only its owner reads, made if missing; its log and index too, which SQLite makes like the file.

    What was named by mistake and is no market's stays as it is.
    """
    try:
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600))
        if not file.is_file() or _is_of_another(file):
            raise FileError(f"database {str(file)!r} is there and is no market's: it was left as it is")
        for part in (file, file.with_name(file.name + "-wal"), file.with_name(file.name + "-shm")):
            if part.exists() and part.stat().st_mode & 0o077:
                part.chmod(0o600)
    except OSError as fault:
        raise FileError(f"database {str(file)!r} cannot be opened for us alone: {fault.strerror}") from None


def _is_of_another(file: Path) -> bool:
    """Whether a file has something in it, and that is not a market."""
    with file.open("rb") as opened:
        head = opened.read(len(_HEAD))
    if head in (b"", _HEAD):
        with suppress(sqlite3.Error), closing(sqlite3.connect(file, timeout=_BUSY_SECONDS)) as connection:
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            return bool(names) and "alembic_version" not in names
        return False  # it is damaged, or held by another: who uses it will say so
    return True


def _make_careful(engine: Engine) -> None:
    """SQLite as we want it: durable commits, foreign keys kept."""

    @event.listens_for(engine, "connect")
    def connected(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # the driver begins no transaction of its own
        for pragma in (
            f"busy_timeout={_BUSY_SECONDS * 1000}",
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            "trusted_schema=OFF",
        ):
            connection.execute(f"PRAGMA {pragma}")


def _begin_as_asked(engine: Engine) -> None:
    """Transactions are begun by us, or not at all."""

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        how = connection.get_execution_options().get("pdqs_begins", "BEGIN")
        if how:
            connection.exec_driver_sql(how)
