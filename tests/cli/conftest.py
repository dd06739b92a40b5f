"""The command line run in this process: what it printed, what it said, how it ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdqs.cli import main


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Standard output as strict JSON: no NaN, nothing before or after."""

        def refuse(word: str) -> None:
            raise ValueError(f"{word} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


Pdqs = Callable[..., Ended]


@pytest.fixture
def pdqs_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Pdqs:
    """``pdqs_command("clear", "bids.csv", "--budget", 5)`` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words: object) -> Ended:
        code = 0
        try:
            main([str(word) for word in words])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        printed = capsys.readouterr()
        return Ended(code, printed.out, printed.err)

    return run


@pytest.fixture
def market(tmp_path: Path) -> Path:
    """Sixty owners who answer 0 or 1."""
    rng = np.random.default_rng(3)
    bids, ones = rng.random(60), rng.random(60) < 0.4
    lines = [f"o{i},{bids[i]:.6f},{int(ones[i])}" for i in range(60)]
    path = tmp_path / "market.csv"
    path.write_text("\n".join(["owner,bid,value", *lines]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def ages(tmp_path: Path) -> Path:
    """Two hundred owners with an age each."""
    rng = np.random.default_rng(4)
    years = np.clip(np.rint(rng.normal(30, 6, 200)), 14, 61).astype(int)
    bids = rng.random(200)
    lines = [f"o{i},{bids[i]:.6f},{years[i]}" for i in range(200)]
    path = tmp_path / "ages.csv"
    path.write_text("\n".join(["owner,bid,value", *lines]) + "\n", encoding="utf-8")
    return path
