"""Alarms by the clock: each rings once when its time has come, however many are set, and one thread keeps them all."""

from __future__ import annotations

import functools
import queue
import threading

from pdqs.protocol.patience import quiet_alarm

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
