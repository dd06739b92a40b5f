"""Gauss rules for the bids themselves: a few weighted bids that stand for thousands.

A sum over owners of a smooth function of the bid is an integral against the empirical distribution of the bids. The
m-point Gauss rule of that distribution gives it exactly for polynomials of degree 2m - 1, and for the logistic curves
of NPQM (analytic up to Im x = pi / a) with an error of about rho^(-2m), rho = 2 pi/a + sqrt(1 + (2 pi/a)^2). So the
price of a training step no longer grows with the number of owners.
"""

from __future__ import annotations

import numpy as np

from pdqs.neural.sums import product
from pdqs.types import Floats


def gauss_rule(points: Floats, nodes: int) -> tuple[Floats, Floats]:
    """``nodes`` bids and weights with sum f(points) = sum weights f(bids), by Lanczos with full orthogonalisation.

    Points with no more distinct values than nodes are their own rule; the spare places carry no weight.

    >>> bids, weights = gauss_rule(np.random.default_rng(1).random(1000), 8)
    >>> bool(abs(weights.sum() - 1000) < 1e-9)
    True
    """
    distinct, counts = np.unique(points, return_counts=True)
    if distinct.size <= nodes:
        spare = nodes - distinct.size
        return np.pad(distinct, (0, spare), mode="edge"), np.pad(counts.astype(np.float64), (0, spare))
    basis = np.empty((nodes, distinct.size))
    diagonal, beside = np.empty(nodes), np.empty(nodes - 1)
    basis[0] = np.sqrt(counts / points.size)
    for j in range(nodes):
        ahead = distinct * basis[j]
        diagonal[j] = product(ahead, basis[j])
        for _ in range(2):  # twice is enough (Kahan)
            ahead = ahead - product(product(basis[: j + 1], ahead), basis[: j + 1])
        if j + 1 < nodes:
            beside[j] = np.sqrt(product(ahead, ahead))
            basis[j + 1] = ahead / beside[j]
    from scipy.linalg import eigh_tridiagonal  # a slow import, needed once per training

    places, vectors = eigh_tridiagonal(diagonal, beside)
    return places, points.size * vectors[0] ** 2
