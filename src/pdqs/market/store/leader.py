"""One leader among the processes of a market: whoever holds PostgreSQL's advisory lock, for as long as it lives."""

from __future__ import annotations

from contextlib import suppress
from typing import final

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from pdqs.market.store.database import Store

_LOCK = 7_007_708  # any number, the same in every process, and not that of migrations


@final
class Leader:
    """A claim to lead. The lock belongs to one connection: when this process or the line dies, another one leads.

    A SQLite file is served by one process, which leads.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._line: Connection | None = None
        self._leads = False

    def leads(self) -> bool:
        """Whether this process leads now. The database is asked every time, for a line may have died unseen."""
        if self._store.dialect == "sqlite":
            return True
        try:
            line = self._line = self._line or self._store.apart()
            if self._leads:
                line.execute(text("SELECT 1"))
            else:
                self._leads = bool(line.scalar(text("SELECT pg_try_advisory_lock(:lock)"), {"lock": _LOCK}))
        except DBAPIError:
            self.resign()
        return self._leads

    def resign(self) -> None:
        """Let go of the lock, and of the connection it is tied to."""
        line, self._line = self._line, None
        led, self._leads = self._leads, False
        if line is None:
            return
        if led:  # said aloud, for the database may take a while to notice that a line is closed
            with suppress(SQLAlchemyError):
                line.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": _LOCK})
        line.close()
