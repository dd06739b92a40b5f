"""Where bids come from: the distributions of the paper's four set-ups, and bids that tell of values.

The paper maps normal draws "to (0, 1)" without saying how, so both of two ways are run. *Kept*: a normal of mean 1/2
and the named sd, kept to [0, 1]; at sd 1 that is almost uniform (its sd is .284, the uniform's .289). *Squashed*: a
normal of mean 0 and the named sd through 1 / (1 + e^-x); the sds are then .208 and .061. A mapping by the least and the
largest draw would make set-ups (3) and (4) the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from pdqs.model.arrays import Floats, Integers
from pdqs.model.errors import InputError
from pdqs.model.priors import TruncatedNormal, Uniform


class Drawn(Protocol):
    """A distribution that can be drawn from: by its quantiles."""

    def quantile(self, shares: Floats) -> Floats: ...


@final
@dataclass(frozen=True, slots=True)
class Squashed:
    """1 / (1 + e^-x) of a normal x with mean 0 and this sd.

    >>> Squashed(1.0).quantile(np.array([0.5, 0.8413])).round(2).tolist()
    [0.5, 0.73]
    """

    sd: float

    def quantile(self, shares: Floats) -> Floats:
        from scipy.special import expit, ndtri

        bids: Floats = expit(self.sd * ndtri(shares))
        return bids


DISTRIBUTIONS: dict[str, Drawn] = {
    "uniform": Uniform(),
    "normal-1": TruncatedNormal(0.5, 1.0),
    "normal-0.25": TruncatedNormal(0.5, 0.25),
    "squashed-1": Squashed(1.0),
    "squashed-0.25": Squashed(0.25),
}


def distribution(name: str) -> Drawn:
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
