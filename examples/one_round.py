"""One round of private data trading, party by party: how many of these people were ill last year?

Run it: python examples/one_round.py
"""

from __future__ import annotations

import numpy as np

import pdqs

rng = np.random.default_rng(2026)

# What nobody but each owner knows: her true answer, and what a unit of her privacy is worth to her.
ill = rng.random(2_000) < 0.3
prices = rng.random(2_000)

# The consumer says what she wants to know and what she can pay. Before anyone bids, she asks what that will buy.
terms = pdqs.Terms(query=pdqs.Count("Were you ill last year?"), budget=500.0)
print(pdqs.plan(terms, owners=2_000), end="\n\n")

# Owners bid. The mechanism is truthful, so the best bid is the true price. A public draw, which no bid can move, says
# who is asked; dearer owners are asked less often, and stand for more of their like.
offers = pdqs.clear(prices, terms, draws=rng)
print(offers, end="\n\n")

# The device of each owner who is asked randomises her answer at the q of her offer: the broker sees reports only.
reports = pdqs.randomise(ill, offers, rng)

# The consumer gets an answer with an interval; owners get their money.
answer = pdqs.answer(reports, offers, terms)
print(answer, end="\n\n")
print(pdqs.settle(offers, reports, terms), end="\n\n")

low, high = answer.interval
print(f"The truth, which only a simulation can tell: {ill.sum()}; inside the interval: {low <= ill.sum() <= high}")
