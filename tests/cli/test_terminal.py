"""What a terminal shows: whole names at any width, help where nothing was asked, words that complete themselves."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

import pdqs
from pdqs.cli.output import Output

from .conftest import Pdqs

ROWS = [
    ("GPQM logarithmic", "1,309", "+12%", "900 to 1,700", "19/20"),
    ("honest", "1,204", "+3%", "980 to 1,500", "20/20"),
]
HEAD = ("mechanism", "answer", "error", "95% interval", "held")


@pytest.mark.parametrize("width", [32, 50, 120])
def test_no_cell_of_a_table_is_cut_at_any_width(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    Output(False, Console(width=width)).rows(HEAD, ROWS, title="What each says")
    printed = capsys.readouterr().out
    assert all(cell in printed for row in ROWS for cell in row)
    assert "…" not in printed
    assert max(map(len, printed.splitlines())) <= width


@pytest.mark.parametrize("word", ["populations", "owner", "market"])
def test_a_command_of_several_shows_its_help_when_none_is_named(pdqs_command: Pdqs, word: str) -> None:
    done = pdqs_command(word)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: pdqs {word}")
    assert "Commands:" in done.out


def test_help_says_that_a_rule_may_be_a_file(pdqs_command: Pdqs) -> None:
    assert "FILE.npz" in pdqs_command("trade", "--help").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_given_every_command_and_its_options(pdqs_command: Pdqs, shell: str) -> None:
    done = pdqs_command("completion", shell)
    assert done.code == 0
    for word in ("trade", "populations", "fetch", "terms"):
        assert word in done.out
    for option in ("bid-column", "overwrite", "terms"):
        assert option in done.out
    assert "choose one of bash, zsh, fish" in pdqs_command("completion", "tcsh").err


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes_a_word(pdqs_command: Pdqs) -> None:
    Path("completion").write_text(pdqs_command("completion", "bash").out, encoding="utf-8")
    ask = 'source ./completion; COMP_WORDS=({words}); COMP_CWORD={at}; _pdqs; echo "${{COMPREPLY[@]}}"'

    def completed(*words: str) -> set[str]:
        script = ask.format(words=" ".join(words), at=len(words) - 1)
        return set(subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split())

    assert completed("pdqs", "tr") == {"trade", "train"}
    assert completed("pdqs", "trade", "--bid") == {"--bid-range", "--bid-column"}
    assert "fetch" in completed("pdqs", "populations", "f")


def test_a_plan_and_its_curve_leave_as_plain_values() -> None:
    plan = pdqs.plan(pdqs.presets.sound(query=pdqs.Count(), budget=40.0), owners=300)
    told = json.loads(json.dumps(plan.to_dict()))
    assert told["owners"] == 300
    assert told["half_width"] == plan.half_width
    assert told["terms_hash"] == plan.terms.hash
    curve = plan.curve(points=3)
    assert list(curve.to_dict()) == ["budget", "half_width", "share_half_width"]
    assert len(curve.to_pandas()) == 3


@pytest.mark.parametrize(
    "shown",
    [
        pdqs.Domain.categories(["<b>", "c"]),
        pdqs.priors.Uniform(),
        pdqs.priors.TruncatedNormal(0.5, 0.2, 0.0, 1.0),
        pdqs.priors.fit([i / 100 for i in range(100)], (0.0, 1.0)),
        pdqs.Terms(query=pdqs.Count(), budget=1.0),
    ],
    ids=lambda shown: type(shown).__name__,
)
def test_a_notebook_shows_it_as_html(shown: pdqs.Domain) -> None:
    page = shown._repr_html_()
    assert page.startswith("<div>")
    assert "<b>" not in page
