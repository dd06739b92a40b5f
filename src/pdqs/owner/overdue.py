"""Whether a round that was signed for should be settled by now, by the terms she bid on.

No market need ever call a round settled, and a device that waits for the word would wait for ever. The frozen terms say
how long a round can take: bids close, the nonce is waited for, and each stage takes reports for as long as it was
promised. A day after that, by the device's own clock, it is told that the market has not settled; nothing more follows
from it, for either clock may be wrong. They say, too, when what she sent may be deleted. The browser's twin:
``browser/overdue.mjs``.
"""

from __future__ import annotations

import json

from pdqs.present.times import day_text

_MOST_NONCE_SECONDS = 7 * 86_400
_DAY_MS = 86_400_000
GRACE_MS = _DAY_MS


def over_ms(terms: str) -> int:
    """When a round is over at the latest, by the frozen terms of a bid that was signed for.

    >>> over_ms('{"bids_close_at_ms":5,"nonce_seconds":3,"report_seconds":2,"terms":{"question":{"stages":4}}}')
    11005
    """
    said = json.loads(terms)
    nonce, question = said.get("nonce_seconds"), said["terms"].get("question") or {}
    waits = min(max(nonce, 0), _MOST_NONCE_SECONDS) if type(nonce) is int else 0  # no device relies on it
    return int(said["bids_close_at_ms"] + 1000 * (waits + said["report_seconds"] * question.get("stages", 1)))


def is_overdue(terms: str, now_ms: int) -> bool:
    """Whether that is more than a day ago."""
    return now_ms > over_ms(terms) + GRACE_MS


def may_be_deleted(terms: str, now_ms: int) -> bool:
    """Whether bids and reports of the round may be deleted by now, as its terms say and by this device's clock."""
    said = json.loads(terms)
    days = said.get("retention_days")
    return type(days) is int and now_ms >= said["bids_close_at_ms"] + _DAY_MS * max(days, 1)


def overdue_in_words(terms: str, now_ms: int) -> str:
    """What a market has not done then, to follow on what it signed for."""
    ended, now = day_text(over_ms(terms)), day_text(now_ms)
    return f"has still not settled the round, which by its terms was over on {ended} (by this device it is {now})"
