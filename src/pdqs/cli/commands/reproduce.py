"""pdqs reproduce"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pdqs.cli.endings import STOPPED
from pdqs.cli.extras import require
from pdqs.model.errors import InputError

if TYPE_CHECKING:
    from pdqs.experiments.runner import Report


def run(
    out: Annotated[Path, typer.Option(help="Where results, figures and the report go.")] = Path("reproduction"),
    quick: Annotated[bool, typer.Option("--quick", help="Two populations, three budgets, 20 queries.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Decides every random number.")] = 20240,
    processes: Annotated[int, typer.Option(min=1, help="How many to run at once; the results are the same.")] = 2,
    without_npqm: Annotated[
        bool, typer.Option("--without-npqm", help="Leave out NPQM, which must be trained; add it by running again.")
    ] = False,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Draw and judge the results that are there already.")
    ] = False,
) -> None:
    """Regenerate every experiment of the paper, with the sound mechanisms beside it.

    Stop it whenever you like: the next run with the same options goes on where this one stopped.
    """
    require("pyarrow", "matplotlib", *(() if without_npqm or report_only else ("jax", "optax")))
    from pdqs.experiments import promises, report, results, runner, setups, store

    plan = setups.quick_plan(seed) if quick else setups.full_plan(seed)
    if report_only and not store.Store(out).results_path.exists():
        raise InputError(f"{out} holds no results.parquet to report on")
    if not report_only:
        try:
            with _progress() as told:
                runner.run(plan, out, processes=processes, learned=not without_npqm, report=told)
            if not quick:
                promises.measure(plan, store.Store(out))
        except KeyboardInterrupt:
            typer.echo(f"pdqs: stopped: the same command goes on with what is in {out}", err=True)
            raise typer.Exit(STOPPED) from None
    command = "pdqs reproduce" + (" --quick" if quick else "") + f" --seed {seed}"
    page = report.write(results.read(store.Store(out).results_path, plan), out, command=command)
    typer.echo(f"report: {page}")


class _progress:  # noqa: N801  a context manager that reads like a function
    """A bar with the time left on a terminal; elsewhere a line now and then."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._console = Console(stderr=True)
        self._bar = Progress(
            BarColumn(), TextColumn("{task.percentage:3.0f}%"), TimeElapsedColumn(), TextColumn("left"),
            TimeRemainingColumn(), TextColumn("{task.description}"), console=self._console,
        )  # fmt: skip
        self._task = self._bar.add_task("starting", total=None)
        self._began = self._said = time.monotonic()

    def __enter__(self) -> Report:
        if self._console.is_terminal:
            self._bar.start()
        return self._tell

    def __exit__(self, *fault: object) -> None:
        self._bar.stop()

    def _tell(self, name: str, done: float, total: float) -> None:
        self._bar.update(self._task, completed=done, total=total, description=name)
        now = time.monotonic()
        if not self._console.is_terminal and (now - self._said > 15 or done >= total):
            left = (now - self._began) * (total - done) / done
            self._console.print(f"{done / total:4.0%} done, about {left:,.0f} s left ({name})", highlight=False)
            self._said = now
