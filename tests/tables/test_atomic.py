"""Files are replaced whole, synced, and by one writer."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

import pdqs
from pdqs.experiments.store import write_whole
from pdqs.model.errors import FileError
from pdqs.tables.atomic import UNFINISHED, replacing


def test_nothing_is_left_of_a_write_that_fails(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("before", encoding="utf-8")

    def write_half(temporary: Path) -> None:
        temporary.write_text("half", encoding="utf-8")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), replacing(path) as temporary:
        write_half(temporary)
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]
    assert path.read_text(encoding="utf-8") == "before"


def test_the_file_is_synced_before_it_takes_its_name_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, steps = tmp_path / "out.csv", list[str]()
    monkeypatch.setattr(os, "fsync", lambda file: steps.append(Path(os.readlink(f"/proc/self/fd/{file}")).name))
    replace = os.replace

    def noted(old: Path, new: Path) -> None:
        steps.append("replaced")
        replace(old, new)

    monkeypatch.setattr(os, "replace", noted)
    with replacing(path) as passing:
        passing.write_text("whole", encoding="utf-8")
    assert steps == [passing.name, "replaced", tmp_path.name]
    assert passing.name.startswith(UNFINISHED)
    assert passing.suffix == ".csv"


def test_a_disk_that_fails_at_the_sync_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.csv"
    path.write_text("before", encoding="utf-8")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"^cannot write .*out.csv: no room left$"), replacing(path) as passing:
        passing.write_text("after", encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]
    assert path.read_text(encoding="utf-8") == "before"


def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    said = pytest.raises(FileError, match=r"^cannot write .*out.csv: Not a directory$")
    with said, replacing(tmp_path / "file" / "out.csv") as passing:
        passing.write_text("whole", encoding="utf-8")
    with pytest.raises(FileError, match=r"^cannot write .*out.csv: "):
        write_whole(tmp_path / "file" / "out.csv", lambda path: path.write_bytes(b""))


def test_no_other_module_puts_a_file_in_place_or_syncs_one() -> None:
    package = Path(pdqs.__file__).parent
    own = re.compile(r"os\.(replace|rename|fsync)\(|\b(passing|part|partial|temporary|unfinished)\.(replace|rename)\(")
    found = {path.name for path in package.rglob("*.py") if own.search(path.read_text(encoding="utf-8"))}
    assert found == {"atomic.py"}
