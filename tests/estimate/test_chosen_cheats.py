"""Cheats who are all asked about neighbouring values: the interval for a dishonest share holds against them too."""

from __future__ import annotations

import dataclasses

import numpy as np

import pdqs
from pdqs.estimate import narrowed

OWNERS, SHARE, ROUNDS = 1000, 0.05, 20


def attacked(rng: np.random.Generator) -> tuple[pdqs.Answer, int]:
    """A median on a flat stretch; of the sides asked about at or above it the nearest all say "more"."""
    values = np.concatenate([rng.integers(0, 41, 300), np.full(220, 50), rng.integers(90, 101, 480)])
    query = pdqs.Median(pdqs.Domain.grid(0, 100, 1))
    terms = pdqs.presets.sound(query=query, budget=0.5 * OWNERS, question="side")
    offers = pdqs.clear(rng.random(OWNERS), terms, draws=rng)
    reports = pdqs.randomise(values, offers, rng)
    for stage in range(2, terms.asking.stages + 1):
        offers = narrowed(offers, reports, terms, stage)
        reports = reports.joined(pdqs.randomise(values, offers, rng, stage=stage))
    weight = np.where(reports.arrived, offers.q**2, 0.0)
    above = np.flatnonzero((weight > 0) & (offers.side >= 50))
    above = above[np.argsort(offers.side[above], kind="stable")]
    chosen = above[np.cumsum(weight[above]) <= SHARE * weight.sum()]
    codes = reports.codes.copy()
    codes[chosen] = 0
    return pdqs.answer(dataclasses.replace(reports, codes=codes), offers, terms), 50


def test_a_share_of_cheats_around_the_median_is_allowed_for() -> None:
    """False alarm: under 3 in 1,000, were the interval to hold in 95 rounds of 100 only. Control: the plain interval,
    which allows for nobody, is deceived in most rounds."""
    rng = np.random.default_rng(50)
    held = plain = 0
    for _ in range(ROUNDS):
        answer, median = attacked(rng)
        low, high = answer.interval_if_dishonest(SHARE)
        held += bool(low <= median <= high)
        plain += bool(answer.interval[0] <= median <= answer.interval[1])
    assert held >= 16
    assert plain <= ROUNDS // 2
