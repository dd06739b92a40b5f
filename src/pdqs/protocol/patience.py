"""How long one answer may take, head and body together: the limit on a market that says a byte a minute.

A time-out of every single read is no limit, for each byte begins it anew. So an alarm is set when a request goes out,
and when it rings the line is hung up, whatever is being waited for.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Protocol, final


class Alarm(Protocol):
    """What calls back once, after a while, unless it is cancelled before."""

    def start(self) -> None: ...

    def cancel(self) -> None: ...


SetAlarm = Callable[[float, Callable[[], None]], Alarm]
"""Seconds, and what to call then."""


def quiet_alarm(seconds: float, ring: Callable[[], None]) -> Alarm:
    """An alarm by the clock, which keeps no program from ending."""
    alarm = threading.Timer(seconds, ring)
    alarm.daemon = True
    return alarm


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
