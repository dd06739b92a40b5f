"""Serving an app over a real socket: for ``pdqs serve``, and in a thread for simulations and tests."""

from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import final

import uvicorn
from fastapi import FastAPI

from pdqs.market.http.changes import Changes
from pdqs.market.http.connections import guarded
from pdqs.market.settings import Settings
from pdqs.model.errors import FileError

GRACE_SECONDS = 20
_BACKLOG = 128  # so many are let in at a time, which is also how far beyond the bound on connections it can go


def listening_socket(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A bound socket, so that the address is known (and refused, if taken) before anything starts; port 0 is any.

    It listens: whoever calls before it is served waits a moment, and is not turned away. ``shared`` ones of the same
    user may stand side by side, and listen when they are served: the system deals connections out to those that do.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By the protocol asyncio knows TCP and sends at once; else a body waits 40 ms for word that its head arrived.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        bound.bind((host, port))
        if not shared:
            bound.listen(_BACKLOG)
    except OSError as fault:
        bound.close()
        raise FileError(f"cannot listen on {host} port {port}: {fault.strerror or fault}") from None
    return bound


def address_of(bound: socket.socket) -> str:
    """The address people type."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@final
class _Server(uvicorn.Server):
    """Told to stop, it ends the streams of pages that wait before it waits for requests in hand."""

    def __init__(self, config: uvicorn.Config, changes: Changes) -> None:
        super().__init__(config)
        self._changes = changes

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._changes.end()
        await super().shutdown(sockets)


def server_of(app: FastAPI) -> uvicorn.Server:
    """A server that finishes the requests in hand when told to stop, and writes no log of its own.

    Who is calling is what the connection says, unless it comes from a proxy of the settings.
    """
    settings: Settings = app.state.market.settings
    config = uvicorn.Config(
        app,
        http=guarded(settings),
        backlog=_BACKLOG,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies.split(),
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        lifespan="on",
    )
    return _Server(config, app.state.changes)


def run_for_good(server: uvicorn.Server, bound: socket.socket) -> None:
    """Serve until told to stop, in a process that does nothing else.

    What the application is made of stays until the end. Looking through it for garbage, as happens every so often,
    would hold up whatever request is in hand by a tenth of a second, so it is set aside first.
    """
    gc.collect()
    gc.freeze()
    with suppress(KeyboardInterrupt):  # Ctrl-C, told again once all is in order: there is nothing left to stop
        server.run(sockets=[bound])


@contextmanager
def served(app: FastAPI, host: str = "127.0.0.1") -> Iterator[str]:
    """Serve in a thread on a free port; gives the address."""
    bound = listening_socket(host, 0)
    server = server_of(app)
    ready = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, name="pdqs-server")
    ready.start()
    try:
        while not server.started and ready.is_alive():
            ready.join(0.01)
        if not server.started:
            raise FileError("the server did not start")
        yield address_of(bound)
    finally:
        server.should_exit = True
        ready.join()
        bound.close()
