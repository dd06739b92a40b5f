"""A market to be an owner in, and the command line of her device."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from market.pages.site import Site, served

from .commands import Owner, Shell


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A market of its own, whose database lies in a folder of its own."""
    folder = tmp_path / "market"
    folder.mkdir()
    with served(folder) as up:
        yield up


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """Where ``pdqs owner`` is typed."""
    return Shell(monkeypatch, capsys)


@pytest.fixture
def run(tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Owner:
    """Run one ``pdqs owner`` command on a device of its own; what it printed."""
    monkeypatch.setenv("PDQS_DEVICE", str(tmp_path / "device" / "device.sqlite"))
    return shell.by_script
