"""pdqs train, from the words on the command line to the file."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
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
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("sum of q^2", "0.1 an owner", "0.3 an owner", "0.6 an owner"))
    assert "optimal for a fitted prior" in printed
    assert "than the fitted prior (--prior FILE) at" in printed
    assert isinstance(neural.load("rule.npz").rule, neural.Learned)
    assert (past.parent / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_npqm_is_trained_stopped_and_gone_on_with(past: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", str(past), "--form", "released", "--owners", "12", "--budget", "9", "--state", "half.npz"]
    for more in (["--out", "one.npz"], ["--out", "two.npz", "--resume"]):
        main([*words, "--steps", "30", *more])
    capsys.readouterr()
    assert neural.load("one.npz", owners=12).rule == neural.load("two.npz").rule


def test_ctrl_c_ends_a_training_at_once_with_a_sentence_and_it_goes_on_from_there(tmp_path: Path) -> None:
    words = [
        "--form",
        "released",
        "--owners",
        "300",
        "--budget",
        "90",
        "--state",
        "half.npz",
        "--steps",
        "100000",
        "--out",
        "rule.npz",
    ]
    script = "from pdqs.cli import main; main()"
    running = subprocess.Popen(
        [sys.executable, "-c", script, "train", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    give_up = time.monotonic() + 300
    while not (tmp_path / "half.npz").exists() and running.poll() is None and time.monotonic() < give_up:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=120)[1]
    assert running.returncode == 130
    assert said.endswith("pdqs: stopped: the same command with --resume goes on from half.npz\n")
    config, _, _, trace = neural.load_training(tmp_path / "half.npz")
    assert config.options == neural.RELEASED
    assert trace.shape[0] >= 250


def test_the_mended_form_is_trained_by_its_name(past: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--form", "mended", "--owners", "12", "--budget", "9", "--steps", "300", "--out", "rule.npz"]
    main(["train", str(past), *words])
    assert "on these bids" in capsys.readouterr().out
    found = neural.load("rule.npz").rule
    assert isinstance(found, neural.Npqm)
    assert found.q_max == 0.95


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
