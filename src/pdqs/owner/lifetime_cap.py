"""The lifetime cap: how much privacy an owner will ever spend on one fact, and on all of them together.

Both are counted in billionths of epsilon. A report that would pass either is not drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from pdqs.privacy.loss import NANOS_PER_EPSILON

DEFAULT_CAP_NANOS = 4 * NANOS_PER_EPSILON
DEFAULT_OVERALL_CAP_NANOS = 12 * NANOS_PER_EPSILON
OVERALL = ""
"""The name under which eps over all attributes is capped."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Privacy spent on one attribute, or (``attribute`` empty) on all together, against its lifetime cap."""

    attribute: str
    spent_nanos: int
    cap_nanos: int
    reports: int

    @property
    def left_nanos(self) -> int:
        """What may still be spent; never below 0, though a cap may be lowered under what is spent."""
        return max(self.cap_nanos - self.spent_nanos, 0)


def beyond(now: Spending, asked_nanos: int) -> str:
    """Why a report would pass a cap."""
    spent, asked, cap = (n / NANOS_PER_EPSILON for n in (now.spent_nanos, asked_nanos, now.cap_nanos))
    what = f"attribute {now.attribute!r}" if now.attribute else "all attributes together"
    return (
        f"{what}: {spent:.4f} of your lifetime cap of {cap:.4f} epsilon is spent, and this report would add"
        f" {asked:.4f}; nothing was drawn and nothing was sent"
    )
