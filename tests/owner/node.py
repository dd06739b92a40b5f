"""The browser's modules run by node, for tests."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

BROWSER = Path(str(files("pdqs.owner"))) / "browser"


def run_node(*arguments: str, asked: object = None, timeout: float = 60) -> Any:
    """What node answers, run with these arguments and asked this, both as JSON; skips where there is no node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine: the browser's modules cannot be run outside a browser")
    run = subprocess.run(
        [node, *arguments], input=json.dumps(asked), capture_output=True, text=True, timeout=timeout, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def twin(modules: Path = BROWSER, *, script: str = "twin.mjs", **asked: Any) -> dict[str, Any]:
    """What the modules of a directory answer to these cases, put to them by a script."""
    return dict(run_node(str(Path(__file__).with_name(script)), str(modules), asked=asked))


def mutant(directory: Path, module: str, was: str, becomes: str) -> Path:
    """A copy of the modules with one deliberate mistake: tests must catch it."""
    for source in BROWSER.glob("*.mjs"):
        (directory / source.name).write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    text = (directory / module).read_text(encoding="utf-8")
    assert text.count(was) == 1, f"{was!r} is not in {module} exactly once"
    (directory / module).write_text(text.replace(was, becomes), encoding="utf-8")
    return directory
