"""When those with something to hide ask for more.

The sound preset buys from the cheapest owners, who here are the healthy ones: it is wrong and cannot know it. The
honest preset, which is the default, asks owners of every price by lot: its interval holds the truth, and it shows what
cheap and dear owners say. The robust preset holds too, and is far wider.

Run it: python examples/correlated_bids.py
"""

from __future__ import annotations

import numpy as np

import pdqs

rng = np.random.default_rng(7)
owners = 20_000
ill = rng.random(owners) < 0.3
prices = np.clip(rng.random(owners) * 0.7 + 0.3 * ill, 0.0, 1.0)  # the ill ask for more

query = pdqs.Count("Were you ill last year?")
for name, terms in {
    "honest": pdqs.presets.honest(query=query, budget=5_000.0),
    "sound": pdqs.presets.sound(query=query, budget=5_000.0),
    "robust": pdqs.presets.robust(query=query, budget=5_000.0),
}.items():
    answer = pdqs.trade(ill, prices, terms, rng).answer
    low, high = answer.interval
    print(f"{name}: {answer.value:,.0f} ({low:,.0f} to {high:,.0f}), and the truth is {ill.sum():,}")
    for band in answer.by_price:
        print(f"  asking {band.low:.2f} to {band.high:.2f}: {max(band.value, 0.0):.0%} were ill")
    for warning in answer.warnings:
        print(f"  ! {warning}")
