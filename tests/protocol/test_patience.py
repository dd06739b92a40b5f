"""Alarms by the clock: each rings once when its time has come, however many are set, and one thread keeps them all."""

from __future__ import annotations

import functools
import os
import queue
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pdqs.protocol import patience
from pdqs.protocol.patience import quiet_alarm

TESTS = Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 30.0
"""How long a test waits for something that comes at once on a machine with nothing else to do."""


def test_alarms_ring_when_they_are_due_not_in_the_order_in_which_they_were_set() -> None:
    rung: queue.Queue[str] = queue.Queue()
    for seconds, name in ((3600.0, "tomorrow"), (0.2, "second"), (0.05, "first")):
        quiet_alarm(seconds, functools.partial(rung.put, name)).start()
    assert [rung.get(timeout=PATIENCE_SECONDS) for _ in range(2)] == ["first", "second"]


def test_a_cancelled_alarm_does_not_ring() -> None:
    rung: queue.Queue[str] = queue.Queue()
    cancelled = quiet_alarm(0.05, lambda: rung.put("cancelled"))
    cancelled.start()
    cancelled.cancel()
    quiet_alarm(0.2, lambda: rung.put("kept")).start()
    assert rung.get(timeout=PATIENCE_SECONDS) == "kept"
    assert rung.empty()


def test_a_thousand_alarms_need_one_thread() -> None:
    alarms = [quiet_alarm(3600.0, lambda: None) for _ in range(1000)]
    for alarm in alarms:
        alarm.start()
    assert sum(thread.name == "pdqs-patience" for thread in threading.enumerate()) == 1
    for alarm in alarms:
        alarm.cancel()


def in_a_fork(act: Callable[[], str]) -> str:
    """What a forked process comes to, if it does."""
    heard, says = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(says, act().encode())
        finally:
            os._exit(0)
    os.close(says)
    with os.fdopen(heard) as words:
        ready, _, _ = select.select([words], [], [], PATIENCE_SECONDS)
        said = words.read() if ready else "nothing"
    if not ready:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return said


def own_alarm(rung: queue.Queue[str], seconds: float) -> str:
    """Set an alarm; what is heard first."""
    quiet_alarm(seconds, lambda: rung.put("own")).start()
    return rung.get(timeout=PATIENCE_SECONDS)


def among_inherited_alarms() -> str:
    """Fork with an alarm set; what the child hears first."""
    parent = os.getpid()
    rung: queue.Queue[str] = queue.Queue()
    inherited = quiet_alarm(0.4, lambda: rung.put("inherited") if os.getpid() != parent else None)
    inherited.start()
    return in_a_fork(lambda: own_alarm(rung, 0.8))


def while_an_alarm_is_set() -> str:
    """Fork while another thread holds the watch; what the child hears first."""
    rung: queue.Queue[str] = queue.Queue()
    holding, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with patience._WATCH._changed:
            holding.set()
            let_go.wait()

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    assert holding.wait(PATIENCE_SECONDS)
    try:
        return in_a_fork(lambda: own_alarm(rung, 0.01))
    finally:
        let_go.set()
        thread.join()


def in_a_fresh_process(what: Callable[[], str]) -> str:
    """The same where nothing else runs: libraries that other tests have loaded do not bear a fork."""
    script = f"from protocol.test_patience import {what.__name__} as act; print(act(), end='')"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=TESTS, capture_output=True, text=True, check=True, timeout=300
    )
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_process_keeps_its_own_alarms_and_none_of_its_parents() -> None:
    """Its parent's would hang up its parent's lines, for the sockets are the same."""
    assert in_a_fresh_process(among_inherited_alarms) == "own"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_process_that_is_forked_while_another_thread_sets_an_alarm_does_not_hang() -> None:
    assert in_a_fresh_process(while_an_alarm_is_set) == "own"
