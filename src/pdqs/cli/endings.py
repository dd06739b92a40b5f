"""How a command ends, and what it notes on the way."""

from __future__ import annotations

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
    """What is logged inside of how files were read (``pdqs.tables``) is said to people, if all went well."""
    logger, notes = logging.getLogger("pdqs.tables"), _Notes()
    level = logger.level
    logger.addHandler(notes)
    logger.setLevel(logging.INFO)
    try:
        yield
        for note in notes.kept:
            print(f"note: {note}", file=sys.stderr)
    finally:
        logger.removeHandler(notes)
        logger.setLevel(level)
