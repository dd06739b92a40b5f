"""Every picture of the documentation that pdqs draws, by one command: ``make figures``.

The pictures of the market's pages are taken by the browser tests, which the same target runs where there is a browser.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import tempfile
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np

import pdqs
from pdqs.cli import main as command
from pdqs.present import figures

SEED = 7
OWNERS = 2000
HABITS = ("never", "once a month", "once a week", "more often", "every day")


def rounds() -> dict[str, pdqs.Trade]:
    """One round of each query, on made-up owners."""
    rng = np.random.default_rng(SEED)
    bids = rng.random(OWNERS)
    years = np.clip(np.rint(rng.normal(36, 11, OWNERS)), 14, 80)
    ages = pdqs.Domain.grid(14, 80, 1)
    cycling = [HABITS[code] for code in rng.choice(5, OWNERS, p=[0.4, 0.3, 0.15, 0.1, 0.05])]
    ill = rng.random(OWNERS) < 0.3
    asked: dict[str, tuple[object, pdqs.Terms]] = {
        "count": (ill, pdqs.presets.honest(query=pdqs.Count("Have you been ill this winter?"), budget=600.0)),
        "mean": (years, pdqs.presets.sound(query=pdqs.Mean(ages, "How old are you?"), budget=600.0)),
        "median": (years, pdqs.presets.sound(query=pdqs.Median(ages, "How old are you?"), budget=600.0)),
        "histogram": (
            cycling,
            pdqs.presets.honest(
                query=pdqs.Histogram(pdqs.Domain.categories(HABITS), "How often do you cycle?"), budget=600.0
            ),
        ),
    }
    return {name: pdqs.trade(values, bids, terms, rng) for name, (values, terms) in asked.items()}  # type: ignore[arg-type]


def draw_all(out: Path) -> list[Path]:
    """Draw them into a folder, over what is there."""
    done = rounds()
    drawn = {f"answer-{name}.png": one.answer.figure() for name, one in done.items()}
    drawn["round.png"] = figures.trade_figure(done["count"])
    drawn["plan.png"] = pdqs.plan(done["count"].terms, owners=OWNERS).curve().figure()
    for name, figure in drawn.items():
        figures.save(figure, out / name)
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.redirect_stdout(io.StringIO()):
            command(["demo", "--out", folder, "--json"])
        (out / "demo.png").write_bytes((Path(folder) / "demo.png").read_bytes())
    return [*(out / name for name in drawn), out / "demo.png"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    for path in draw_all(parser.parse_args().out):
        print(f"wrote {path}")
