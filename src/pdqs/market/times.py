"""Why something must wait, in words; moments and how long is left are the core's."""

from __future__ import annotations

from pdqs.present.times import left, moment_text

__all__ = ["left", "moment_text", "too_early"]


def too_early(what: str, ms: int, now_ms: int) -> str:
    """Why something must wait.

    >>> too_early("bids", 1_794_786_536_585, 1_794_786_500_000)
    'bids close in 36 s, at 15 Nov 2026, 23:48 UTC'
    """
    return f"{what} close in {left(ms, now_ms)}, at {moment_text(ms)}"
