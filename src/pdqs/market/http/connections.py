"""Connections that wait too long are closed, and there are never too many: slow callers cannot hold the door.

The server's own protocol with five bounds: how long a request's head may take to come, how long an answer may take to
be read, how long a connection may idle (uvicorn's), and how many there may be, of all and of one address. Beyond that
many, whoever has waited longest without a whole request, its body included, makes room for the newcomer. How long a
body may take is the gate's business.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, final

from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from pdqs.market.http.limits import network_of
from pdqs.market.settings import Settings

_KEPT_FILES = 300  # of the process: databases, logs, pipes


@final
class _Timer:
    """A call to come, unless it is stopped."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._handle: asyncio.TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        return self._handle is not None

    def start(self, seconds: float, call: Callable[[], object]) -> None:
        self.stop()
        self._handle = self._loop.call_later(seconds, call)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None


def most_connections(settings: Settings) -> int:
    """How many connections there may be: as set, as far as the system gives this process files to open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return settings.most_connections
    return min(settings.most_connections, max(files - _KEPT_FILES, files // 2))


class Bounded(H11Protocol):
    """One connection, with bounds."""

    header_seconds: ClassVar[float]
    reading_seconds: ClassVar[float]
    most: ClassVar[int]
    most_each: ClassVar[int]
    proxies: ClassVar[ProxyHeadersMiddleware]

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.since = self.loop.time()
        self.network = ""
        self._head, self._reading = _Timer(self.loop), _Timer(self.loop)

    @property
    def is_waiting(self) -> bool:
        """Whether there is no request in hand."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def is_unfinished(self) -> bool:
        """Whether there is no whole request in hand: none, or one whose body has not come yet."""
        return self.is_waiting or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._await_head()
        # What comes through a proxy is many people's, and whose it is is not known before its head is in.
        shared = self.client is None or self.client[0] in self.proxies.trusted_hosts
        self.network = "" if self.client is None or shared else network_of(self.client[0])
        staying = [one for one in self.connections if isinstance(one, Bounded) and not one.transport.is_closing()]
        hers = [one for one in staying if one.network == self.network]
        if self.network and len(hers) > self.most_each:
            self._make_room(hers)
        elif len(staying) > self.most:
            self._make_room(staying)

    def _make_room(self, among: Iterable[Bounded]) -> None:
        """Whoever has waited longest is closed; this newcomer itself, when all others are being served."""
        waiting = [one for one in among if one.is_unfinished]
        min(waiting, key=lambda one: one.since, default=self).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head.stop()
        self._reading.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.is_waiting and not self._head.is_running:
            self._await_head()
        super().data_received(data)
        if not self.is_waiting:
            self._head.stop()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.since = self.loop.time()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading.start(self.reading_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._reading.stop()
        super().resume_writing()

    def _await_head(self) -> None:
        self.since = self.loop.time()
        self._head.start(self.header_seconds, self.transport.abort)


def guarded(settings: Settings) -> type[Bounded]:
    """The protocol of one server, with the bounds of its settings."""

    class Guarded(Bounded):
        header_seconds = settings.header_seconds
        reading_seconds = settings.body_seconds
        most = most_connections(settings)
        most_each = settings.most_connections_each
        proxies = ProxyHeadersMiddleware(_nothing, settings.trusted_proxies.split())  # type: ignore[arg-type]

    return Guarded


async def _nothing(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """No application: of the proxies only who is one is asked."""
