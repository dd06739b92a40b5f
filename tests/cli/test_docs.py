"""What docs/cli.md shows is what the commands print, and the examples run."""

from __future__ import annotations

import csv
import doctest
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer import Context
from typer.core import TyperCommand, TyperGroup

from pdqs.cli import COMMANDS, command_of
from pdqs.tables import files

from .conftest import Pdqs

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "cli.md"


def shown_commands() -> list[tuple[str, str]]:
    """Each `$ pdqs ...` of the page's console blocks, with what is shown below it."""
    blocks = re.findall(r"^```console\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


@pytest.fixture
def example_files(tmp_path: Path) -> None:
    """The files of `examples/`, an offers file, and reports from all but the last 51 owners."""
    for path in (ROOT / "examples").glob("*.csv"):
        shutil.copy(path, tmp_path)


def test_the_page_shows_every_command_of_a_round() -> None:
    words = {command.split()[1] for command, _ in shown_commands()}
    assert words == {"demo", "plan", "clear", "answer", "trade", "compare", "terms"}
    assert all(command.startswith("pdqs ") for command, _ in shown_commands())


@pytest.mark.usefixtures("example_files")
@pytest.mark.parametrize(("command", "expected"), shown_commands(), ids=[command for command, _ in shown_commands()])
def test_the_page_shows_what_is_printed(pdqs_command: Pdqs, command: str, expected: str) -> None:
    if ".parquet" in command:
        pytest.importorskip("pyarrow")
    words = shlex.split(command)[1:]
    if words[0] == "answer":
        pdqs_command("trade", "market.csv", "--budget", 120, "--seed", 7, "--out", "round.csv")
        with Path("round.csv").open(encoding="utf-8", newline="") as written:
            rows = list(csv.DictReader(written))
        offers = {name: [row[name] for row in rows] for name in rows[0] if name not in ("report", "paid")}
        files.write_table(Path("offers.csv"), offers)
        lines = [f"{row['owner']},{row['report']}" for row in rows]
        Path("reports.csv").write_text("\n".join(["owner,report", *lines[:-51]]), encoding="utf-8")
    done = pdqs_command(*words)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    printed = done.out + done.err
    assert doctest.OutputChecker().check_output(expected, printed, flags), f"expected\n{expected}\ngot\n{printed}"
    assert done.code == (2 if expected.startswith("pdqs: ") else 0)


def run_example(name: str, folder: Path) -> str:
    """What an example prints; it must warn of nothing and write nothing."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / name)],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(folder.iterdir()) == []
    return done.stdout


def test_every_example_is_run_here() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == {"one_round.py", "correlated_bids.py"}


def test_the_example_of_a_round_ends_with_the_truth_in_the_interval(tmp_path: Path) -> None:
    assert run_example("one_round.py", tmp_path).rstrip().endswith("inside the interval: True")


def test_the_example_of_correlated_bids_shows_what_it_says(tmp_path: Path) -> None:
    printed = run_example("correlated_bids.py", tmp_path)
    held = {}
    for name, *figures in re.findall(r"(\w+): [\d,]+ \(([\d,]+) to ([\d,]+)\).* is ([\d,]+)", printed):
        low, high, truth = (int(figure.replace(",", "")) for figure in figures)
        held[name] = low <= truth <= high
    assert held == {"honest": True, "sound": False, "robust": True}
    by_price = [int(share) for share in re.findall(r"(\d+)% were ill", printed)]
    assert by_price[-1] > by_price[0] + 30


# Help, and what is imported for it


def test_help_names_every_command(pdqs_command: Pdqs) -> None:
    done = pdqs_command("--help")
    assert done.code == 0
    assert all(re.search(rf"^  {word} ", done.out, re.MULTILINE) for word in COMMANDS)
    assert pdqs_command().out == done.out
    assert re.fullmatch(r"pdqs \d+\.\d+\.\d+\n", pdqs_command("--version").out)


def _helps(command: TyperCommand | TyperGroup, name: str) -> Iterator[str]:
    """The help of a command, and of those below it."""
    yield command.get_help(Context(command, info_name=name))
    for word, below in getattr(command, "commands", {}).items():
        yield from _helps(below, f"{name} {word}")


@pytest.mark.parametrize("word", COMMANDS)
def test_help_is_written_for_a_terminal_and_not_for_a_manual(word: str) -> None:
    for shown in _helps(command_of(word), f"pdqs {word}"):
        assert not re.search(r"`|\*\*|:(class|func|mod):", shown), shown


@pytest.mark.parametrize("word", ["demo", "trade", "clear", "answer", "plan", "terms"])
def test_each_command_helps(pdqs_command: Pdqs, word: str) -> None:
    done = pdqs_command(word, "--help")
    assert done.code == 0
    assert f"Usage: pdqs {word}" in done.out
    assert COMMANDS[word].split(":")[0].split(",")[0].rstrip(".") in " ".join(done.out.split())
    shared = {"--query", "--json"} if word == "demo" else {"--query", "--domain", "--preset", "--rule", "--json"}
    assert all(option in done.out for option in shared)


def imported(script: str) -> set[str]:
    """The heavy packages that a script leaves imported."""
    heavy = ("matplotlib", "typer", "rich", "pyarrow", "scipy.optimize", "jax", "fastapi", "dask", "pandas")
    probe = f"{script}\nimport sys\nprint(*[m for m in {heavy!r} if m in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_import_pdqs_is_light() -> None:
    assert imported("import pdqs") == set()


def test_help_is_light() -> None:
    assert imported("from pdqs.cli import main; main(['--help'])") == set()


def test_a_command_imports_only_what_it_needs() -> None:
    script = "from pdqs.cli import main\ntry:\n    main(['clear', '--help'])\nexcept SystemExit:\n    pass"
    assert imported(script) <= {"typer", "rich"}
    assert imported("import matplotlib") == {"matplotlib"}, "the probe sees what is imported"


def test_a_terminal_without_the_sign_still_gets_the_figures() -> None:
    words = [sys.executable, "-c", "from pdqs.cli import main; main()", "plan", "--owners", "500", "--budget", "100"]
    done = subprocess.run(words, capture_output=True, text=True, env={"PYTHONIOENCODING": "ascii"}, check=True)
    assert "gives ? " in done.stdout
    assert done.stderr == ""
