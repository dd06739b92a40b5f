"""The clock: rounds are cleared, settled and purged when their time comes, by one process of a market."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pdqs.market.clock_state import note_tick
from pdqs.market.context import Market
from pdqs.market.http.observe import Metrics, log, where
from pdqs.market.http.readiness import Readiness
from pdqs.market.postman import deliver_due
from pdqs.market.retention import purge_due
from pdqs.market.round_letters import tell_closing, tell_stuck
from pdqs.market.round_steps import advance_due
from pdqs.market.store.leader import Leader

_GIVING_WAY = 10


@contextmanager
def ticking(market: Market, metrics: Metrics, readiness: Readiness, *, apart: bool = False) -> Iterator[None]:
    """Keep the deadlines in a thread for as long as the block lasts; ``apart`` from the processes that answer."""
    stop = threading.Event()
    threads = [
        threading.Thread(target=_tick, args=(market, metrics, readiness, stop, apart), name="pdqs-clock"),
        threading.Thread(target=_deliver, args=(market, readiness, stop), name="pdqs-postman"),
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _tick(market: Market, metrics: Metrics, readiness: Readiness, stop: threading.Event, apart: bool) -> None:
    """Keep the deadlines until told to stop, in the process that leads; others stand by."""
    if apart:
        _give_way()
    leader, led = Leader(market.store), False
    while not stop.wait(market.settings.tick_seconds):
        leads = readiness.prepare() and leader.leads()
        if leads != led:
            log("clock-leads" if leads else "clock-stands-by")
            led = leads
        if leads:
            keep_deadlines(market, metrics)
    leader.resign()


def _give_way() -> None:
    """Where processors are short, let those who answer requests go first: a large round takes seconds of one.

    This thread alone, for workers that are started by its process would be slow as well. Not in a process that answers
    requests itself: they would wait for the interpreter while this thread, holding it, waits for a processor.
    """
    if sys.platform == "linux":  # elsewhere it would be the whole process
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _GIVING_WAY)


def _deliver(market: Market, readiness: Readiness, stop: threading.Event) -> None:
    """Hand letters over until told to stop: apart from the deadlines, which no slow mail server may hold up."""
    while not stop.wait(market.settings.tick_seconds):
        try:
            taken = deliver_due(market) if readiness.is_ready else 0
        except Exception as fault:  # the database is out of reach; the letters are still in it
            log("letters-failed", kind=type(fault).__name__, where=where(fault))
        else:
            if taken:
                log("letters", taken=taken)


def keep_deadlines(market: Market, metrics: Metrics) -> None:
    """Advance what is due. What cannot be advanced is logged by its id, counted, and tried again at the next tick."""
    try:
        for round_id in advance_due(market):
            log("advanced", round=round_id)
        for round_id in purge_due(market):
            log("purged", round=round_id)
        tell_closing(market)
        tell_stuck(market)
        for stuck in market.stuck.values():
            metrics.count_stuck()
            log("advance-failed", round=stuck.round_id, kind=stuck.kind, where=stuck.where)
        note_tick(market)
    except Exception as fault:  # the database is out of reach, and no round in particular is at fault
        metrics.count_stuck()
        log("advance-failed", kind=type(fault).__name__, where=where(fault))
