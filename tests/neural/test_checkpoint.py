"""Checkpoints: what is written is read back, what was tampered with is refused, and JAX is not needed."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from pdqs import neural
from pdqs.model.errors import FileError

LEARNED = neural.Learned(knots=(0.0, 0.4, 1.0), heights=(2.0, 0.5, -3.0), quantiles=(0.0, 0.3, 1.0))


def npqm(owners: int = 7) -> neural.Npqm:
    rng = np.random.default_rng(1)
    nets = neural.Nets(rng.random((25, owners)), rng.random(25), rng.random((3, 8)), rng.random(3))
    return neural.Npqm(nets=nets, digest=nets.digest, typical=(2.0, 1.0), q_max=0.9, sorted_bids=True)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "rule.npz"
    neural.save(path, npqm(), seed=5)
    return path


@pytest.mark.parametrize("rule", [LEARNED, npqm()], ids=["learned", "npqm"])
def test_a_rule_is_read_back_as_it_was(rule: neural.Learned | neural.Npqm, tmp_path: Path) -> None:
    neural.save(tmp_path / "rule.npz", rule, seed=5, config=neural.LearnConfig())
    found = neural.load(tmp_path / "rule.npz")
    assert found.rule == rule
    assert found.about["seed"] == 5
    assert found.about["versions"]["numpy"] == np.__version__
    assert [path.name for path in tmp_path.iterdir()] == ["rule.npz"]


def rewritten(path: Path, **changes: bytes) -> None:
    """The same file with some entries replaced."""
    with zipfile.ZipFile(path) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(path, "w") as packed:
        for name, part in {**parts, **{f"{key}.npy": value for key, value in changes.items()}}.items():
            packed.writestr(name, part)


def as_npy(array: np.ndarray, *, pickled: bool = False) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, array, allow_pickle=pickled)
    return out.getvalue()


def test_an_altered_weight_is_noticed(kept: Path) -> None:
    rewritten(kept, last_bias=as_npy(np.zeros(3)))
    with pytest.raises(FileError, match="do not match its hash"):
        neural.load(kept)


def test_an_altered_fact_is_noticed(kept: Path) -> None:
    with zipfile.ZipFile(kept) as packed:
        text = str(np.lib.format.read_array(io.BytesIO(packed.read("about.npy")), allow_pickle=False))
    rewritten(kept, about=as_npy(np.array(text.replace('"q_max": 0.9', '"q_max": 1.0'))))
    with pytest.raises(FileError, match="do not match its hash"):
        neural.load(kept)


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (exec, ("raise SystemExit('unpickled')",))


def test_a_pickle_inside_is_never_opened(kept: Path) -> None:
    rewritten(kept, last=as_npy(np.array([Bomb()], dtype=object), pickled=True))
    with pytest.raises(FileError, match="not a checkpoint of pdqs, or a damaged one"):
        neural.load(kept)


@pytest.mark.parametrize("length", [0, 10, 500, -30])
def test_a_truncated_file_is_refused(kept: Path, length: int) -> None:
    kept.write_bytes(kept.read_bytes()[:length])
    with pytest.raises(FileError, match="damaged"):
        neural.load(kept)


def test_a_bare_pickle_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "evil.npz").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(FileError, match="not a checkpoint"):
        neural.load(tmp_path / "evil.npz")
    with pytest.raises(FileError, match="No such file"):
        neural.load(tmp_path / "none.npz")


def test_a_file_that_unpacks_without_end_is_refused(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pdqs.neural.checkpoint.LARGEST_BYTES", 1000)
    with pytest.raises(FileError, match="unpacks to more than"):
        neural.load(kept)


def test_a_net_for_another_number_of_owners_is_refused(kept: Path) -> None:
    assert neural.load(kept, owners=7).rule == npqm()
    with pytest.raises(FileError, match="was trained for 7 owners, not 8"):
        neural.load(kept, owners=8)


def test_a_rule_is_no_half_done_training_and_the_other_way_round(kept: Path, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="holds no half-done training but 'npqm'"):
        neural.load_training(kept)
    config = neural.NpqmConfig(owners=3, budgets=(1.0,))
    saved = neural.Saved(config=config, bids=np.zeros((50, 3)), state={}, trace=np.zeros((0, 1, 6)))
    neural.save_training(tmp_path / "half.npz", saved)
    assert neural.load_training(tmp_path / "half.npz")[0] == config
    with pytest.raises(FileError, match="holds no learned rule but 'training'"):
        neural.load(tmp_path / "half.npz")


def test_a_file_that_cannot_be_written_leaves_the_old_one(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = kept.read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(FileError, match="no room left"):
        neural.save(kept, LEARNED)
    assert kept.read_bytes() == before
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]


def test_without_jax_rules_clear_and_training_says_what_is_missing(tmp_path: Path) -> None:
    neural.save(tmp_path / "rule.npz", LEARNED)
    script = """
import sys
sys.modules["jax"] = None
import pdqs
from pdqs import neural
rule = neural.load("rule.npz").rule
print(pdqs.clear([0.1, 0.2, 0.6], pdqs.presets.sound(query=pdqs.Count(), budget=1.0, rule=rule)).spent <= 1.0)
try:
    neural.learn([0.5] * 20)
except pdqs.model.errors.MissingExtraError as fault:
    print(fault)
"""
    ran = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["True", "training needs jax: install the extra, pip install 'pdqs[neural]'"]
