"""Rounds read from and written to an object store: the same bits as on a disk, and nothing left half-written."""

from __future__ import annotations

import json
import logging
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

import pdqs
from pdqs.cli import main
from pdqs.model.errors import FileError
from pdqs.model.query import Query
from pdqs.scale import Run, open_source
from pdqs.scale.fingerprints import fingerprint
from pdqs.scale.stores import MARKER, StoreFolder
from pdqs.scale.worker_retry import Task

from .markets import assert_same_answer, assert_same_round, save
from .test_questions import QUERIES, SEED, in_memory

pytest.importorskip("moto.server", reason="the S3 server of the tests, moto, is not installed", exc_type=ImportError)

OWNERS = 300
RUN = Run(piece_rows=90)


class Store:
    """A server of the S3 protocol on loopback, with one bucket."""

    def __init__(self) -> None:
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.start()

    def start(self) -> None:
        """Listen, at a port of the system's choice."""
        self.server.start()
        self.url = f"http://127.0.0.1:{self.server.get_host_and_port()[1]}"

    def asked(self, path: str, method: str, body: bytes = b"") -> None:
        plain = {"Content-Type": "text/plain"}
        request = urllib.request.Request(self.url + path, data=body, method=method, headers=plain)
        with urllib.request.urlopen(request, timeout=30):
            pass

    def objects(self) -> list[str]:
        """The objects of the bucket; what only stands for a folder does not count."""
        listed = pafs.FileSystem.from_uri("s3://market")[0].get_file_info(pafs.FileSelector("market", recursive=True))
        return sorted(info.path for info in listed if info.is_file)


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    store = Store()
    yield store
    store.server.stop()


