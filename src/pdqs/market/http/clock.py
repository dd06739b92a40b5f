"""The clock: rounds are cleared, settled and purged when their time comes, by one process of a market."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, TimeoutError

from pdqs.market.clock_state import note_tick
from pdqs.market.context import Market
from pdqs.market.http.observe import log, where
from pdqs.market.http.readiness import Readiness
from pdqs.market.postman import deliver_due
from pdqs.market.retention import purge_due
from pdqs.market.round_letters import tell_closing, tell_stuck
from pdqs.market.round_steps import advance_due
from pdqs.market.store.away import is_away, why_away
from pdqs.market.store.leader import Leader

_GIVING_WAY = 10


@contextmanager
def ticking(market: Market, readiness: Readiness, *, apart: bool = False) -> Iterator[None]:
    """Keep the deadlines in a thread for as long as the block lasts; ``apart`` from the processes that answer."""
    stop = threading.Event()
    threads = [
        threading.Thread(target=_tick, args=(market, readiness, stop, apart), name="pdqs-clock"),
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


def _tick(market: Market, readiness: Readiness, stop: threading.Event, apart: bool) -> None:
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
            keep_deadlines(market)
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
            log("letters-failed", kind=type(fault).__name__, where=where(fault), reason=_reason(market, fault))
        else:
            if taken:
                log("letters", taken=taken)


def keep_deadlines(market: Market) -> None:
    """Advance what is due. What cannot be is counted and tried again at the next tick, and logged when that is news."""
    known = dict(market.stuck)
    try:
        for round_id in advance_due(market):
            log("advanced", round=round_id)
        for round_id in purge_due(market):
            log("purged", round=round_id)
        tell_closing(market)
        tell_stuck(market)
        for stuck in market.stuck.values():
            market.missed[stuck.kind] += 1
            if stuck != known.get(stuck.round_id):
                log("advance-failed", round=stuck.round_id, kind=stuck.kind, where=stuck.where, reason=stuck.reason)
        note_tick(market)
    except Exception as fault:  # the database is out of reach, and no round in particular is at fault
        market.missed[type(fault).__name__] += 1
        log("advance-failed", kind=type(fault).__name__, where=where(fault), reason=_reason(market, fault))


def _reason(market: Market, fault: Exception) -> str:
    """Why the database could not be used, in words; of another fault the place must do, for it may quote people."""
    if isinstance(fault, DBAPIError) and is_away(fault):
        return f"the database cannot be used: {why_away(fault, market.store.engine.url)}"
    if isinstance(fault, TimeoutError):
        return "no connection to the database was free in time"
    return "the software failed"
