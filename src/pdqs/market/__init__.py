"""The market: consumers, owners, and a broker who never sees a value.

It adds people, time and storage to the core, and no mathematics: clearing, estimates and payments are the core's.
"""

from __future__ import annotations

from pdqs.market.context import Market, system_clock
from pdqs.market.settings import Settings

__all__ = ["Market", "Settings", "system_clock"]