@pytest.fixture
def store(server: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """An empty bucket, and credentials for it."""
    for name, held in {
        "AWS_ENDPOINT_URL": server.url,
        "AWS_ACCESS_KEY_ID": "of-the-tests",
        "AWS_SECRET_ACCESS_KEY": "of-the-tests",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, held)
    server.asked("/moto-api/reset", "POST")
    server.asked("/market", "PUT")
    return server


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(1)
    owners = [f"owner-{i}" for i in range(OWNERS)]
    values = rng.binomial(40, 0.4, OWNERS).astype(np.int64)
    return pa.table({"owner": owners, "bid": rng.random(OWNERS), "value": values})


def put(table: pa.Table, place: str, tmp_path: Path) -> str:
    """The rows as two objects below a place of the bucket."""
    here = save(table, tmp_path / "sent", groups=[[100, 0], [table.num_rows - 100]])
    filesystem = pafs.FileSystem.from_uri("s3://market")[0]
    for path in sorted(here.iterdir()):
        pafs.copy_files(str(path), f"market/{place}/{path.name}", destination_filesystem=filesystem)
    return f"s3://market/{place}"


def fetched(place: str, tmp_path: Path) -> Path:
    """A folder of the bucket, brought here."""
    filesystem, path = pafs.FileSystem.from_uri(place)
    (tmp_path / "fetched").mkdir()
    pafs.copy_files(path, str(tmp_path / "fetched"), source_filesystem=filesystem)
    return tmp_path / "fetched"


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("query", [*QUERIES, pdqs.Count()], ids=lambda query: query.kind)
def test_every_question_is_traded_in_a_store_as_in_memory(
    query: Query, table: pa.Table, store: Store, tmp_path: Path
) -> None:
    if isinstance(query, pdqs.Count):
        table = table.set_column(2, "value", pa.array(np.asarray(table["value"]) > 16))
    rows = put(table, "rows", tmp_path)
    terms = pdqs.Terms(query=query, budget=0.4 * OWNERS)
    expected = in_memory(table, terms)
    found = RUN.trade(rows, terms, "s3://market/deep/round", seed=SEED)
    assert_same_answer(found.answer, expected.answer)
    assert_same_round(fetched("s3://market/deep/round", tmp_path), table, expected)
    parts = [f"market/deep/round/part-{index:06d}.parquet" for index in range(2)]
    assert [path for path in store.objects() if not path.startswith("market/rows/")] == parts


@pytest.mark.usefixtures("store")
def test_the_commands_clear_and_answer_from_store_to_store(
    table: pa.Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = put(table, "rows", tmp_path)
    words = ["--query", "mean", "--domain", "0:40:1"]
    main(["clear", rows, *words, "--budget", "120", "--out", "s3://key:hidden@market/offers"])
    assert "wrote s3://market/offers" in capsys.readouterr().out
    terms = pdqs.Terms(query=pdqs.Mean(pdqs.Domain.grid(0, 40, 1)), budget=120.0)
    offers = pdqs.clear(np.asarray(table["bid"]), terms, owners=table["owner"])
    reports = pdqs.randomise(np.asarray(table["value"]), offers, np.random.default_rng(3))
    told = pa.array(reports.domain.decode(reports.codes), mask=~reports.arrived)
    said = save(pa.table({"owner": table["owner"], "report": told}), tmp_path / "said", groups=[[OWNERS]])
    main(["answer", "s3://market/offers/*.parquet", str(said), *words, "--out", "s3://market/due", "--json"])
    data = json.loads(capsys.readouterr().out)
    assert data["answer"]["value"] == pdqs.answer(reports, offers, terms).value
    due = pq.read_table(fetched("s3://market/due", tmp_path))
    assert due["paid"].to_pylist() == pdqs.settle(offers, reports, terms).amounts.tolist()


@pytest.mark.parametrize(
    ("rows", "out", "fault"),
    [
        ("s3://nowhere/rows", "s3://market/out", "there is no bucket 'nowhere'"),
        ("s3://market/none", "s3://market/out", "market/none: no such file or folder"),
        ("s3://market/rows", "s3://nowhere/out", "s3://nowhere/out: cannot write: there is no such bucket"),
        ("s3://market/rows", "s3://market/rows", "there is something here already"),
    ],
)
def test_what_is_not_there_or_in_the_way_gets_a_sentence(
    rows: str, out: str, fault: str, table: pa.Table, store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(table, "rows", tmp_path)
    before = store.objects()
    with pytest.raises(SystemExit):
        main(["clear", rows, "--budget", "90", "--out", out])
    said = capsys.readouterr().err
    assert fault in said
    assert "Traceback" not in said
    assert store.objects() == before


def test_credentials_that_a_store_does_not_know_are_said(table: pa.Table, store: Store, tmp_path: Path) -> None:
    rows = put(table, "rows", tmp_path)
    store.asked("/moto-api/reset-auth", "POST", b"0")  # from here on the server checks who asks
    try:
        with pytest.raises(FileError, match="credentials"):
            open_source(rows, needs=["bid"])
        with pytest.raises(FileError, match=r"s3://market/out: .*credentials.*"):
            RUN.clear(tmp_path / "sent", pdqs.Terms(query=pdqs.Count(), budget=90.0), "s3://a:b@market/out")
    finally:
        store.asked("/moto-api/reset-auth", "POST", b"inf")


def test_a_store_that_goes_away_in_the_middle_is_said_and_nothing_is_taken_for_whole(
    table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = Store()
    monkeypatch.setenv("AWS_ENDPOINT_URL", gone.url)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "of-the-tests")
    gone.asked("/market", "PUT")
    rows = put(table, "rows", tmp_path)

    def leave(stage: str, done: int, rows: int) -> None:
        if stage == "pricing" and done == 0 and rows:
            gone.server.stop()

    with pytest.raises(FileError, match="the store does not answer"):
        Run(piece_rows=90, progress=leave).clear(rows, pdqs.Terms(query=pdqs.Count(), budget=90.0), "s3://market/out")
    gone.start()  # the same objects
    monkeypatch.setenv("AWS_ENDPOINT_URL", gone.url)
    assert not [path for path in gone.objects() if path.startswith("market/out/")]
    gone.server.stop()


@pytest.mark.usefixtures("store")
def test_a_folder_whose_parts_are_being_put_into_place_is_refused(table: pa.Table, tmp_path: Path) -> None:
    rows = put(table, "rows", tmp_path)
    filesystem = pafs.FileSystem.from_uri(rows)[0]
    StoreFolder(filesystem, "market/rows").mark()
    for location in (rows, f"{rows}/*.parquet"):
        with pytest.raises(FileError, match="not complete"):
            open_source(location, needs=["bid"])
    filesystem.delete_file(f"market/rows/{MARKER}")
    assert open_source(rows, needs=["bid"]).rows == OWNERS


def test_parts_that_cannot_all_be_copied_are_taken_away_again(
    table: pa.Table, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last step fails after some parts stand under their names: they go, and so does the passing folder."""
    rows = put(table, "rows", tmp_path)
    before = store.objects()
    seen: list[str] = []

    def interrupted(self: StoreFolder, out: StoreFolder) -> None:
        out.mark()
        first = min(path for path in self.objects() if path.endswith(".parquet"))
        self.filesystem.copy_file(first, f"{out.path}/part-000000.parquet")
        seen.extend(store.objects())
        raise OSError("AWS Error SLOW_DOWN during CopyObject operation")

    monkeypatch.setattr(StoreFolder, "publish", interrupted)
    with pytest.raises(FileError, match="the store is asked too much at once; nothing was kept"):
        RUN.clear(rows, pdqs.Terms(query=pdqs.Count(), budget=90.0), "s3://market/out")
    assert "market/out/part-000000.parquet" in seen
    assert store.objects() == before


@pytest.mark.usefixtures("store")
def test_a_task_carries_its_store_to_another_machine(table: pa.Table, tmp_path: Path) -> None:
    import pickle

    from pdqs.scale.kernels import CountBids, DrawnRows, Names

    rows = put(table, "rows", tmp_path)
    kernel = CountBids(rows=DrawnRows(terms=pdqs.Terms(query=pdqs.Count(), budget=9.0), names=Names(), key=1))
    sent = pickle.loads(pickle.dumps((Task(kernel, fingerprint()), open_source(rows, needs=["bid"]).pieces)))
    assert sum(sent[0](piece).owners for piece in sent[1]) == OWNERS
