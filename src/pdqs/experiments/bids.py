"""Where bids come from: the distributions of the paper's four set-ups, and bids that tell of values.

The paper maps normal draws "to (0, 1)" without saying how. Here a normal of mean 1/2 and the named sd is kept to [0, 1]
(truncated): a mapping by the least and the largest draw would make its set-ups (3) and (4) the same.
"""

from __future__ import annotations

import numpy as np

from pdqs.model.arrays import Floats, Integers
from pdqs.model.errors import InputError
from pdqs.model.priors import Prior, TruncatedNormal, Uniform

DISTRIBUTIONS: dict[str, Prior] = {
    "uniform": Uniform(),
    "normal-1": TruncatedNormal(0.5, 1.0),
    "normal-0.25": TruncatedNormal(0.5, 0.25),
}


def distribution(name: str) -> Prior:
    """The distribution of that name.

    >>> distribution("uniform")
    Uniform(low=0.0, high=1.0)
    """
    try:
        return DISTRIBUTIONS[name]
    except KeyError:
        raise InputError(f"unknown distribution {name!r}: choose one of {', '.join(DISTRIBUTIONS)}") from None


def draw(name: str, count: int, rng: np.random.Generator) -> Floats:
    """Independent bids, by inverting the distribution at uniform draws.

    >>> draw("normal-0.25", 3, np.random.default_rng(0)).round(3).tolist()
    [0.583, 0.354, 0.115]
    """
    return distribution(name).quantile(rng.random(count))


def draw_correlated(values: Integers, strength: float, rng: np.random.Generator) -> Floats:
    """Bids of owners who ask more when they have the sensitive value (1).

    An owner with 0 bids U, one with 1 bids U^(1 / (1 + strength)): the largest of 1 + strength uniform draws. At
    strength 0 bids say nothing of values.

    >>> bids = draw_correlated(np.array([0] * 5000 + [1] * 5000), 3.0, np.random.default_rng(0))
    >>> bids[:5000].mean().round(1).item(), bids[5000:].mean().round(1).item()
    (0.5, 0.8)
    """
    shares = rng.random(values.size)
    bids: Floats = np.where(values == 1, shares ** (1.0 / (1.0 + strength)), shares)
    return bids
