"""The table of docs/scale.md by one command: clearing and randomise + estimate, side by side in one run, as ratios.

    python benchmarks/bench_scale.py --out docs/results/scale

Peers that are not installed are noted and left out. To have them all, run this in an environment of its own::

    python -m venv peers
    peers/bin/pip install -e '.[scale]' matplotlib duckdb polars opendp diffprivlib 'scikit-learn<1.6' \
        pure-ldp statsmodels multi-freq-ldpy
    peers/bin/python benchmarks/bench_scale.py --out docs/results/scale

The ways take turns, so that a busy machine slows all of them; each figure is the median of the turns. Measurements are
kept in measurements.jsonl as they are taken: remove it to measure anew.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import scale_growth
import scale_ldp
from scale_clearing import WAYS
from scale_growth import Kept

PACKAGES = (
    "numpy",
    "pyarrow",
    "distributed",
    "duckdb",
    "polars",
    "opendp",
    "diffprivlib",
    "pure-ldp",
    "multi-freq-ldpy",
)


def clearing(rows: int, seed: int, repeats: int, kept: Kept) -> list[dict[str, Any]]:
    """Every way of clearing one market, in turns; ratios to the in-memory time."""
    with tempfile.TemporaryDirectory(prefix="pdqs-bench-") as place:
        scale_growth.make_market(Path(place), rows, seed)
        runs: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
        for turn in range(repeats):
            for way in WAYS:
                what = ("clearing", rows, seed, turn, way)
                runs[way].append(kept.taken(what, lambda way=way: scale_growth.timed(way, Path(place))))
    found = []
    base = runs["in_memory"]
    for way, turns in runs.items():
        row: dict[str, Any] = {"way": way, "what": (WAYS[way].__doc__ or "").rstrip(".")}
        if "skipped" in turns[0]:
            row["skipped"] = turns[0]["skipped"]
        else:
            row["seconds"] = statistics.median(run["seconds"] for run in turns)
            row["times_in_memory"], row["processor_times_in_memory"] = (
                statistics.median(run[key] / alone[key] for run, alone in zip(turns, base, strict=True))
                for key in ("seconds", "cpu_seconds")
            )
            row["most_memory_mb"] = max(run["most_memory_mb"] for run in turns)
        found.append(row)
    return found


def table(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    lines = [
        f"`{report['command']}`, seed {report['seed']}, {report['machine']}.",
        "",
        f"**Clearing {report['clearing_rows']:,} bids** (median of {report['repeats']} turns; ratio to pdqs in memory)",
        "",
        "| way | ratio by the clock | ratio of processor time | seconds | most memory, MB |",
        "|---|---|---|---|---|",
    ]
    for row in report["clearing"]:
        figures = (
            f"left out: {row['skipped']} | | |"
            if "skipped" in row
            else f"{row['times_in_memory']:.2f} | {_processor(row)} | {row['seconds']:.1f} | {_memory(row)}"
        )
        lines.append(f"| {row['what']} | {figures} |")
    lines += [
        "",
        f"**Randomise and estimate {report['ldp_owners']:,} owners at eps = {scale_ldp.EPSILON:g}**"
        " (processor time after one uncounted turn, ratio to pdqs)",
        "",
        "| k | who | call | ratio | worst error of a share | owners run |",
        "|---|---|---|---|---|---|",
    ]
    for row in report["ldp"]:
        figures = (
            f"left out: {row['skipped']} | |"
            if "skipped" in row
            else f"{row['times_ours']:.1f} | {row['worst_error_of_a_share']:.4f} | {row['owners_run']:,}"
        )
        lines.append(f"| {row['k']} | {row['who']} | {row['call']} | {figures} |")
    if report.get("growth"):
        lines += [
            "",
            f"**Growth**: time goes as n to the {report['exponent_cpu']:.3f} by processor time,"
            f" {report['exponent_clock']:.3f} by the clock, over n of at least {report['fitted_from']:,} (growth.png)."
            f" Between neighbouring sizes it is never steeper than n to the {report['steepest_cpu']:.3f} by processor"
            f" time, {report['steepest_clock']:.3f} by the clock.",
        ]
    lines += ["", "Versions: " + ", ".join(f"{name} {found}" for name, found in report["versions"].items()) + "."]
    return "\n".join(lines) + "\n"


def _memory(row: dict[str, Any]) -> str:
    return "in the workers" if row["way"] == "dask_local" else f"{row['most_memory_mb']:,.0f}"


def _processor(row: dict[str, Any]) -> str:
    return "in the workers" if row["way"] == "dask_local" else f"{row['processor_times_in_memory']:.2f}"


def versions() -> dict[str, str]:
    """What is installed of the packages compared."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def main() -> None:
    """Measure, then write results.json, table.md and growth.png."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--rows", type=int, default=20_000_000, help="bids to clear")
    parser.add_argument("--owners", type=int, default=1_000_000, help="owners to randomise")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--growth-to", type=int, default=8, help="largest power of ten; below 4 for no growth curve")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    kept = Kept(chosen.out / "measurements.jsonl")
    report: dict[str, Any] = {
        "command": " ".join(["python", *sys.argv]),
        "seed": chosen.seed,
        "machine": f"{platform.machine()}, {len(scale_growth_cores())} cores",
        "versions": versions(),
        "repeats": chosen.repeats,
        "ldp_owners": chosen.owners,
        "clearing_rows": chosen.rows,
        "ldp": [
            row
            for k in (2, 64)
            for row in kept.taken(
                ("ldp", chosen.owners, k, chosen.repeats),
                lambda k=k: scale_ldp.compare(chosen.owners, k, chosen.repeats),
            )
        ],
        "clearing": clearing(chosen.rows, chosen.seed, chosen.repeats, kept),
    }
    if chosen.growth_to >= 4:
        least = 10**6 if chosen.growth_to >= 7 else 10**3
        report["growth"] = scale_growth.measure([10**p for p in range(3, chosen.growth_to + 1)], chosen.seed, 3, kept)
        report["fitted_from"] = least
        report["exponent_cpu"] = scale_growth.exponent(report["growth"], "cpu_seconds", least)
        report["exponent_clock"] = scale_growth.exponent(report["growth"], "seconds", least)
        report["steepest_cpu"] = scale_growth.steepest(report["growth"], "cpu_seconds")
        report["steepest_clock"] = scale_growth.steepest(report["growth"], "seconds")
        scale_growth.draw(report["growth"], least, chosen.out / "growth.png")
    (chosen.out / "results.json").write_text(json.dumps(report, indent=2) + "\n")
    (chosen.out / "table.md").write_text(table(report))
    print(table(report))


def scale_growth_cores() -> list[int]:
    """The cores this process may use."""
    import os

    return sorted(os.sched_getaffinity(0))


if __name__ == "__main__":
    main()
