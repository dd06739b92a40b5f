"""``pdqs owner`` run in this process, as a script or as a person at a terminal runs it."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import final

import pytest

from pdqs.cli import main

Owner = Callable[..., str]
"""Runs one command of ``pdqs owner``, and gives what it printed."""


@final
class Terminal(io.StringIO):
    """Standard input as a person sits before it."""

    def isatty(self) -> bool:
        return True


@final
class Shell:
    """Where commands are typed, and what they print is read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def ended(self, *words: str, typed: io.StringIO) -> tuple[str, object]:
        """What ``pdqs owner`` printed on these words, and its exit code."""
        self._monkeypatch.setattr("sys.stdin", typed)
        code: object = 0
        try:
            main(["owner", *words])
        except SystemExit as stop:
            code = stop.code or 0
        shown = self._capsys.readouterr()
        return shown.out + shown.err, code

    def by_script(self, *words: str, typed: str = "", code: int = 0) -> str:
        """What it printed, where it must end so, and nobody sits at a terminal."""
        return self._as_it_must_end(words, io.StringIO(typed), code)

    def by_person(self, *words: str, typed: str | None = None, code: int = 0) -> str:
        """The same; with ``typed``, for a person at a terminal who types that."""
        return self._as_it_must_end(words, io.StringIO() if typed is None else Terminal(typed), code)

    def _as_it_must_end(self, words: tuple[str, ...], typed: io.StringIO, code: int) -> str:
        said, ended = self.ended(*words, typed=typed)
        assert ended == code, said
        return said
