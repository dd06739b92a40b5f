"""How a command ends, and what it notes on the way."""

from __future__ import annotations

import errno
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

STOPPED = 128 + signal.SIGINT
"""The exit code of a command that was interrupted, as shells have it."""

UNHEARD = 128 + 13
"""The exit code of a command whose reader has gone (SIGPIPE, which not every system has a name for)."""


NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Why standard output may not take what is written to it, its reader being there still."""

_NOTED = ("pdqs.tables", "pdqs.present", "pdqs.cli.options")
"""The loggers whose notes a person wants to read."""


def open_closed_streams() -> None:
    """Give a program that was started with its output closed a place to write to: nowhere."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # open as long as the program
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def drop_output() -> None:
    """Send what is left of standard output nowhere: the interpreter flushes it at the end, to a pipe that is broken."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Notes(logging.Handler):
    """Keeps what is noted, in order."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.kept: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.kept.append(record.getMessage())


@contextmanager
def notes_on_stderr() -> Iterator[None]:
    """What is logged inside of how options were taken and files read and drawn is said to people, if all went well."""
    notes, loggers = _Notes(), [logging.getLogger(name) for name in _NOTED]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(notes)
        logger.setLevel(logging.INFO)
    try:
        yield
        for note in notes.kept:
            print(f"note: {note}", file=sys.stderr)
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.removeHandler(notes)
            logger.setLevel(level)
