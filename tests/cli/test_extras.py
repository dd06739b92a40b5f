"""What is not installed is named in one sentence, by the extra that holds it; a mistyped word is met with a guess."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pdqs.cli import COMMANDS
from pdqs.cli.extras import extra_for
from pdqs.owner.ledger import Ledger

from .conftest import Pdqs

ROOT = Path(__file__).parents[2]

BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        return None
sys.meta_path.insert(0, Blocker())
from pdqs.cli import main
main({words!r})
"""

TYPER, SERVER, DRAWING, LEARNING = {"typer"}, {"fastapi", "uvicorn", "sqlalchemy"}, {"matplotlib"}, {"jax", "optax"}
NOT_FOR_OWNERS = SERVER | DRAWING | LEARNING | {"alembic", "jinja2", "psycopg", "pyarrow", "dask", "distributed"}


def run_without(blocked: set[str], *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own in which some libraries are not installed."""
    script = BLOCKED.format(blocked=blocked, words=list(words))
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=folder)


@pytest.mark.parametrize(
    ("blocked", "words", "extra"),
    [
        (TYPER, "serve", "market"),
        (TYPER, "owner", "owner"),
        (TYPER, "trade", "cli"),
        (SERVER, "serve", "market"),
        (SERVER, "market simulate", "market"),
        ({"httpx"}, "owner enrol http://127.0.0.1:9 code --device device.sqlite", "owner"),
        (LEARNING, "train past.csv --out rule.npz", "neural"),
        ({"pyarrow"}, "reproduce --quick", "cli,scale,neural"),
        (DRAWING, "demo --out demo", "cli"),
    ],
    ids=lambda given: given if isinstance(given, str) else "+".join(sorted(given)),
)
def test_a_command_without_its_libraries_names_the_extra(
    blocked: set[str], words: str, extra: str, tmp_path: Path
) -> None:
    (tmp_path / "market.csv").write_text("owner,bid\na,0.1\nb,0.2\n")
    (tmp_path / "past.csv").write_text("bid\n" + "\n".join(f"{i / 60:.4f}" for i in range(1, 60)))
    ended = run_without(blocked, *words.split(), folder=tmp_path)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.count("\n") == 1, ended.stderr
    assert ended.stderr.startswith("pdqs: ")
    assert f"pip install 'pdqs[{extra}]'" in ended.stderr


def test_an_owners_device_needs_no_server_and_no_drawing(tmp_path: Path) -> None:
    lacking = NOT_FOR_OWNERS
    Ledger(tmp_path / "device.sqlite").close()
    ended = run_without(lacking, "owner", "privacy", "--device", "device.sqlite", folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    away = run_without(
        lacking, *["owner", "enrol", "http://127.0.0.1:9", "code", "--device", "device.sqlite"], folder=tmp_path
    )
    assert away.stderr == "pdqs: this is not a one-time code: copy all of it\n"


def test_a_fault_of_pdqs_itself_is_not_called_a_missing_extra(tmp_path: Path) -> None:
    ended = run_without({"decimal"}, "owner", "bid", "r_1", "0.4", "--market", "http://127.0.0.1:9", folder=tmp_path)
    assert "pip install" not in ended.stderr
    assert "decimal" in ended.stderr


def test_every_library_of_an_extra_is_known_by_it() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    module = {"python-multipart": "python_multipart"}
    users = {"cli": "trade", "owner": "owner", "market": "serve", "neural": "train", "scale": "clear"}
    for extra, word in users.items():
        for needed in extras[extra]:
            name = needed.split(">")[0].split("[")[0]
            assert extra_for(word, module.get(name, name)) is not None, needed
    assert extras["all"] == [f"pdqs[{','.join(['cli', 'owner', 'neural', 'scale', 'market'])}]"]
    assert not {"fastapi", "matplotlib", "sqlalchemy"} & {needed.split(">")[0] for needed in extras["owner"]}


def test_a_mistyped_command_is_met_with_a_guess(pdqs_command: Pdqs) -> None:
    assert pdqs_command("trad").err == "pdqs: no command 'trad': did you mean pdqs trade?\n"
    assert pdqs_command("qqq").err == "pdqs: no command 'qqq': try pdqs --help\n"
    assert pdqs_command("market", "simulat").err.endswith("Did you mean 'simulate'? Try pdqs market --help\n")
    assert pdqs_command("trad").code == 2


def test_python_m_pdqs_is_the_command_line() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "pdqs", "--help"], capture_output=True, text=True, timeout=60, check=True
    )
    assert all(word in ended.stdout for word in COMMANDS)


def test_no_command_file_loads_a_heavy_library_to_say_what_it_does() -> None:
    """``pdqs WORD --help`` needs typer alone: the rest is loaded by the work itself."""
    for path in sorted((ROOT / "src" / "pdqs" / "cli" / "commands").glob("*.py")):
        tops = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Import)]
        assert not {name.name for node in tops for name in node.names} & {"fastapi", "jax", "matplotlib", "pyarrow"}
