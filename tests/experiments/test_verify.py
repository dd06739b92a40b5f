"""Recounting populations from raw files: the true ones where there are copies, made ones everywhere."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

from pdqs.cli import main
from pdqs.experiments import populations
from pdqs.experiments.verify import RAW, recount, refuse_disagreement, verify_populations
from pdqs.model.errors import FileError, InputError

RAW_FILES = Path(__file__).parents[3] / "shared" / "data"
needs_raw_files = pytest.mark.skipif(not RAW_FILES.is_dir(), reason="no copies of the raw public files beside the repo")


def made_file(name: str, directory: Path) -> Path:
    """A file with the population's figures, its rows made up from them."""
    found, raw = populations.load(name), RAW[name]
    counted = next(iter(raw.counted))
    path = directory / f"{name}.csv"
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file, delimiter=raw.delimiter)
        writer.writerow(["id", raw.median_column, f"{raw.count_column} "])
        for row, (number, one) in enumerate(zip(found.median_values(), found.count_values(), strict=True)):
            writer.writerow([row, number, counted if one else "other"])
    return path


@needs_raw_files
def test_every_figure_agrees_with_the_raw_public_files() -> None:
    figures = verify_populations(RAW_FILES)
    assert len(figures) == 5 * 6
    assert [figure for figure in figures if not figure.agrees] == []


@pytest.mark.parametrize("name", populations.names())
def test_made_rows_give_the_figures_they_were_made_from_and_only_the_hash_differs(name: str, tmp_path: Path) -> None:
    figures = recount(populations.load(name), made_file(name, tmp_path))
    assert [figure.name for figure in figures if not figure.agrees] == ["sha256"]


def test_one_changed_answer_is_caught(tmp_path: Path) -> None:
    path = made_file("exam", tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("completed", "none", 1), encoding="utf-8")
    changed = {figure.name: figure.counted for figure in recount(populations.load("exam"), path) if not figure.agrees}
    assert changed["count"] == "357"


@needs_raw_files
def test_a_changed_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = shutil.copy(RAW_FILES / "maternal.csv", tmp_path)
    with Path(copy).open("a", encoding="utf-8") as file:
        file.write("25,130,80,15,98,86,high risk\n")
    with pytest.raises(SystemExit) as stop:
        main(["populations", "verify", "--data", str(tmp_path)])
    said = capsys.readouterr()
    assert stop.value.code == 2
    assert "maternal.csv is not the file that was counted" in said.err
    assert "not there, so not verified: obesity" in said.out


@needs_raw_files
def test_verify_says_which_figures_agree(capsys: pytest.CaptureFixture[str]) -> None:
    main(["populations", "verify", "--data", str(RAW_FILES)])
    assert "30 of 30 figures agree" in capsys.readouterr().out


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "exam.csv"
    path.write_text("gender,reading score\nfemale,70\n")
    with pytest.raises(FileError, match=r"exam\.csv has no column 'test preparation course'"):
        verify_populations(tmp_path)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a,1\n", "row 1 has 2 columns, the head has 3"),
        ("a,1,none\nb,seven,none\n", "row 2, column 'reading score': 'seven' is not a number"),
        ("a,101,none\n", "row 1, column 'reading score': 101 is not in the domain"),
    ],
)
def test_a_bad_row_is_named(rows: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "exam.csv").write_text(f"id,reading score,test preparation course\n{rows}")
    with pytest.raises(InputError, match=said):
        verify_populations(tmp_path)


def test_a_bad_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nowhere is not a directory"):
        verify_populations(tmp_path / "nowhere")
    with pytest.raises(FileError, match="holds none of the raw files"):
        verify_populations(tmp_path)


@pytest.mark.parametrize("content", [b"", b"id,reading score,test preparation course\n", b"\xff\xfe\x00"])
def test_a_file_without_rows_or_text_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "exam.csv").write_bytes(content)
    with pytest.raises(FileError, match=r"exam\.csv"):
        verify_populations(tmp_path)


def test_agreement_is_not_refused(tmp_path: Path) -> None:
    figures = recount(populations.load("exam"), made_file("exam", tmp_path))
    refuse_disagreement([figure for figure in figures if figure.name != "sha256"])
