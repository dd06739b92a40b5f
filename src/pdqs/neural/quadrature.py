"""Gauss rules for the bids themselves: a few weighted bids that stand for thousands.

A sum over owners of a smooth function of the bid is an integral against the empirical distribution of the bids. The
m-point Gauss rule of that distribution gives it exactly for polynomials of degree 2m - 1, and for the logistic curves
of NPQM (analytic up to Im x = pi / a) with an error of about rho^(-2m), rho = 2 pi/a + sqrt(1 + (2 pi/a)^2). So the
price of a training step no longer grows with the number of owners.
"""

from __future__ import annotations

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.neural.sums import product


def gauss_rule(points: Floats, nodes: int) -> tuple[Floats, Floats]:
    """``nodes`` bids and weights with sum f(points) = sum weights f(bids).

    Points with no more distinct values than nodes are their own rule; the spare places carry no weight.

    >>> bids, weights = gauss_rule(np.random.default_rng(1).random(1000), 8)
    >>> bool(abs(weights.sum() - 1000) < 1e-9)
    True
    """
    distinct, counts = np.unique(points, return_counts=True)
    return _compressed(distinct, counts.astype(np.float64), nodes)


def tail_rule(points: Floats, nodes: int) -> tuple[Floats, Floats]:
    r"""``nodes`` places and weights for what all owners are paid beyond their bids, bids on [0, 1].

    .. math:: \sum_i \int_{b_i}^1 f(x)\,dx = \int_0^1 \#\{i : b_i \le x\}\, f(x)\,dx

    so one rule, of the measure that counts the bids below x, serves all owners together.

    >>> places, weights = tail_rule(np.array([0.0, 0.5]), 4)
    >>> round(float(weights.sum()), 12), round(float(weights @ places), 12)
    (1.5, 0.875)
    """
    edges, counts = np.unique(np.append(points, 1.0), return_counts=True)
    below, width = np.cumsum(counts)[:-1], np.diff(edges)
    ways, shares = np.polynomial.legendre.leggauss(_WITHIN)
    places = edges[:-1, None] + np.outer(width, 0.5 + 0.5 * ways)
    return _compressed(places.ravel(), np.outer(below * width, 0.5 * shares).ravel(), nodes)


_WITHIN = 4  # places between two neighbouring bids, before they are made few


def _compressed(places: Floats, masses: Floats, nodes: int) -> tuple[Floats, Floats]:
    """The Gauss rule of ascending weighted places, by Lanczos with full orthogonalisation."""
    if places.size <= nodes:
        spare = nodes - places.size
        return np.pad(places, (0, spare), mode="edge" if places.size else "constant"), np.pad(masses, (0, spare))
    total = masses.sum()
    basis = np.empty((nodes, places.size))
    diagonal, beside = np.empty(nodes), np.empty(nodes - 1)
    basis[0] = np.sqrt(masses / total)
    for j in range(nodes):
        ahead = places * basis[j]
        diagonal[j] = product(ahead, basis[j])
        for _ in range(2):  # twice is enough (Kahan)
            ahead = ahead - product(product(basis[: j + 1], ahead), basis[: j + 1])
        if j + 1 < nodes:
            beside[j] = np.sqrt(product(ahead, ahead))
            basis[j + 1] = ahead / beside[j]
    from scipy.linalg import eigh_tridiagonal  # a slow import, needed once per training

    found, vectors = eigh_tridiagonal(diagonal, beside)
    return found, total * vectors[0] ** 2
