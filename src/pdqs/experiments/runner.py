"""Run a plan on every core, stop at any moment, and go on from there.

What is run depends on nothing but the plan: a cell's numbers come from its own generators, a finished cell is a file
put in place at once, and a run first looks for what is finished. So a run that was killed, or ran on another number of
processes, ends with the same bytes.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import partial
from pathlib import Path
from types import FrameType

from pdqs.experiments import npqm
from pdqs.experiments.cells import run_cell
from pdqs.experiments.mechanisms import mechanism_named
from pdqs.experiments.setups import Cell, Plan
from pdqs.experiments.store import Store

Report = Callable[[str, float, float], None]
"""Told after each step: what was finished, and the work done and to do in all (about milliseconds of one core)."""

TRAINING_MILLISECONDS_PER_STEP = 12.0
_LISTEN_SECONDS = 0.5


def run(plan: Plan, directory: Path, *, processes: int, learned: bool = True, report: Report | None = None) -> int:
    """Finish every cell of the plan in the directory and put the table together; how many cells it holds.

    ``learned=False`` leaves NPQM out; running again with it on adds what is missing.
    """
    store = Store(directory)
    store.open(plan)
    with store.locked():
        wanted = [cell for cell in plan.cells() if learned or not mechanism_named(cell.mechanism).learned]
        _finish([cell for cell in wanted if not store.done(cell)], plan, store, processes, report)
        return store.assemble(plan)


def _finish(cells: list[Cell], plan: Plan, store: Store, processes: int, report: Report | None) -> None:
    """Trainings first, because cells wait for them; then cells, each as soon as it can be run."""
    waiting: dict[npqm.Task, list[Cell]] = {}
    ready: list[Cell] = []
    for cell in cells:
        task = npqm.task_of(cell, plan)
        if task is None or store.model_path(task.name).exists():
            ready.append(cell)
        else:
            waiting.setdefault(task, []).append(cell)
    if not cells:
        return
    progress = _Progress(plan, waiting, cells, report)
    context = multiprocessing.get_context("spawn")  # a fork would copy the threads' locks of what is imported here
    others = set(multiprocessing.active_children())
    pool_of = partial(ProcessPoolExecutor, mp_context=context, initializer=_start_worker)
    with _heard_interrupts() as interrupted, pool_of(processes) as pool:
        with _deaf_to_interrupts():  # the workers are started here, and Ctrl-C is for this process to hear
            running: dict[Future[None], npqm.Task | Cell] = {
                pool.submit(_train, task, plan, store.root): task for task in waiting
            }
            running |= {pool.submit(_run, cell, plan, store.root): cell for cell in ready}
        try:
            while running:
                interrupted()
                for future in wait(running, timeout=_LISTEN_SECONDS, return_when=FIRST_COMPLETED).done:
                    interrupted()  # many may be done at once, and the last of them
                    finished = running.pop(future)
                    future.result()
                    progress.step(finished)
                    if isinstance(finished, npqm.Task):
                        running |= {pool.submit(_run, cell, plan, store.root): cell for cell in waiting[finished]}
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(multiprocessing.active_children()) - others:  # none hears anything while it trains
                worker.terminate()
            raise


@contextlib.contextmanager
def _heard_interrupts() -> Iterator[Callable[[], None]]:
    """Ctrl-C raises as ever, and what is given raises it once more: one that falls into a callback of the interpreter's
    own, or to another thread, is lost otherwise, and the run goes on."""
    heard: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        signal.default_int_handler(number, frame)

    def raise_again() -> None:
        if heard:
            raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or not _is_main_thread():
        yield raise_again  # somebody else hears it
        return
    signal.signal(signal.SIGINT, hear)
    try:
        yield raise_again
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Hold back Ctrl-C until the end; processes started meanwhile never hear it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker() -> None:
    """One thread for each worker's sums, and an end to the worker when the run that started it is gone."""
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    parent = multiprocessing.parent_process()

    def leave_with_parent() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=leave_with_parent, daemon=True).start()


def _train(task: npqm.Task, plan: Plan, root: Path) -> None:
    npqm.train(task, plan, Store(root))


def _run(cell: Cell, plan: Plan, root: Path) -> None:
    store = Store(root)
    store.save_cell(cell, run_cell(cell, plan, npqm.rules_for(cell, plan, store)))


class _Progress:
    """How much is done, by what things are likely to cost."""

    def __init__(self, plan: Plan, tasks: Iterable[npqm.Task], cells: Iterable[Cell], report: Report | None) -> None:
        self._plan, self._report = plan, report
        self._done = 0.0
        self._total = sum(map(self._cost, tasks)) + sum(map(self._cost, cells))

    def _cost(self, item: npqm.Task | Cell) -> float:
        if isinstance(item, npqm.Task):
            return TRAINING_MILLISECONDS_PER_STEP * self._plan.training.steps
        return self._plan.experiment(item.experiment).queries * mechanism_named(item.mechanism).milliseconds

    def step(self, item: npqm.Task | Cell) -> None:
        self._done += self._cost(item)
        if self._report is not None:
            name = f"learned {item.name}" if isinstance(item, npqm.Task) else item.key
            self._report(name, self._done, self._total)
