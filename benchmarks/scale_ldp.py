"""Randomise and estimate at one eps: pdqs beside OpenDP, diffprivlib, pure-ldp and multi-freq-ldpy, in one process.

Each contender is a function from values to estimated shares, timed by the processor time it takes: all of them compute
in one thread, and on a shared machine the clock measures the neighbours. A library that works value by value in Python
is run on fewer owners and its time taken in proportion; the table says so. What is not installed is noted and left out.
"""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import pdqs
from pdqs.privacy.loss import q_of_epsilon
from pdqs.rounds.offers import make_offers

EPSILON = 2.0
Shares = np.ndarray


@dataclass(frozen=True)
class Contender:
    """Who, with what call, on at most how many owners, and the function that makes one run ready."""

    name: str
    call: str
    most_owners: int
    ready: Callable[[int, int], Callable[[np.ndarray], Shares]]


def ours(k: int, n: int) -> Callable[[np.ndarray], Shares]:
    """pdqs.randomise and pdqs.answer, with the interval and the check for correlation that an answer has."""
    domain = pdqs.Domain.grid(0, k - 1, 1)
    terms = pdqs.presets.sound(query=pdqs.Histogram(domain), budget=1.0)
    offers = make_offers(np.zeros(n), q_of_epsilon(np.full(n, EPSILON), k), np.zeros(n), terms.asking, 0)
    rng = np.random.default_rng(1)

    def run(values: np.ndarray) -> Shares:
        found = pdqs.answer(pdqs.randomise(values, offers, rng), offers, terms)
        return np.asarray(found.raw) / n

    return run


def opendp_batch(k: int, n: int) -> Callable[[np.ndarray], Shares]:
    """One call on a vector of bits: a bit an owner at k = 2, else her value as k bits, two of which may differ."""
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    width, loss = (1, EPSILON) if k == 2 else (k, EPSILON / 2)
    f = 2.0 / (1.0 + float(np.exp(loss)))
    mechanism = dp.m.make_randomized_response_bitvec(
        dp.bitvector_domain(max_weight=n), dp.discrete_distance(), f=f, constant_time=False
    )

    def run(values: np.ndarray) -> Shares:
        bits = values[:, None] == (np.arange(k) if k > 2 else np.array([1]))
        noisy = np.unpackbits(np.frombuffer(mechanism(np.packbits(bits).tobytes()), dtype=np.uint8))
        shares = (noisy[: n * width].reshape(n, width).mean(axis=0) - f / 2) / (1 - f)
        return shares if k > 2 else np.array([1 - shares[0], shares[0]])

    return run


def opendp_one_by_one(k: int, _: int) -> Callable[[np.ndarray], Shares]:
    """make_randomized_response, called for every owner."""
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    truth = float(np.exp(EPSILON) / (np.exp(EPSILON) + k - 1))
    mechanism = dp.m.make_randomized_response(list(range(k)), truth)
    return lambda values: _debiased(np.array([mechanism(int(value)) for value in values]), k, truth)


def diffprivlib_binary(k: int, _: int) -> Callable[[np.ndarray], Shares]:
    """mechanisms.Binary for every owner; the library has no randomised response on more than two values."""
    if k > 2:
        raise ImportError("diffprivlib has no randomised response on more than two values")
    mechanism = importlib.import_module("diffprivlib.mechanisms").Binary(epsilon=EPSILON, value0="0", value1="1")
    truth = float(np.exp(EPSILON) / (np.exp(EPSILON) + 1))

    def run(values: np.ndarray) -> Shares:
        return _debiased(np.array([int(mechanism.randomise("1" if v else "0")) for v in values]), 2, truth)

    return run


def pure_ldp(k: int, _: int) -> Callable[[np.ndarray], Shares]:
    """Direct encoding: DEClient.privatise and DEServer.aggregate for every owner."""
    module = importlib.import_module("pure_ldp.frequency_oracles.direct_encoding")

    def run(values: np.ndarray) -> Shares:
        # Its values are numbered from 1.
        client, server = module.DEClient(EPSILON, k), module.DEServer(EPSILON, k)
        for value in values:
            server.aggregate(client.privatise(int(value) + 1))
        return np.array([server.estimate(v + 1, suppress_warnings=True) for v in range(k)]) / values.size

    return run


def multi_freq_ldpy(k: int, _: int) -> Callable[[np.ndarray], Shares]:
    """GRR_Client (compiled by numba) for every owner, GRR_Aggregator_MI for all."""
    module = importlib.import_module("multi_freq_ldpy.pure_frequency_oracles.GRR")
    module.GRR_Client(0, k, EPSILON)  # compile it before the clock runs

    def run(values: np.ndarray) -> Shares:
        reports = [module.GRR_Client(value, k, EPSILON) for value in values]
        return np.asarray(module.GRR_Aggregator_MI(reports, k, EPSILON))

    return run


def _debiased(reports: np.ndarray, k: int, truth: float) -> Shares:
    other = (1 - truth) / (k - 1)
    return (np.bincount(reports, minlength=k) / reports.size - other) / (truth - other)


CONTENDERS = (
    Contender("pdqs", "randomise + answer", 10**9, ours),
    Contender("OpenDP", "make_randomized_response_bitvec, one batch", 10**9, opendp_batch),
    Contender("OpenDP", "make_randomized_response, each owner", 10_000, opendp_one_by_one),
    Contender("diffprivlib", "Binary.randomise, each owner", 100_000, diffprivlib_binary),
    Contender("pure-ldp", "DEClient + DEServer, each owner", 100_000, pure_ldp),
    Contender("multi-freq-ldpy", "GRR_Client + GRR_Aggregator_MI, each owner", 100_000, multi_freq_ldpy),
)


def compare(n: int, k: int, repeats: int) -> list[dict[str, Any]]:
    """Every contender in turn, ``repeats`` times over; the middle of each one's times, and their ratio to ours.

    A first turn is not counted: in it code is loaded and memory touched for the first time.
    """
    values = np.random.default_rng(3).binomial(k - 1, 0.3, n)
    rows: list[dict[str, Any]] = []
    runs: list[tuple[dict[str, Any], np.ndarray, Callable[[np.ndarray], Shares]]] = []
    for contender in CONTENDERS:
        taken = values[: min(n, contender.most_owners if k == 2 or contender.call.endswith("owner") else n // 20)]
        taken = values if contender.name == "pdqs" else taken
        row: dict[str, Any] = {"who": contender.name, "call": contender.call, "k": k, "owners_run": int(taken.size)}
        rows.append(row)
        try:
            runs.append((row, taken, contender.ready(k, taken.size)))
        except ImportError as missing:
            row["skipped"] = str(missing)
    times: dict[int, list[float]] = {id(row): [] for row, _, _ in runs}
    for turn in range(1 + repeats):
        for row, taken, run in runs:
            started = time.process_time()
            shares = run(taken)
            spent = (time.process_time() - started) * n / taken.size
            times[id(row)] += [spent] if turn else []
            truth = np.bincount(taken, minlength=k) / taken.size
            row["worst_error_of_a_share"] = float(np.abs(shares - truth).max())
    base = statistics.median(times[id(runs[0][0])])
    for row, _, _ in runs:
        row["seconds_for_all"] = statistics.median(times[id(row)])
        row["times_ours"] = row["seconds_for_all"] / base
    return rows
