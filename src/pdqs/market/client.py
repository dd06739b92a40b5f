"""A typed client of ``/v1``: every method is one route, with the messages the server itself uses.

An error of the server's comes back as the :class:`~pdqs.protocol.problems.MarketError` it was. Requests that can be
sent twice without harm (all but the exchange of a code) are sent again when the line breaks or the server asks for
patience.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any, Self, TypeVar, final

import httpx
from pydantic import ValidationError

from pdqs.protocol import problems as errors
from pdqs.protocol.device_messages import Bid, BidReceipt, Message, Offer, Report, ReportReceipt, RoundNotice
from pdqs.protocol.market_messages import (
    AnswerMessage,
    Forecast,
    ForecastRequest,
    Health,
    Invitation,
    Me,
    NewUser,
    NoticePage,
    PayablePage,
    Role,
    Round,
    RoundPage,
    RoundPlan,
    RoundState,
    Statement,
    Token,
    Transaction,
    Transfer,
    TrialBalance,
    UserPage,
)
from pdqs.protocol.problems import MarketError

Answer = TypeVar("Answer", bound=Message)

_ATTEMPTS = 5
_PATIENCE = frozenset({429, 502, 503, 504})
_ERRORS: dict[int, type[MarketError]] = {
    kind.status: kind
    for kind in (
        errors.UnauthorizedError,
        errors.ForbiddenError,
        errors.NotFoundError,
        errors.ConflictError,
        errors.UnprocessableError,
        errors.TooManyRequestsError,
    )
}


@final
class MarketClient:
    """One user's connection to one market. Close it, or use it in a ``with`` block.

    ``transport`` lets tests answer in the server's place; ``sleep`` is what waiting means.
    """

    def __init__(
        self,
        address: str,
        token: str = "",
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(base_url=address, headers=headers, timeout=60.0, transport=transport)
        self._sleep = sleep

    @staticmethod
    def enter(address: str, code: str) -> MarketClient:
        """A client for whoever the one-time code was made for."""
        with MarketClient(address) as stranger:
            return MarketClient(address, stranger.redeem(code).token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_fault: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    # People

    def redeem(self, code: str) -> Token:
        """Exchange a one-time code for a token. Sent once: a code is good once."""
        return self._ask(Token, "POST", "/v1/tokens", json={"code": code}, attempts=1)

    def me(self) -> Me:
        """Who the market takes the caller for."""
        return self._ask(Me, "GET", "/v1/me")

    def invite(self, role: Role, name: str, *, key: str = "") -> Invitation:
        """Let someone in."""
        return self._create(Invitation, "/v1/users", NewUser(role=role, name=name), key)

    def renew_code(self, user_id: str) -> Invitation:
        """A fresh one-time code."""
        return self._ask(Invitation, "POST", f"/v1/users/{user_id}/code")

    def users(self, after: str | None = None, limit: int = 50) -> UserPage:
        """A page of users."""
        return self._ask(UserPage, "GET", "/v1/users", params=_page(after, limit))

    # Money

    def deposit(self, user_id: str, amount_micros: int, *, key: str = "") -> Transaction:
        """Money onto a consumer's balance."""
        transfer = Transfer(user_id=user_id, amount_micros=amount_micros)
        return self._create(Transaction, "/v1/deposits", transfer, key)

    def pay_out(self, user_id: str, amount_micros: int, *, key: str = "") -> Transaction:
        """Enter that a balance was paid out."""
        transfer = Transfer(user_id=user_id, amount_micros=amount_micros)
        return self._create(Transaction, "/v1/payouts", transfer, key)

    def statement(self, after: str | None = None, limit: int = 50) -> Statement:
        """A page of the caller's postings."""
        return self._ask(Statement, "GET", "/v1/statement", params=_page(after, limit))

    def payables(self, after: str | None = None, limit: int = 50) -> PayablePage:
        """A page of owners with money to come."""
        return self._ask(PayablePage, "GET", "/v1/payables", params=_page(after, limit))

    def trial_balance(self) -> TrialBalance:
        """The books."""
        return self._ask(TrialBalance, "GET", "/v1/trial-balance")

    # Rounds

    def forecast(self, request: ForecastRequest) -> Forecast:
        """What a plan would buy."""
        return self._ask(Forecast, "POST", "/v1/forecast", json=request.model_dump())

    def draft(self, plan: RoundPlan, *, key: str = "") -> Round:
        """Draft a round."""
        return self._create(Round, "/v1/rounds", plan, key)

    def rounds(self, state: RoundState | None = None, after: str | None = None, limit: int = 50) -> RoundPage:
        """A page of rounds."""
        wanted = {"state": state} if state else {}
        return self._ask(RoundPage, "GET", "/v1/rounds", params={**_page(after, limit), **wanted})

    def all_rounds(self) -> Iterator[Round]:
        """Every round, newest first."""
        page = self.rounds(limit=200)
        yield from page.items
        while page.next:
            page = self.rounds(after=page.next, limit=200)
            yield from page.items

    def round(self, round_id: str) -> Round:
        """One round."""
        return self._ask(Round, "GET", f"/v1/rounds/{round_id}")

    def open(self, round_id: str) -> Round:
        """Open a round for bids."""
        return self._ask(Round, "POST", f"/v1/rounds/{round_id}/open")

    def clear(self, round_id: str) -> Round:
        """Turn bids into offers."""
        return self._ask(Round, "POST", f"/v1/rounds/{round_id}/clear")

    def settle(self, round_id: str) -> Round:
        """Answer and pay."""
        return self._ask(Round, "POST", f"/v1/rounds/{round_id}/settle")

    def cancel(self, round_id: str) -> Round:
        """Call a round off."""
        return self._ask(Round, "POST", f"/v1/rounds/{round_id}/cancel")

    def answer(self, round_id: str) -> AnswerMessage:
        """What a round found."""
        return self._ask(AnswerMessage, "GET", f"/v1/rounds/{round_id}/answer")

    # Owners

    def notices(self, after: str | None = None, limit: int = 50) -> NoticePage:
        """A page of rounds to bid in."""
        return self._ask(NoticePage, "GET", "/v1/notices", params=_page(after, limit))

    def notice(self, round_id: str) -> RoundNotice:
        """One round as owners see it."""
        return self._ask(RoundNotice, "GET", f"/v1/notices/{round_id}")

    def place_bid(self, round_id: str, bid: Bid) -> BidReceipt:
        """Bid."""
        return self._ask(BidReceipt, "PUT", f"/v1/rounds/{round_id}/bid", json=bid.model_dump())

    def bid(self, round_id: str) -> BidReceipt:
        """The caller's own bid."""
        return self._ask(BidReceipt, "GET", f"/v1/rounds/{round_id}/bid")

    def offer(self, round_id: str) -> Offer:
        """The caller's own offer."""
        return self._ask(Offer, "GET", f"/v1/rounds/{round_id}/offer")

    def submit_report(self, round_id: str, report: Report) -> ReportReceipt:
        """Report."""
        return self._ask(ReportReceipt, "PUT", f"/v1/rounds/{round_id}/report", json=report.model_dump())

    def report(self, round_id: str) -> ReportReceipt:
        """The caller's own report."""
        return self._ask(ReportReceipt, "GET", f"/v1/rounds/{round_id}/report")

    def health(self) -> Health:
        """Whether the market can serve."""
        return self._ask(Health, "GET", "/healthz")

    def _create(self, kind: type[Answer], path: str, body: Message, key: str) -> Answer:
        headers = {"Idempotency-Key": key or secrets.token_urlsafe(24)}
        return self._ask(kind, "POST", path, json=body.model_dump(), headers=headers)

    def _ask(self, kind: type[Answer], method: str, path: str, *, attempts: int = _ATTEMPTS, **request: Any) -> Answer:
        response = self._response(method, path, attempts, request)
        try:
            return kind.model_validate_json(response.content)
        except ValidationError as fault:
            detail = f"the market's {kind.__name__} is not one: {fault.errors()[0]['msg']}"
            raise MarketError("bad-answer", detail) from None

    def _response(self, method: str, path: str, attempts: int, request: dict[str, Any]) -> httpx.Response:
        for attempt in range(attempts):
            last = attempt == attempts - 1
            wait = 0.1 * 2**attempt
            try:
                response = self._http.request(method, path, **request)
            except httpx.TransportError as fault:
                if last:
                    detail = f"the market at {self._http.base_url} cannot be reached: {type(fault).__name__}"
                    raise MarketError("unreachable", detail) from None
            else:
                if response.is_success:
                    return response
                if last or response.status_code not in _PATIENCE:
                    raise _error_of(response)
                wait = max(wait, _seconds(response.headers.get("retry-after", "0")))
            self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")


def _page(after: str | None, limit: int) -> dict[str, str | int]:
    return {"limit": limit, **({"after": after} if after else {})}


def _seconds(text: str) -> float:
    return float(text) if text.isdigit() and len(text) < 4 else 0.0


def _error_of(response: httpx.Response) -> MarketError:
    """The error that the server raised, or one that says it answered with something else."""
    try:
        found = response.json()
        type_, detail = str(found["type"]), str(found["detail"])
    except (ValueError, KeyError, TypeError):
        type_, detail = "bad-answer", f"the market answered {response.status_code} {response.reason_phrase}"
    return _ERRORS.get(response.status_code, MarketError)(type_, detail)
