"""The core's speed against plain NumPy on the same arrays, in the same run."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

import pdqs

MILLION = 1_000_000


@pytest.mark.benchmark(group="clear")
def test_clearing_ten_million_bids_takes_at_most_four_sorts_of_them(benchmark, ratio):
    bids = np.random.default_rng(1).random(10 * MILLION)
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=2.0 * MILLION)
    pdqs.clear(bids[:100_000], terms)  # tables, threads and caches warm
    found = ratio("clear 10 million bids / np.sort of them", lambda: pdqs.clear(bids, terms), lambda: np.sort(bids), 5)
    benchmark.pedantic(lambda: pdqs.clear(bids, terms), rounds=1)
    assert found <= 4.0


MEMORY = """
import resource, numpy as np, pdqs
bids = np.random.default_rng(1).random(10_000_000)
pdqs.clear(bids, pdqs.presets.sound(query=pdqs.Count(), budget=2e6))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.benchmark(group="memory")
def test_clearing_ten_million_bids_stays_under_one_and_a_half_gigabytes(benchmark, capsys):
    run = benchmark.pedantic(
        lambda: subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True), rounds=1
    )
    peak_gb = int(run.stdout) / 2**20  # Linux counts in kilobytes
    with capsys.disabled():
        print(f"\npeak memory of clearing 10 million bids: {peak_gb:.2f} GB")
    assert peak_gb < 1.5


@pytest.mark.benchmark(group="randomise")
@pytest.mark.parametrize("k", [2, 48])
def test_a_million_secure_reports_take_at_most_three_plain_numpy_ones(benchmark, ratio, k):
    rng = np.random.default_rng(2)
    domain = pdqs.Domain.grid(1, k, 1)
    terms = pdqs.presets.sound(query=pdqs.Median(domain), budget=0.3 * MILLION)
    offers = pdqs.clear(rng.random(MILLION), terms)
    codes = rng.integers(0, k, MILLION)
    numerators = pdqs.privacy.randomiser.q_numerators(offers.q)

    def secure():
        return pdqs.privacy.randomiser.draw_reports(codes, numerators, k, pdqs.SystemEntropy())

    def plain():
        return np.where(rng.random(MILLION) < offers.q, codes, rng.integers(0, k, MILLION))

    found = ratio(f"a million secure reports / plain NumPy, k = {k}", secure, plain, 7)
    benchmark.pedantic(secure, rounds=3)
    assert found <= 3.0


IMPORT = "import time; start = time.perf_counter(); import pdqs; print(time.perf_counter() - start)"


@pytest.mark.benchmark(group="import")
def test_importing_pdqs_costs_little_more_than_importing_numpy(benchmark, capsys):
    def seconds(code: str) -> float:
        runs = [
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)
        ]
        return min(float(run.stdout) for run in runs)

    ours, numpys = seconds(IMPORT), seconds(IMPORT.replace("import pdqs", "import numpy"))
    benchmark.pedantic(lambda: seconds(IMPORT), rounds=1)
    with capsys.disabled():
        print(f"\nimport pdqs: {ours:.3f} s, {ours / numpys:.2f} times import numpy")
    assert ours < 0.3


@pytest.mark.benchmark(group="import")
def test_the_list_of_commands_is_there_at_once(benchmark, capsys):
    """The whole process, from starting Python to its end."""

    def seconds(*words: str) -> float:
        runs = []
        for _ in range(5):
            start = time.perf_counter()
            subprocess.run([sys.executable, *words], capture_output=True, check=True)
            runs.append(time.perf_counter() - start)
        return min(runs)

    ours, bare = seconds("-m", "pdqs", "--help"), seconds("-c", "import numpy")
    benchmark.pedantic(lambda: seconds("-m", "pdqs", "--help"), rounds=1)
    with capsys.disabled():
        print(f"\npdqs --help: {ours:.3f} s, {ours / bare:.2f} times a Python that imports numpy")
    assert ours < 0.4
