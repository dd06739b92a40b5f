"""What cannot be read, parsed or written ends in one clear sentence, and leaves nothing behind."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pdqs
from pdqs.model.errors import EstimateError, FileError, InputError, PdqsError, TermsError
from pdqs.scale import Run, Threads, open_source, sink

from .markets import market, save, terms_for


def refused(place: Path, rows: Path, kind: type[PdqsError], says: str, **changes: object) -> None:
    """Trading these rows raises ``kind`` and says so, and no output appears, whole or partial."""
    before = sorted(place.iterdir())
    with pytest.raises(kind, match=says):
        Run(engine=Threads(2), piece_rows=100).trade(rows, terms_for(300, **changes), place / "round", seed=1)
    assert sorted(place.iterdir()) == before


@pytest.fixture
def rows(tmp_path: Path, rng: np.random.Generator) -> Path:
    return save(market(300, rng), tmp_path / "rows", groups=[[100, 100], [60, 40]])


def damage(path: Path, group: int, *, bits: int) -> None:
    """Flip so many bits, a byte apart, of a row group's bids, the middle one in the middle."""
    chunk = pq.ParquetFile(path).metadata.row_group(group).column(1)
    content = bytearray(path.read_bytes())
    first = chunk.dictionary_page_offset or chunk.data_page_offset
    start = first + (chunk.total_compressed_size - bits) // 2
    for place in range(start, start + bits):
        content[place] ^= 1
    path.write_bytes(content)


def test_a_corrupt_row_group_is_named(tmp_path: Path, rows: Path) -> None:
    path = rows / "rows-0001.parquet"
    damage(path, 1, bits=pq.ParquetFile(path).metadata.row_group(1).column(1).total_compressed_size)
    refused(tmp_path, rows, FileError, r"rows-0001\.parquet: row group 2 cannot be read")


