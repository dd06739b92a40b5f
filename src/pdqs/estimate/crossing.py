"""Where the share of owners at or below a threshold comes up through p, read off noisy shares at many thresholds."""

from __future__ import annotations

import math

import numpy as np

from pdqs.model.arrays import Floats

_LEAST_BEND = 6


def crossing_of(thresholds: Floats, weight: Floats, first: Floats, variance: Floats, p: float) -> float | None:
    r"""Where a weighted line through h = F - p rises through 0, or a parabola where h bends; None: nowhere.

    ``first`` is sum a h at each threshold and ``variance`` that of it, ``weight`` sum a. With z the thresholds, centred
    and scaled, h = c0 + c1 z + c2 b(z), b(z) = z^2 - s z - 1 and s the skewness of z, so that the three terms are
    orthogonal under the weights. From six thresholds on the bend is used if

    .. math:: c_2^2 > \frac{4 r}{1 - r} \,\mathrm{Var}(c_2), \quad r = (4 p (1-p))^6:

    never at the median, around which a population is mostly straight, so that a bend is noise and costs a tenth of the
    precision; toward its ends it is curved, and a line is off by a sixth of the range for salaries at p = .9. A
    parabola that does not reach 0 counts where it comes nearest, and at most a step beyond the thresholds.
    """
    whole = float(weight.sum())
    middle = float(weight @ thresholds) / whole
    width = math.sqrt(float(weight @ (thresholds - middle) ** 2) / whole)
    if width == 0.0:
        return None
    z = (thresholds - middle) / width
    skewness = float(weight @ z**3) / whole
    bend = z * z - skewness * z - 1.0
    size = float(weight @ bend**2)
    c0, c1 = float(first.sum()) / whole, float(z @ first) / whole
    c2 = float(bend @ first) / size if size > 1e-9 * whole else 0.0
    straight = (4.0 * p * (1.0 - p)) ** 6
    if z.size >= _LEAST_BEND and (1.0 - straight) * (c2 * size) ** 2 > 4.0 * straight * float(bend**2 @ variance):
        place = _rising_root(c2, c1 - c2 * skewness, c0 - c2)
        return float(np.clip(middle + width * place, thresholds[0] - 1.0, thresholds[-1] + 1.0))
    return middle - width * c0 / c1 if c1 > 0.0 else None


def _rising_root(a: float, b: float, c: float) -> float:
    """Where a z^2 + b z + c rises through 0, a not 0; where it comes nearest, if it does not.

    >>> _rising_root(1.0, 0.0, -4.0), _rising_root(-1.0, 0.0, 4.0), _rising_root(1.0, -2.0, 5.0)
    (2.0, -2.0, 1.0)
    """
    return (-b + math.sqrt(max(b * b - 4.0 * a * c, 0.0))) / (2.0 * a)
