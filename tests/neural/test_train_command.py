"""pdqs train, from the words on the command line to the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pdqs import neural
from pdqs.cli import main


@pytest.fixture
def past(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "past.csv"
    bids = np.random.default_rng(1).random(300)
    path.write_text("bid\n" + "\n".join(f"{bid:.6f}" for bid in bids) + "\n")
    return path


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["train", *words])
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_a_sound_rule_is_learned_saved_and_drawn(past: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["train", str(past), "--out", "rule.npz", "--steps", "20", "--picture", "curve.png"])
    assert "sum of q^2" in capsys.readouterr().out
    assert isinstance(neural.load("rule.npz").rule, neural.Learned)
    assert (past.parent / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_npqm_is_trained_stopped_and_gone_on_with(past: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", str(past), "--form", "released", "--owners", "12", "--budget", "9", "--state", "half.npz"]
    for more in (["--out", "one.npz"], ["--out", "two.npz", "--resume"]):
        main([*words, "--steps", "30", *more])
    capsys.readouterr()
    assert neural.load("one.npz", owners=12).rule == neural.load("two.npz").rule


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--out", "rule.npz"], "give a file with a column 'bid'"),
        (["--out", "rule.txt"], "must end in .npz"),
        (["--out", "nowhere/rule.npz"], "there is no folder nowhere"),
        (["--out", "rule.npz", "--form", "magic"], "unknown form 'magic'"),
        (["--out", "rule.npz", "--form", "printed"], "needs --owners and --budget"),
        (["--out", "rule.npz", "--form", "printed", "--owners", "5", "--budget", "0"], "must be above 0"),
        (["--out", "r.npz", "--form", "printed", "--owners", "5", "--budget", "1", "--resume"], "file of --state"),
    ],
)
def test_bad_words_end_in_one_sentence_and_no_file(
    words: list[str], sentence: str, past: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sentence in refused(capsys, *words)
    assert [path.name for path in past.parent.iterdir()] == ["past.csv"]


def test_nan_among_past_bids_is_named_by_row(past: Path, capsys: pytest.CaptureFixture[str]) -> None:
    past.write_text("bid\n0.5\nnan\n")
    assert "row 2, column 'bid': nan is not a finite number" in refused(capsys, str(past), "--out", "rule.npz")
