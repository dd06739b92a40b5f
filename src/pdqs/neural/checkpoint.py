"""Learned rules and half-done trainings as files: npz without pickle, with a hash, read with NumPy alone.

A file holds named arrays and one text, ``about``: JSON with the kind, what the rule was trained for, the seed, the
versions that made it, and the SHA-256 of all the rest. Reading checks the hash, never unpickles, and refuses to unpack
more than a stated size.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import platform
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.errors import FileError, PdqsError
from pdqs.neural.config import NpqmConfig, Recipe
from pdqs.neural.curves import Learned
from pdqs.neural.npqm_rule import Nets, Npqm
from pdqs.pricing.rules.base import Setting
from pdqs.privacy.contracts import contract_named
from pdqs.tables.atomic import replacing

if TYPE_CHECKING:
    from pdqs.neural.training import Saved

LARGEST_BYTES = 2**30
AnyLearned = Npqm | Learned


@final
@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A rule and what is known of its making."""

    rule: AnyLearned
    about: dict[str, Any]


def save(path: str | Path, rule: AnyLearned, **about: object) -> None:
    """Write a learned rule; keywords (a config, a seed, a budget, ...) are kept beside it."""
    arrays = _npqm_arrays(rule) if isinstance(rule, Npqm) else _learned_arrays(rule)
    facts = {key: value for key, value in _facts(rule).items() if key not in arrays}
    write_arrays(Path(path), arrays, {"kind": rule.name, "rule": facts, **{k: _plain(v) for k, v in about.items()}})


def load(path: str | Path, *, owners: int | None = None) -> Checkpoint:
    """Read a learned rule back; ``owners`` refuses a net that reads another number of bids."""
    arrays, about = read_arrays(Path(path))
    kind, facts = about.get("kind"), about.get("rule")
    if kind not in ("npqm", "learned") or not isinstance(facts, dict):
        raise FileError(f"{path}: holds no learned rule but {kind!r}")
    try:
        rule = _npqm(arrays, facts) if kind == "npqm" else _learned(arrays, facts)
    except (KeyError, TypeError, ValueError, PdqsError) as fault:
        raise FileError(f"{path}: not a learned rule that can be used: {fault}") from None
    if owners is not None and isinstance(rule, Npqm) and rule.nets.owners != owners:
        raise FileError(f"{path}: was trained for {rule.nets.owners} owners, not {owners}")
    return Checkpoint(rule=rule, about=about)


def save_training(path: str | Path, saved: Saved) -> None:
    """Write a half-done training."""
    arrays = {"bids": saved.bids, "trace": saved.trace, **saved.state}
    write_arrays(Path(path), arrays, {"kind": "training", "config": _plain(saved.config)})


def load_training(path: str | Path) -> tuple[NpqmConfig, Floats, dict[str, Floats], Floats]:
    """Read a half-done training: its config, bids, state and trace."""
    arrays, about = read_arrays(Path(path))
    if about.get("kind") != "training":
        raise FileError(f"{path}: holds no half-done training but {about.get('kind')!r}")
    try:
        fields = dict(about["config"])
        options = fields.pop("options")
        for name in ("budgets", "bid_range"):
            fields[name] = tuple(fields[name])
        config = NpqmConfig(**fields, options=None if options is None else Recipe(**options))
        bids, trace = arrays.pop("bids"), arrays.pop("trace")
    except (KeyError, TypeError, ValueError, PdqsError) as fault:
        raise FileError(f"{path}: not a training that can be gone on with: {fault}") from None
    return config, bids, arrays, trace


def versions() -> dict[str, str]:
    """What made a file: Python and every package that took part and is installed."""
    from importlib import metadata

    found = {"python": platform.python_version()}
    for package in ("pdqs", "numpy", "jax", "jaxlib", "optax"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _facts(rule: AnyLearned) -> dict[str, object]:
    return {**_fields(rule), "setting": {**_fields(rule.setting), "contract": rule.setting.contract.name}}


def _npqm_arrays(rule: Npqm) -> dict[str, Floats]:
    return {name: getattr(rule.nets, name) for name in ("first", "first_bias", "last", "last_bias")}


def _learned_arrays(rule: Learned) -> dict[str, Floats]:
    return {name: np.array(getattr(rule, name)) for name in ("knots", "heights", "quantiles")}


def _setting(facts: Mapping[str, Any]) -> Setting:
    return Setting(**{**facts["setting"], "contract": contract_named(facts["setting"]["contract"])})


def _npqm(arrays: Mapping[str, Floats], facts: Mapping[str, Any]) -> Npqm:
    nets = Nets(*(arrays[name] for name in ("first", "first_bias", "last", "last_bias")))
    slope, intercept = map(float, facts["typical"])
    return Npqm(
        nets=nets,
        digest=str(facts["digest"]),
        typical=(slope, intercept),
        q_max=float(facts["q_max"]),
        sorted_bids=bool(facts["sorted_bids"]),
        setting=_setting(facts),
    )


def _learned(arrays: Mapping[str, Floats], facts: Mapping[str, Any]) -> Learned:
    lines = {name: tuple(map(float, arrays[name])) for name in ("knots", "heights", "quantiles")}
    return Learned(**lines, link=str(facts["link"]), setting=_setting(facts))


def _plain(value: object) -> object:
    """Dataclasses, tuples and numbers as JSON can hold them; a net or a contract is left to the arrays or its name."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)


def _fields(value: object) -> dict[str, object]:
    assert dataclasses.is_dataclass(value)
    return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value) if f.name != "nets"}


def _digest(arrays: Mapping[str, Floats], about: Mapping[str, object]) -> str:
    """SHA-256 of everything in a file but the hash itself."""
    facts = {key: value for key, value in about.items() if key != "sha256"}
    summed = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        summed.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        summed.update(array.tobytes())
    return summed.hexdigest()


def write_arrays(path: Path, arrays: Mapping[str, Floats], about: Mapping[str, object]) -> None:
    """An atomic write of arrays and what is said of them, with a hash over both."""
    about = {**about, "versions": versions()}
    text = json.dumps({**about, "sha256": _digest(arrays, about)}, sort_keys=True)
    with replacing(path) as passing, open(passing, "wb") as out:
        np.savez(out, about=np.array(text), **arrays)  # type: ignore[arg-type]  # numpy's stub takes no mapping


def read_arrays(path: Path) -> tuple[dict[str, Floats], dict[str, Any]]:
    """What :func:`write_arrays` wrote, once its hash is seen to be right."""
    try:
        with zipfile.ZipFile(path) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > LARGEST_BYTES:
                raise FileError(f"{path}: unpacks to more than {LARGEST_BYTES >> 20} MiB")
            parts = {entry.filename: packed.read(entry) for entry in packed.infolist()}
        arrays = {
            name.removesuffix(".npy"): np.lib.format.read_array(io.BytesIO(part), allow_pickle=False)
            for name, part in parts.items()
        }
        about = json.loads(str(arrays.pop("about")))
    except OSError as fault:
        raise FileError(f"{path}: cannot be read: {fault.strerror or fault}") from None
    # RuntimeError is for a member that is locked, NotImplementedError for one packed in an unknown way.
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, RuntimeError, NotImplementedError, MemoryError):
        raise FileError(f"{path}: not a checkpoint of pdqs, or a damaged one") from None
    if not isinstance(about, dict) or about.get("sha256") != _digest(arrays, about):
        raise FileError(f"{path}: its contents do not match its hash: it is damaged or was altered")
    return arrays, about
