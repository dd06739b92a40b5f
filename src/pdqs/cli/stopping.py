"""Ctrl-C while compiled code runs, which hears nothing of it: the process ends at once, with a sentence."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pdqs.cli.endings import STOPPED

_SHOW_CURSOR = "\x1b[?25h"


@contextmanager
def ended_at_once(sentence: Callable[[], str]) -> Iterator[None]:
    """Inside, Ctrl-C prints what the sentence then is and ends the process without unwinding it.

    An exception would wait until compiled code comes back, and the interpreter would then be taken down while that
    code's threads still run (a segmentation fault). The handler writes to a pipe instead, and a thread that waits there
    ends the process. Nothing is torn: files are put in place whole.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    handler = signal.signal(signal.SIGINT, lambda *_: None)
    woken = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def watch() -> None:
        while told := os.read(reading, 1):
            if told[0] == signal.SIGINT:
                cursor = _SHOW_CURSOR if sys.stderr.isatty() else ""
                os.write(2, f"{cursor}\npdqs: {sentence()}\n".encode())
                os._exit(STOPPED)
        os.close(reading)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGINT, handler)
        os.close(writing)
