"""How a device speaks to a market: plain HTTP requests with strict messages, the same bytes on every retry."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar, final

import httpx
from pydantic import ValidationError

from pdqs.owner.errors import MarketError
from pdqs.protocol.device_messages import BidReceipt, Message, Offer, ReportReceipt, RoundNotice

Answer = TypeVar("Answer", bound=Message)

ATTEMPTS = 4
_WORTH_RETRYING = (429, 502, 503, 504)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The owner as the market knows her, and what it owes her."""

    name: str
    role: str
    balance_micros: int


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
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(base_url=market, headers=headers, timeout=30.0, transport=transport)
        self._sleep = sleep

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    def redeem(self, code: str) -> str:
        """Exchange a one-time code for a token. Not retried: a code is good once."""
        found = self._request("POST", "/v1/tokens", json={"code": code}, attempts=1).json()
        try:
            role, token = str(found["user"]["role"]), str(found["token"])
        except (KeyError, TypeError):
            raise MarketError("the market answered the code with something that is not a token") from None
        if role != "owner":
            raise MarketError(f"this code is for a {role}, not for an owner")
        return token

    def account(self) -> Account:
        """Who the market takes this device for."""
        found = self._request("GET", "/v1/me").json()
        try:
            user = found["user"]
            return Account(name=user["name"], role=user["role"], balance_micros=int(found["balance_micros"]))
        except (KeyError, TypeError, ValueError):
            raise MarketError("the market did not say who this device belongs to") from None

    def notices(self) -> list[RoundNotice]:
        """Every round the owner may bid in or has bid in, newest first."""
        found: list[RoundNotice] = []
        after: str | None = None
        while True:
            page = self._request("GET", "/v1/notices", params={"after": after} if after else {}).json()
            try:
                items, after = list(page["items"]), page["next"]
            except (KeyError, TypeError):
                raise MarketError("the market's list of rounds is not one") from None
            found += [_parsed(RoundNotice, item) for item in items]
            if after is None:
                return found

    def notice(self, round_id: str) -> RoundNotice:
        """One round."""
        return self._message(RoundNotice, "GET", f"/v1/notices/{_safe(round_id)}")

    def offer(self, round_id: str) -> Offer:
        """What the market asks of this owner."""
        return self._message(Offer, "GET", f"/v1/rounds/{_safe(round_id)}/offer")

    def send_bid(self, round_id: str, body: bytes) -> BidReceipt:
        """Send a stored bid."""
        return self._message(BidReceipt, "PUT", f"/v1/rounds/{_safe(round_id)}/bid", body)

    def send_report(self, round_id: str, body: bytes) -> ReportReceipt:
        """Send a stored report."""
        return self._message(ReportReceipt, "PUT", f"/v1/rounds/{_safe(round_id)}/report", body)

    def _message(self, kind: type[Answer], method: str, path: str, body: bytes | None = None) -> Answer:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        answer = self._request(method, path, content=body, headers=headers)
        return _parsed(kind, answer.json())

    def _request(self, method: str, path: str, *, attempts: int = ATTEMPTS, **request: Any) -> httpx.Response:
        """One request, tried again with the same bytes while the market is out of reach or busy."""
        for attempt in range(attempts):
            last = attempt == attempts - 1
            try:
                answer = self._http.request(method, path, **request)
            except httpx.TransportError as fault:
                if last:
                    raise MarketError(f"the market at {self._http.base_url} cannot be reached: {fault}") from None
            else:
                if answer.is_success:
                    return answer
                if last or answer.status_code not in _WORTH_RETRYING:
                    raise MarketError(f"the market said no ({answer.status_code}): {_detail(answer)}")
            self._sleep(0.25 * 2**attempt)
        raise AssertionError("the last attempt returns or raises")


def _parsed(kind: type[Answer], found: Any) -> Answer:
    try:
        return kind.model_validate(found)
    except ValidationError as fault:
        raise MarketError(f"the market's {kind.__name__} is not one: {fault.errors()[0]['msg']}") from None


def _safe(round_id: str) -> str:
    """A round's id as part of a path; anything else could reach another route."""
    if not round_id.replace("_", "").isalnum():
        raise MarketError(f"{round_id!r} is not a round's id")
    return round_id


def _detail(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return answer.reason_phrase
