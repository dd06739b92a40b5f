"""Moments and how long is left, in words: no message to a person holds a count of milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime


def moment_text(ms: int) -> str:
    """A moment in UTC, and that it is UTC.

    >>> moment_text(1_794_786_536_585)
    '15 Nov 2026, 23:48 UTC'
    """
    return f"{day_text(ms)}, {datetime.fromtimestamp(ms / 1000, tz=UTC):%H:%M} UTC"


def day_text(ms: int) -> str:
    """The day of a moment, by UTC. The browser's twin is in ``owner/browser/statement.mjs``.

    >>> day_text(1_794_786_536_585)
    '15 Nov 2026'
    """
    moment = datetime.fromtimestamp(ms / 1000, tz=UTC)
    return f"{moment.day} {moment:%b %Y}"


def left(ms: int, now_ms: int) -> str:
    """How long is left, in the two largest units. The browser's twin is in ``pages/static/clock.mjs``.

    >>> left(90_061_000, 0), left(59_000, 0), left(0, 5)
    ('1 day 1 h', '59 s', '0 s')
    """
    seconds_left = (ms - now_ms) // 1000
    if seconds_left <= 0:
        return "0 s"
    days, rest = divmod(seconds_left, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, seconds = divmod(rest, 60)
    units = [(days, "day" if days == 1 else "days"), (hours, "h"), (minutes, "min"), (seconds, "s")]
    first = next(place for place, (count, _) in enumerate(units) if count)
    return " ".join(f"{count} {name}" for count, name in units[first : first + 2] if count)
