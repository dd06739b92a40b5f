"""A cluster gives what one process gives, to the last bit, even when a worker dies at work."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pdqs
from pdqs.clearing import summarise
from pdqs.model.errors import FileError, InputError
from pdqs.scale import Run, open_source
from pdqs.scale.cluster import Dask, connected, merge_all
from pdqs.scale.fingerprints import fingerprint
from pdqs.scale.kernels import CountBids, DrawnRows, Names
from pdqs.scale.worker_retry import ClusterError, Task, refuse_failed, wait_out

from . import test_questions as questions
from .markets import assert_same_answer, assert_same_round, in_memory, lottery_for, market, save, terms_for


@pytest.fixture(scope="module")
def dask() -> Iterator[Dask]:
    """Two workers in processes of their own, on this machine."""
    with connected("local") as engine:
        yield engine


@pytest.fixture
def table(rng: np.random.Generator) -> pa.Table:
    return market(4_000, rng, ties=True)


@pytest.fixture
def rows(tmp_path: Path, table: pa.Table) -> Path:
    return save(table, tmp_path / "rows", groups=[[500, 0, 700], [], [1] * 10, [290, 2_500]])


def test_a_cluster_trades_and_answers_as_in_memory(dask: Dask, tmp_path: Path, table: pa.Table, rows: Path) -> None:
    terms = terms_for(4_000)
    run = Run(engine=dask, piece_rows=100)
    done = run.trade(rows, terms, tmp_path / "round", seed=8)
    expected = in_memory(table, terms, 8)
    assert_same_round(tmp_path / "round", table, expected)
    assert_same_answer(done.answer, expected.answer)
    assert_same_answer(run.answer(tmp_path / "round", terms), expected.answer)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["round", "rows"]


def test_a_cluster_breaks_ties_as_in_memory(dask: Dask, tmp_path: Path, rng: np.random.Generator) -> None:
    owners, terms = market(70_000, rng, ties=True), terms_for(70_000)
    spread = save(owners, tmp_path / "spread", groups=[[30_000, 0], [40_000]])
    Run(engine=dask, piece_rows=9_000).trade(spread, terms, tmp_path / "round", seed=8)
    expected = in_memory(owners, terms, 8)
    assert_same_round(tmp_path / "round", owners, expected)
    assert expected.offers.spent > 0.9 * terms.budget


@pytest.mark.parametrize("preset", questions.PRESETS, ids=lambda preset: preset.__name__)
@pytest.mark.parametrize("query", questions.QUERIES, ids=lambda query: query.kind)
def test_a_cluster_asks_every_question_as_in_memory(dask: Dask, tmp_path: Path, query: pdqs.Mean, preset: Any) -> None:
    """Levels, sides in stages and buckets: offers, questions, reports and the answer."""
    rng = np.random.default_rng(4)
    owners = market(questions.OWNERS, rng)
    owners = owners.set_column(2, "value", pa.array(rng.binomial(40, 0.4, questions.OWNERS).astype(np.int64)))
    spread = save(owners, tmp_path / "spread", groups=[[100, 150], [0], [200, 149, 1]])
    terms = preset(query=query, budget=0.4 * questions.OWNERS, epsilon_max=2.0)
    assert not terms.asking.whole
    expected = questions.in_memory(owners, terms)
    run = Run(engine=dask, piece_rows=150)
    done = run.trade(spread, terms, tmp_path / "round", seed=questions.SEED)
    assert_same_round(tmp_path / "round", owners, expected)
    assert_same_answer(done.answer, expected.answer)
    assert done.answer.stages == expected.answer.stages


@pytest.mark.parametrize("n", [4_000, 70_000], ids=["exact", "binned"])
def test_a_cluster_draws_by_lot_as_in_memory(dask: Dask, tmp_path: Path, rng: np.random.Generator, n: int) -> None:
    """Default terms: draws, chances, reports of the asked and an answer by strata."""
    owners = market(n, rng)
    spread = save(owners, tmp_path / "spread", groups=[[n // 4, 0, n // 4], [1] * 10, [n - 2 * (n // 4) - 10]])
    terms = lottery_for(n)
    run = Run(engine=dask, piece_rows=n // 8)
    done = run.trade(spread, terms, tmp_path / "round", seed=8)
    expected = in_memory(owners, terms, 8)
    assert_same_round(tmp_path / "round", owners, expected)
    assert_same_answer(done.answer, expected.answer)
    assert_same_answer(run.answer(tmp_path / "round", terms), expected.answer)


def test_a_cluster_writes_the_same_bytes_as_one_process(dask: Dask, tmp_path: Path, rows: Path) -> None:
    alone = Run(piece_rows=300).clear(rows, terms_for(4_000), tmp_path / "alone")
    spread = Run(engine=dask, piece_rows=300).clear(rows, terms_for(4_000), tmp_path / "spread")
    assert spread == alone
    parts = sorted(path.name for path in (tmp_path / "alone").iterdir())
    assert parts == sorted(path.name for path in (tmp_path / "spread").iterdir())
    assert all((tmp_path / "alone" / part).read_bytes() == (tmp_path / "spread" / part).read_bytes() for part in parts)


@pytest.mark.parametrize("at", ["counting bids", "trading"])
def test_a_worker_killed_at_work_changes_nothing(dask: Dask, tmp_path: Path, table: pa.Table, at: str) -> None:
    """The kill falls on the first of 80 pieces to be done, so the dead worker held results and had others at work."""
    many = save(table, tmp_path / "many", groups=[[50] * 80])
    dask.client.wait_for_workers(2, timeout=120)
    victim = next(iter(dask.client.run(os.getpid).values()))
    killed: list[int] = []

    def kill_one(stage: str, done: int, rows: int) -> None:
        if stage == at and 0 < done < rows and not killed:
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    terms = terms_for(4_000)
    done = Run(engine=dask, piece_rows=50, progress=kill_one).trade(many, terms, tmp_path / "round", seed=8)
    assert killed, "the worker was killed while there was work left"
    expected = in_memory(table, terms, 8)
    assert_same_round(tmp_path / "round", table, expected)
    assert_same_answer(done.answer, expected.answer)


def test_a_bad_row_on_a_cluster_is_named_and_leaves_nothing(
    dask: Dask, tmp_path: Path, table: pa.Table, rows: Path
) -> None:
    bad = table.slice(0, 2).set_column(2, "value", pa.array([1, 7]))
    pq.write_table(bad, rows / "rows-9999.parquet")
    with pytest.raises(InputError, match="row 4002, column 'value': 7 is not in the domain"):
        Run(engine=dask, piece_rows=100).trade(rows, terms_for(4_002), tmp_path / "round", seed=8)
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def test_a_rule_given_as_an_object_travels(dask: Dask, tmp_path: Path, table: pa.Table, rows: Path) -> None:
    terms = terms_for(4_000, rule=pdqs.rules.Exponential(2.0))
    Run(engine=dask).clear(rows, terms, tmp_path / "offers")
    expected = pdqs.clear(np.asarray(table["bid"]), terms).q
    assert (np.asarray(pq.read_table(tmp_path / "offers")["q"]) == expected).all()


def counted(found: Any) -> int:
    return int(found.owners)


def test_a_worker_that_computes_other_figures_is_refused(rows: Path) -> None:
    kernel = CountBids(rows=DrawnRows(terms=terms_for(4_000), names=Names(), key=1))
    piece = open_source(rows, needs=["bid"]).pieces[0]
    assert counted(Task(kernel, fingerprint())(piece)) == piece.rows
    with pytest.raises(ClusterError, match="other figures"):
        Task(kernel, "of another machine")(piece)


class Deserted:
    """The client of a cluster whose workers are gone, for good or for one look; ``submit`` gives what never comes."""

    def __init__(self, looks: list[dict[str, int]]) -> None:
        self.looks = looks

    def submit(self, *_: Any, **__: Any) -> Lost:
        return Lost("finished")

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        assert n_workers == 1
        return {"workers": self.looks.pop(0)}


@pytest.mark.parametrize("looks", [[{}, {}], [{}, {"a worker": 1}, {}, {}]], ids=["gone", "back for a while"])
def test_a_cluster_whose_workers_are_gone_is_given_up_in_words(
    rows: Path, monkeypatch: pytest.MonkeyPatch, looks: list[dict[str, int]]
) -> None:
    def never(future: Lost, timeout: float) -> None:
        raise TimeoutError(f"{future.status} after {timeout}")

    monkeypatch.setattr("distributed.wait", never)
    kernel = CountBids(rows=DrawnRows(terms=terms_for(4_000), names=Names(), key=1))
    pieces = open_source(rows, needs=["bid"]).pieces
    with pytest.raises(ClusterError, match="no worker of the cluster is left"):
        Dask(Deserted(looks)).reduce(kernel, pieces, lambda piece: None)  # noqa: ARG005
    assert looks == []


class Lost:
    """A task done at the first waiting, whose worker dies before anybody looks, and that is done again at the third."""

    def __init__(self, end: str) -> None:
        self.status, self.waits, self.end = "pending", 0, end

    def wait(self, future: Any) -> None:
        assert future is self
        self.waits += 1
        self.status = "lost" if self.waits < 3 else self.end

    def exception(self) -> None: ...

    def result(self) -> None: ...

    def release(self) -> None: ...


@pytest.mark.parametrize("end", ["finished", "cancelled"])
def test_a_result_lost_with_its_worker_is_waited_for_again(end: str) -> None:
    task = Lost(end)
    wait_out(task, task.wait)
    assert (task.status, task.waits) == (end, 3)
    if end == "finished":
        refuse_failed(task, ClusterError)
    else:
        with pytest.raises(ClusterError, match="gave up a task: cancelled"):
            refuse_failed(task, ClusterError)


def test_a_store_that_fails_for_a_moment_is_tried_again(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # noqa: ARG005
    kernel = CountBids(rows=DrawnRows(terms=terms_for(4_000), names=Names(), key=1))
    piece = open_source(rows, needs=["bid"]).pieces[0]
    failures = [FileError("gone for a moment")] * 2

    def unsteady(piece: Any, threads: Any) -> Any:  # a kernel with a fault put in
        if failures:
            raise failures.pop()
        return kernel(piece, threads)

    assert counted(Task(unsteady, fingerprint())(piece)) == piece.rows
    failures.extend([FileError("gone for good")] * 3)
    with pytest.raises(FileError, match="gone for good"):
        Task(unsteady, fingerprint())(piece)


def test_sums_merge_as_a_tree_to_what_they_are_in_one(rng: np.random.Generator) -> None:
    bids = rng.random(70_000)
    words = rng.integers(0, 2**32, bids.size, dtype=np.uint32)
    split = zip(np.array_split(bids, 37), np.array_split(words, 37), strict=True)
    parts = [summarise(some, theirs, 0.0, 1.0) for some, theirs in split]
    whole, merged = summarise(bids, words, 0.0, 1.0), merge_all([merge_all(parts[:20]), merge_all(parts[20:])])
    assert whole.cells is not None
    assert merged.cells is not None
    assert np.array_equal(merged.cells, whole.cells)


def test_a_scheduler_that_is_not_there_is_said() -> None:
    with (
        pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"),
        connected("tcp://127.0.0.1:9", wait_seconds=0.3),
    ):
        pass
