"""The entries of an account by market and round: an account of many rounds is gone through once, not for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final


@final
class ByRound:
    """Made when it is first asked, of entries that do not change. The browser's twin is in ``browser/account.mjs``."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, Any], list[dict[str, Any]]] | None = None

    def of(self, entries: Sequence[dict[str, Any]], market: str, round_id: str) -> list[dict[str, Any]]:
        """Those of one round, oldest first."""
        if self._known is None:
            self._known = {}
            for entry in entries:
                self._known.setdefault((entry.get("market"), entry.get("round_id")), []).append(entry)
        return self._known.get((market, round_id), [])
