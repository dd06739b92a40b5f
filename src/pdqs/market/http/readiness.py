"""A server whose database is away: it starts all the same, answers 503 with one sentence, and tries again."""

from __future__ import annotations

import threading
import time
from typing import final

from sqlalchemy.exc import DBAPIError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pdqs.market.http.observe import log, where
from pdqs.market.http.refusals import unavailable
from pdqs.market.store import migrate
from pdqs.market.store.away import why_away
from pdqs.market.store.database import Store
from pdqs.model.errors import FileError

AWAY = "the market's database cannot be reached just now, and nothing was changed: ask again in a moment"
_BETWEEN_SECONDS = 1.0


@final
class Readiness:
    """Whether the database has been found and brought up to date; tried once a second until it is."""

    def __init__(self, store: Store) -> None:
        self._store, self._trying = store, threading.Lock()
        self._ready, self._tried = False, float("-inf")
        self.refusal: FileError | None = None
        """Why the database is none for this market, should that be so: it is another program's, say."""
        self.why_away = ""
        """Why the database could not be used when it was last tried, for whoever runs the market alone."""

    @property
    def is_ready(self) -> bool:
        """Whether the database was found."""
        return self._ready

    def prepare(self) -> bool:
        """Bring the database up to date, if that is still to be done; whether it is done now."""
        if self._ready or not self._trying.acquire(blocking=False):
            return self._ready
        try:
            if time.monotonic() - self._tried >= _BETWEEN_SECONDS:
                self._ready = self._migrated()
                self._tried = time.monotonic()
        finally:
            self._trying.release()
        return self._ready

    def _migrated(self) -> bool:
        try:
            migrate.upgrade(self._store)
        except DBAPIError as fault:
            self.why_away = why_away(fault, self._store.engine.url)
            log("database-away", kind=type(fault.orig).__name__, where=where(fault), reason=self.why_away)
            return False
        except FileError as fault:
            log("database-refused", reason=str(fault))
            self.refusal = fault
            return False
        return True


@final
class WhenReady:
    """ASGI middleware: what is asked before the database is there is answered by 503."""

    def __init__(self, app: ASGIApp, readiness: Readiness) -> None:
        self._app, self._readiness = app, readiness

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ready = scope["type"] != "http" or self._readiness.is_ready or await run_in_threadpool(self._readiness.prepare)
        answer = self._app if ready else unavailable(Request(scope), AWAY)
        await answer(scope, receive, send)