def test_one_flipped_bit_in_our_own_files_is_noticed(tmp_path: Path, rows: Path) -> None:
    """Offers are written with a checksum on every page: without it an uncompressed bit would pass for a price."""
    Run().clear(rows, terms_for(300), tmp_path / "offers")
    part = tmp_path / "offers" / "part-000000.parquet"
    open_source(part, needs=["bid"])
    damage(part, 0, bits=1)
    with pytest.raises(FileError, match="row group 1 cannot be read"):
        Run().clear(part, terms_for(300), tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_a_missing_column_is_named_before_any_work(tmp_path: Path, rows: Path) -> None:
    pq.write_table(pa.table({"owner": ["x"], "bids": [0.5]}), rows / "rows-0002.parquet")
    refused(tmp_path, rows, FileError, r"rows-0002\.parquet: no column 'bid'; it has 'owner', 'bids'")


def test_ids_in_some_files_only_are_refused(tmp_path: Path, rows: Path) -> None:
    pq.write_table(pa.table({"bid": [0.5], "value": [1]}), rows / "rows-0002.parquet")
    refused(tmp_path, rows, FileError, r"rows-0002\.parquet: no column 'owner', but .*rows-0000\.parquet has one")


def test_nan_in_row_ten_million_is_named_with_its_file(tmp_path: Path) -> None:
    bids = np.full(10_000_000, 0.25)
    bids[-1] = np.nan
    (tmp_path / "bids").mkdir()
    pq.write_table(pa.table({"bid": bids[:6_000_000]}), tmp_path / "bids" / "a.parquet")
    pq.write_table(pa.table({"bid": bids[6_000_000:]}), tmp_path / "bids" / "b.parquet")
    says = r"^row 10000000, column 'bid': nan is not a finite number \(row 4000000 of .*b\.parquet\)$"
    with pytest.raises(InputError, match=says):
        Run().clear(tmp_path / "bids", terms_for(10_000_000), tmp_path / "offers")
    assert [path.name for path in tmp_path.iterdir()] == ["bids"]


@pytest.mark.parametrize(
    ("column", "values", "says"),
    [
        ("bid", pa.array([0.5, None, 0.5]), r"row 302, column 'bid': the value is missing"),
        ("bid", pa.array([0.5, 0.5, 1.5]), r"row 303, column 'bid': 1\.5 is outside the bid range 0 to 1"),
        ("bid", pa.array(["0.5", "0.5", "cheap"]), r"row 303, column 'bid': 'cheap' is not a number"),
        ("value", pa.array([1, 2, 9]), r"row 303, column 'value': 9 is not in the domain \(0 to 4 by 1\)"),
        ("owner", pa.array([None, "b", "c"]), r"row 301, column 'owner': the owner has no id"),
        ("owner", pa.array([0.5, 1.5, 2.5]), r"column 'owner': ids must be whole numbers, text or bytes"),
    ],
)
def test_a_bad_value_is_named_by_its_row_in_the_whole(
    tmp_path: Path, rows: Path, column: str, values: pa.Array, says: str
) -> None:
    good = {"owner": pa.array(["a", "b", "c"]), "bid": pa.array([0.5, 0.5, 0.5]), "value": pa.array([0, 1, 2])}
    pq.write_table(pa.table(good | {column: values}), rows / "rows-0009.parquet")
    refused(tmp_path, rows, InputError, says)


def test_a_category_that_is_not_one_is_named(tmp_path: Path) -> None:
    terms = terms_for(4, query=pdqs.Histogram(pdqs.Domain.categories(["tea", "milk"])))
    reports = pa.table({"q": np.zeros(4), "report": ["tea", None, "milk", "beer"]})
    pq.write_table(reports, tmp_path / "reports.parquet")
    with pytest.raises(InputError, match="row 4, column 'report': 'beer' is not in the domain"):
        Run().answer(tmp_path / "reports.parquet", terms)


@pytest.mark.parametrize("q", [-0.25, 1.0, 0.1, float("nan")])
def test_a_q_that_no_offer_can_hold_is_named(tmp_path: Path, q: float) -> None:
    pq.write_table(pa.table({"q": [0.5, q], "report": [1, 1]}), tmp_path / "reports.parquet")
    with pytest.raises(InputError, match="row 2, column 'q'"):
        Run().answer(tmp_path / "reports.parquet", terms_for(2))


@pytest.mark.parametrize("clearing", ["greedy", "fairquery"])
def test_clearing_that_sorts_all_bids_cannot_be_streamed(tmp_path: Path, rows: Path, clearing: str) -> None:
    refused(tmp_path, rows, TermsError, "looks at all bids together", clearing=clearing)


def test_an_estimate_that_cannot_be_made_leaves_no_folder(tmp_path: Path, rows: Path) -> None:
    """The answer is the last step; the folder must wait for it."""
    refused(tmp_path, rows, EstimateError, "unbiased", estimator="unbiased")


@pytest.mark.parametrize("n", [0, 1])
def test_a_market_of_fewer_than_two_owners_is_refused(tmp_path: Path, rng: np.random.Generator, n: int) -> None:
    rows = save(market(n, rng), tmp_path / "rows", groups=[[n], [0], []])
    refused(tmp_path, rows, InputError, f"at least 2 owners, got {n}")


def test_no_rows_have_no_answer(tmp_path: Path) -> None:
    pq.write_table(pa.table({"q": np.zeros(0), "report": np.zeros(0)}), tmp_path / "reports.parquet")
    with pytest.raises(InputError, match="no rows to answer from"):
        Run().answer(tmp_path / "reports.parquet", terms_for(1))


def test_what_is_not_there_or_not_parquet_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.parquet").write_text("bid\n0.5\n")
    for location, says in (
        (tmp_path / "nowhere", "no such file or folder"),
        (tmp_path / "empty", "no Parquet file here"),
        (tmp_path / "*.pq", "no Parquet file here"),
        (tmp_path / "text.parquet", "not a readable Parquet file"),
        ("nostore://bucket/bids", "nostore"),
    ):
        with pytest.raises(FileError, match=says):
            open_source(location, needs=["bid"])


def test_an_output_that_exists_is_left_alone(tmp_path: Path, rows: Path) -> None:
    (tmp_path / "round").mkdir()
    (tmp_path / "round" / "mine.txt").write_text("mine")
    refused(tmp_path, rows, FileError, "something here already")
    assert (tmp_path / "round" / "mine.txt").read_text() == "mine"


def test_an_empty_folder_may_be_filled_and_a_missing_parent_is_said(tmp_path: Path, rows: Path) -> None:
    (tmp_path / "offers").mkdir()
    assert Run().clear(rows, terms_for(300), tmp_path / "offers").owners == 300
    with pytest.raises(FileError, match="cannot be made: No such file"):
        Run().clear(rows, terms_for(300), tmp_path / "no" / "such" / "offers")


CLEARS_INTO = """
import resource, signal, sys
import pdqs
from pdqs.model.errors import FileError
from pdqs.scale import Run
rows, out, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    Run(piece_rows=10_000).clear(rows, pdqs.presets.sound(query=pdqs.Count(), budget=1e4), out)
except FileError as fault:
    print(fault)
"""


def test_a_file_too_large_for_the_disk_leaves_nothing(tmp_path: Path, rng: np.random.Generator) -> None:
    save(market(60_000, rng), tmp_path / "rows", groups=[[20_000] * 3])
    command = [sys.executable, "-c", CLEARS_INTO, str(tmp_path / "rows"), str(tmp_path / "offers"), "100000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "cannot write: no room left; nothing was kept" in done.stdout
    assert done.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def test_a_full_disk_leaves_nothing(tmp_path: Path, rng: np.random.Generator) -> None:
    """On a real file system of one megabyte, mounted for the time in a name space of its own."""
    own_mounts = ["unshare", "--map-root-user", "--mount"]
    if not shutil.which("unshare") or subprocess.run([*own_mounts, "true"], capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount a small file system")
    save(market(60_000, rng), tmp_path / "rows", groups=[[20_000] * 3])
    (tmp_path / "disk").mkdir()
    script = 'mount -t tmpfs -o size=1m tmpfs "$2/disk" && "$0" -c "$1" "$2/rows" "$2/disk/offers" 0 && ls -A "$2/disk"'
    command = [*own_mounts, "sh", "-c", script, sys.executable, CLEARS_INTO, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [done.stdout.splitlines()[0]], "nothing is left on the disk"
    assert "cannot write: no room left; nothing was kept" in done.stdout


def test_a_folder_written_straight_to_its_name_would_be_caught(
    tmp_path: Path, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control: without removal, the checks above see the partial folder."""
    monkeypatch.setattr(sink, "_remove", lambda folder: None)  # noqa: ARG005  it is called with one
    with pytest.raises(AssertionError):
        refused(tmp_path, rows, EstimateError, "unbiased", estimator="unbiased")
