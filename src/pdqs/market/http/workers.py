"""Several processes, one market: workers answer requests, and the process that started them keeps the deadlines.

Clearing a large round takes seconds of a processor; in a process of its own it takes none of them from a request.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from types import FrameType

from pdqs.market.context import Market
from pdqs.market.http.app import create_app
from pdqs.market.http.clock import ticking
from pdqs.market.http.observe import log, log_to_stderr
from pdqs.market.http.readiness import Readiness
from pdqs.market.http.serving import GRACE_SECONDS, listening_socket, run_for_good, server_of
from pdqs.market.settings import CLOCK_CONNECTIONS, Settings
from pdqs.market.store.database import open_store

_LOOK_SECONDS = 0.2
_BETWEEN_STARTS_SECONDS = 1.0

Starts = Callable[[int], BaseProcess]


def serve_with_workers(settings: Settings) -> None:
    """Serve at the address of the settings until told to stop; a worker that dies is replaced.

    The port must be known (not 0), and may be held by a socket of the caller's that allows others beside it.
    """
    processes = multiprocessing.get_context("spawn")  # a fork would share the connections of this process

    def start(number: int) -> BaseProcess:
        worker = processes.Process(target=_work, args=(settings, str(number)), name=f"pdqs-worker-{number}")
        with _without_interrupts():
            worker.start()
        return worker

    store = open_store(settings.database_url, connections=CLOCK_CONNECTIONS)
    market = Market(store=store, settings=settings)
    log("clock-started", workers=settings.workers, pid=os.getpid())
    with _told_to_stop() as stop, ticking(market, Readiness(store), apart=True):
        _keep_alive(start, settings.workers, stop)
    store.close()
    log("clock-stopped", pid=os.getpid())


def _keep_alive(start: Starts, count: int, stop: threading.Event) -> None:
    workers = [start(number) for number in range(1, count + 1)]
    while not stop.wait(_LOOK_SECONDS):
        for place, worker in enumerate(workers):
            if not worker.is_alive():
                log("worker-died", worker=place + 1, code=worker.exitcode or 0)
                stop.wait(_BETWEEN_STARTS_SECONDS)  # one that cannot start must not be started without end
                workers[place] = worker if stop.is_set() else start(place + 1)
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join(GRACE_SECONDS + 5)
        if worker.is_alive():
            worker.kill()
            worker.join()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C at a terminal goes to every process there. One that is started inside does not hear it, whatever it is at
    (importing, say): the process that started it tells it to stop."""
    resource_tracker.ensure_running()  # before: it lets interrupts through again when it has begun
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _told_to_stop() -> Iterator[threading.Event]:
    """An event that SIGTERM and Ctrl-C set, for as long as the block lasts."""
    stop = threading.Event()

    def told(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, told) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _work(settings: Settings, name: str) -> None:
    """One worker: serves until told to stop, or until the process that started it is gone."""
    log_to_stderr()
    server = server_of(create_app(settings, ticking=False, worker=name))
    parent = multiprocessing.parent_process()
    assert parent is not None

    def outlived() -> None:
        wait([parent.sentinel])
        server.should_exit = True

    threading.Thread(target=outlived, name="pdqs-orphan", daemon=True).start()
    # A socket of its own: the system deals connections out, where a shared one would go to whoever wakes first.
    bound: socket.socket = listening_socket(settings.host, settings.port, shared=True)
    run_for_good(server, bound)
