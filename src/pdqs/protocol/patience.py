"""How long one answer may take, head and body together: the limit on a market that says a byte a minute.

A time-out of every single read is no limit, for each byte begins it anew. So an alarm is set when a request goes out,
and when it rings the line is hung up, whatever is being waited for.
"""

from __future__ import annotations

import math
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Protocol, final


class Alarm(Protocol):
    """What calls back once, after a while, unless it is cancelled before."""

    def start(self) -> None: ...

    def cancel(self) -> None: ...


SetAlarm = Callable[[float, Callable[[], None]], Alarm]
"""Seconds, and what to call then."""


@final
class _Watch:
    """One thread for every alarm of the program: a thread for each request costs more than the request itself."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """Without alarms. A forked process begins so: what it inherits are its parent's alarms, which would hang up its
        parent's lines, and a lock that one of its parent's threads may have held, which nobody would ever let go."""
        self._changed = threading.Condition()
        self._rings: dict[object, tuple[float, Callable[[], None]]] = {}
        self._wakes_at = math.inf
        self._thread: threading.Thread | None = None

    def add(self, alarm: object, seconds: float, ring: Callable[[], None]) -> None:
        """Have ``ring`` called then."""
        due = time.monotonic() + seconds
        with self._changed:
            self._rings[alarm] = due, ring
            if self._thread is None or not self._thread.is_alive():
                self._wakes_at = due
                self._thread = threading.Thread(target=self._keep, name="pdqs-patience", daemon=True)
                self._thread.start()
            elif due < self._wakes_at:
                self._changed.notify()

    def drop(self, alarm: object) -> None:
        """Forget an alarm; the watch finds out when it next looks."""
        with self._changed:
            self._rings.pop(alarm, None)

    def _keep(self) -> None:
        while True:
            with self._changed:
                now = time.monotonic()
                over = [alarm for alarm, (due, _) in self._rings.items() if due <= now]
                ringing = [self._rings.pop(alarm)[1] for alarm in over]
                if not ringing:
                    self._wakes_at = min((due for due, _ in self._rings.values()), default=math.inf)
                    self._changed.wait(None if math.isinf(self._wakes_at) else self._wakes_at - now)
            for ring in ringing:
                ring()


_WATCH = _Watch()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_WATCH.begin_anew)


@final
class _QuietAlarm:
    def __init__(self, seconds: float, ring: Callable[[], None]) -> None:
        self._seconds, self._ring = seconds, ring

    def start(self) -> None:
        _WATCH.add(self, self._seconds, self._ring)

    def cancel(self) -> None:
        _WATCH.drop(self)


def quiet_alarm(seconds: float, ring: Callable[[], None]) -> Alarm:
    """An alarm by the clock, which keeps no program from ending."""
    return _QuietAlarm(seconds, ring)


@final
class Patience:
    """Hangs up a line on which one answer takes longer than ``seconds``."""

    def __init__(self, seconds: float, set_alarm: SetAlarm = quiet_alarm) -> None:
        self._seconds, self._set_alarm = seconds, set_alarm
        self._line: socket.socket | None = None
        self.is_over = False
        """Whether the answer that is waited for, or was last, took too long."""

    @contextmanager
    def with_one_answer(self) -> Iterator[None]:
        """The alarm is set while the block runs."""
        self.is_over = False
        alarm = self._set_alarm(self._seconds, self._hang_up)
        alarm.start()
        try:
            yield
        finally:
            alarm.cancel()

    def heard(self, event: str, about: Mapping[str, object]) -> None:
        """What httpx tells as a request goes on (its extension ``trace``): the line that was opened for it."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            line = getattr(about.get("return_value"), "get_extra_info", lambda _: None)("socket")
            self._line = line if isinstance(line, socket.socket) else None

    def _hang_up(self) -> None:
        self.is_over = True
        if self._line is not None:
            with suppress(OSError):  # it is closed already
                self._line.shutdown(socket.SHUT_RDWR)
