"""Bringing a database up to date, in one transaction, on either kind."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from pdqs.market.store.database import Store
from pdqs.model.errors import FileError

_VERSIONS = "alembic_version"
_OURS = {"rounds", "bids", "postings"}
"""Tables that every market has had from its first version on."""
_LOCK = 7_007_707  # any number, the same in every process: two servers that start at once migrate one after the other


def upgrade(store: Store, revision: str = "head") -> str:
    """Migrate to a revision and say which one the database is at."""
    with store.write() as connection:
        if store.dialect == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        _refuse_other(connection)
        command.upgrade(_config(connection), revision)
        return current(connection)


def downgrade(store: Store, revision: str) -> None:
    """Go back to an older revision; what the newer tables held is lost."""
    with store.write() as connection:
        command.downgrade(_config(connection), revision)


def current(connection: Connection) -> str:
    """The revision the database is at, or ``none``."""
    return MigrationContext.configure(connection).get_current_revision() or "none"


def _refuse_other(connection: Connection) -> None:
    """A database of another program, or of a market from the future, stays as it is."""
    tables, found = set(inspect(connection).get_table_names()), current(connection)
    known = {script.revision for script in ScriptDirectory.from_config(_config(connection)).walk_revisions()}
    if found in known or tables <= {_VERSIONS}:
        return
    name = f"database {connection.engine.url.database!r}"
    if found != "none" and tables >= _OURS:
        raise FileError(
            f"{name} was brought up to date by a newer version of pdqs (revision {found}): install that one; nothing in"
            " it was changed"
        )
    raise FileError(f"{name} is there and is no market's: it was left as it is. Give the market one of its own")


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
