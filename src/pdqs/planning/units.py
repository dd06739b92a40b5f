"""What a half-width is measured in: points of share, or the values' own units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from pdqs.model.errors import PlanError
from pdqs.model.query import Mean, Median, Quantile, Query
from pdqs.present.text import in_digits


@final
@dataclass(frozen=True)
class Unit:
    """``of_values`` says which; ``most`` is how far a half-width can be."""

    name: str
    of_values: bool
    most: float

    @property
    def factor(self) -> float:
        """What a half-width is multiplied by to be shown."""
        return 1.0 if self.of_values else 100.0

    def bare(self, half_width: float) -> str:
        """Without the unit.

        >>> Unit("points", False, 1.0).bare(0.0213)
        '± 2.13'
        >>> Unit("in units of the values", True, 9e4).bare(2314.2)
        '± 2,314'
        """
        return f"± {in_digits(self.factor * half_width, 3)}" if math.isfinite(half_width) else "no answer"

    def shown(self, half_width: float) -> str:
        """With the unit."""
        if math.isinf(half_width):
            return "no answer"
        return self.bare(half_width) if self.of_values else f"{self.bare(half_width)} {self.name}"

    def refuse_beyond(self, half_width: float) -> None:
        """Refuse what is no half-width in this unit."""
        if 0 < half_width < self.most:
            return
        if self.of_values:
            raise PlanError(
                f"half_width must be above 0 and below the range of the values, {self.most:g}, got {half_width:g}"
            )
        raise PlanError(f"half_width must be a share above 0 and below 1 (0.02 is two points), got {half_width:g}")


def unit_of(query: Query, *, guessed: bool) -> Unit:
    """The unit of a query's half-width; a quantile's is the rank unless its values are guessed."""
    quantile = isinstance(query, Median | Quantile)
    if isinstance(query, Mean) or (quantile and guessed):
        return Unit("in units of the values", True, query.question.domain.span)
    return Unit("points of rank" if quantile else "points", False, 1.0)
