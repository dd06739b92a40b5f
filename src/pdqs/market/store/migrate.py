"""Bringing a database up to date, in one transaction, on either kind."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, text

from pdqs.market.store.database import Store

_LOCK = 7_007_707  # any number, the same in every process: two servers that start at once migrate one after the other


def upgrade(store: Store, revision: str = "head") -> str:
    """Migrate to a revision and say which one the database is at."""
    with store.write() as connection:
        if store.dialect == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        command.upgrade(_config(connection), revision)
        return current(connection)


def downgrade(store: Store, revision: str) -> None:
    """Go back to an older revision; what the newer tables held is lost."""
    with store.write() as connection:
        command.downgrade(_config(connection), revision)


def current(connection: Connection) -> str:
    """The revision the database is at, or ``none``."""
    return MigrationContext.configure(connection).get_current_revision() or "none"


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
