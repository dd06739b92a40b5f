"""A user's rule as a table: whatever was written, what is priced and used falls in the bid and grows with the scale.

A check by sampling cannot see a rise between its samples, and a rule may read the array it is given or something that
changes. So a rule that is not vouched for is read once, on public bids and public scales that know nothing of the bids
to be priced, and the table takes its place: a running minimum in the bid, a running maximum in the scale. Between bids
it is a step, between scales a straight line, so that its integral is known exactly.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from typing import final

import numpy as np

from pdqs.model.arrays import Floats
from pdqs.model.errors import RuleError
from pdqs.pricing.rules.base import Rule, Setting, name_of, printed_scale

_EVEN_BIDS, _LOW_BIDS = 4096, 512
_EVEN_SCALES, _WIDE_SCALES = 128, 145
_TOLERANCE = 1e-9


@final
@dataclass(frozen=True, slots=True, eq=False)
class Tabled:
    """q(b; s) from a table: rows are ``scales`` (first 0, last infinite), columns cells between ``edges``."""

    name: str
    printed_scale: float
    edges: Floats = field(repr=False)
    scales: Floats = field(repr=False)
    table: Floats = field(repr=False)

    def row(self, scale: float) -> Floats:
        """q in every cell: the two rows next to the scale, mixed."""
        if scale == math.inf:
            top: Floats = self.table[-1]
            return top
        at = int(np.searchsorted(self.scales[:-1], scale, side="right")) - 1
        below: Floats = self.table[max(at, 0)]
        if at < 0 or at == self.scales.size - 2:
            return below
        part = (scale - self.scales[at]) / (self.scales[at + 1] - self.scales[at])
        mixed: Floats = (1.0 - part) * below + part * self.table[at + 1]
        return mixed

    def q(self, bids: Floats, scale: float) -> Floats:
        found: Floats = self.row(scale)[np.searchsorted(self.edges[1:-1], bids, side="right")]
        return found


@lru_cache(maxsize=8)
def read_into_table(rule: Rule, setting: Setting, fixed_scale: float | None = None) -> Tabled:
    """The rule's table, read now; a warning says so where the rule had to be changed to fall and grow as it must."""
    edges, scales = _public_bids(setting), _public_scales(setting, (printed_scale(rule), fixed_scale))
    read = np.array([_read(rule, edges[:-1], float(scale)) for scale in scales[1:]])
    read[-1] = np.where(np.isfinite(read[-1]), read[-1], read[-2])  # not every rule has an infinite scale
    if not ((read >= 0) & (read <= 1)).all():
        raise RuleError(f"rule {name_of(rule)} leaves [0, 1]")
    made = np.maximum.accumulate(np.minimum.accumulate(read, axis=1), axis=0)
    if np.abs(made - read).max() > _TOLERANCE:
        warnings.warn(
            f"rule {name_of(rule)} does not always fall with the bid and grow with the scale: it is priced and used as"
            " the nearest table that does",
            stacklevel=3,
        )
    table = np.concatenate([np.zeros((1, edges.size - 1)), made])
    for part in (edges, scales, table):
        part.setflags(write=False)
    return Tabled(name_of(rule), printed_scale(rule), edges, scales, table)


def _public_bids(setting: Setting) -> Floats:
    """Cells of the bid range: even ones, and ever smaller ones next to the low end, where a small budget buys."""
    low = np.geomspace(2.0**-40, 1.0 / _EVEN_BIDS, _LOW_BIDS)
    shares = np.unique(np.concatenate([np.linspace(0.0, 1.0, _EVEN_BIDS + 1), low]))
    edges = np.unique(setting.low + (setting.high - setting.low) * shares)
    edges[-1] = setting.high
    return edges


def _public_scales(setting: Setting, more: tuple[float | None, ...]) -> Floats:
    """0, the ladder's whole reach by sixth parts of a decade, the bid range evenly, scales that are named, infinity."""
    wide = setting.high * np.geomspace(1e-12, 1e12, _WIDE_SCALES)
    even = np.linspace(setting.low, setting.high, _EVEN_SCALES + 1)[1:]
    return np.unique(np.concatenate([[0.0, math.inf], wide, even, [scale for scale in more if scale is not None]]))


def _read(rule: Rule, bids: Floats, scale: float) -> Floats:
    """q at the public bids; a rule that looks at the company a bid is given in is refused."""
    together = np.array(rule.q(bids.copy(), scale), dtype=np.float64)
    for place in range(1, bids.size, bids.size // 3):
        alone = float(np.asarray(rule.q(bids[place : place + 1].copy(), scale), dtype=np.float64)[0])
        if abs(alone - together[place]) > _TOLERANCE:
            raise RuleError(
                f"rule {name_of(rule)} must price each bid by itself: at scale {scale:.4g}, q at bid {bids[place]:.4g}"
                f" is {alone:.4g} alone but {together[place]:.4g} among others"
            )
    return together
