"""How a device speaks to a market: stored bytes go out as they are, and the same on every retry."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self, final

import httpx

from pdqs.protocol.device_messages import BidReceipt, Offer, ReportReceipt, RoundNotice
from pdqs.protocol.market_messages import Me, NoticePage
from pdqs.protocol.problems import MarketError, ProblemType
from pdqs.protocol.transport import Transport


@final
class OwnerClient:
    """One owner's connection to one market. Close it, or use it in a ``with`` block."""

    def __init__(
        self,
        market: str,
        token: str = "",
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._line = Transport(market, token, transport=transport, sleep=sleep)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_fault: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._line.close()

    def redeem(self, code: str) -> str:
        """Exchange a one-time code for a token. Not retried: a code is good once."""
        made = self._line.redeem(code)
        if made.user.role != "owner":
            raise MarketError(ProblemType.WRONG_ROLE, f"this code is for a {made.user.role}, not for an owner")
        return made.token

    def account(self) -> Me:
        """Who the market takes this device for, and what it owes her."""
        return self._line.ask(Me, "GET", "/v1/me")

    def notices(self) -> list[RoundNotice]:
        """Every round the owner may bid in or has bid in, newest first."""
        found: list[RoundNotice] = []
        after: str | None = None
        while True:
            page = self._line.ask(NoticePage, "GET", "/v1/notices", params={"after": after} if after else {})
            found += page.items
            after = page.next
            if after is None:
                return found

    def notice(self, round_id: str) -> RoundNotice:
        """One round."""
        return self._line.ask(RoundNotice, "GET", f"/v1/notices/{_safe(round_id)}")

    def offer(self, round_id: str) -> Offer:
        """What the market asks of this owner."""
        return self._line.ask(Offer, "GET", f"/v1/rounds/{_safe(round_id)}/offer")

    def send_bid(self, round_id: str, body: bytes) -> BidReceipt:
        """Send a stored bid."""
        return self._line.ask(BidReceipt, "PUT", f"/v1/rounds/{_safe(round_id)}/bid", body=body)

    def send_report(self, round_id: str, body: bytes) -> ReportReceipt:
        """Send a stored report."""
        return self._line.ask(ReportReceipt, "PUT", f"/v1/rounds/{_safe(round_id)}/report", body=body)


def _safe(round_id: str) -> str:
    """A round's id as part of a path; anything else could reach another route."""
    if not round_id.replace("_", "").isalnum():
        raise MarketError(ProblemType.NO_ROUND, f"{round_id!r} is not a round's id")
    return round_id
