"""How a device speaks to a market: stored bytes go out as they are, and the same on every retry."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self, final

import httpx
from pydantic import TypeAdapter, ValidationError

from pdqs.owner.statement import Money
from pdqs.protocol.bounds import OWNERS
from pdqs.protocol.device_messages import (
    BidReceipt,
    Identifier,
    Message,
    MyRound,
    Offer,
    OwnersReceipt,
    ReportReceipt,
    RoundNotice,
    Withdrawal,
)
from pdqs.protocol.market_messages import MOST_COUNTED_MICROS, Me, Posting, Statement, Token
from pdqs.protocol.problems import MarketError, NotFoundError, ProblemType
from pdqs.protocol.summaries import NoticePage, NoticeSummary
from pdqs.protocol.transport import Answer, Room, Transport, paged

_MOST_LINES = 200
"""Of a statement, to a page."""
_IDENTIFIER: TypeAdapter[str] = TypeAdapter(Identifier)


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
        self._line = Transport(market, token, transport=transport, sleep=sleep, bounds=OWNERS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_fault: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._line.close()

    def redeem(self, code: str) -> str:
        """Exchange a one-time code for a token. Not retried: a code is good once."""
        return self.redeem_as(code).token

    def redeem_as(self, code: str) -> Token:
        """The same, with whose it is: the one answer says both, so that no line can break in between."""
        made = self._line.redeem(code)
        if made.user.role != "owner":
            raise MarketError(
                ProblemType.WRONG_ROLE,
                f"this code was for a {made.user.role}, not for an owner, and is used up now: ask for another",
            )
        return made

    def account(self) -> Me:
        """Who the market takes this device for, and what it owes her."""
        return _in_full(self._line.ask(Me, "GET", "/v1/me"))

    def notices(self) -> list[NoticeSummary]:
        """Every round the owner may bid in or has bid in, newest first, in few words."""
        room = Room()
        return list(paged(lambda after: self._page(NoticePage, "/v1/notices", after, room), room))

    def statement(self) -> list[Posting]:
        """Every line of money that the market says it gave the owner or took from her, newest first."""
        return list(self.money().lines)

    def money(self) -> Money:
        """The same, with what the market says it owes her by the first page of it."""
        room, owed = Room(), []

        def page(after: str | None) -> Statement:
            found = self._page(Statement, "/v1/statement", after, room, limit=_MOST_LINES)
            owed.append(found.balance_micros)
            return found

        lines = list(paged(page, room))
        if sum(abs(line.amount_micros) for line in lines) > MOST_COUNTED_MICROS:
            detail = "the lines of the market's statement move more money than can be counted"
            raise MarketError(ProblemType.BAD_ANSWER, detail)
        return Money(balance_micros=owed[0], lines=lines)

    def _page(self, kind: type[Answer], path: str, after: str | None, room: Room, **more: int) -> Answer:
        params: dict[str, str | int] = {"after": after, **more} if after else {**more}
        return _in_full(self._line.ask(kind, "GET", path, params=params, room=room))

    def notice(self, round_id: str) -> RoundNotice:
        """One round."""
        return _in_full(self._line.ask(RoundNotice, "GET", f"/v1/notices/{_safe(round_id)}"))

    def mine(self, round_id: str) -> MyRound:
        """One round, and all that the market has of this owner in it."""
        return _in_full(self._line.ask(MyRound, "GET", f"/v1/rounds/{_safe(round_id)}/mine"))

    def offer(self, round_id: str) -> Offer:
        """What the market asks of this owner."""
        return _in_full(self._line.ask(Offer, "GET", f"/v1/rounds/{_safe(round_id)}/offer"))

    def record(self, round_id: str) -> str:
        """The record of a settled round that the owner bid in, as it stands."""
        return self._line.record(_safe(round_id))

    def bid_if_any(self, round_id: str) -> BidReceipt | None:
        """The bid that the market has of this owner in a round."""
        return _if_any(
            ProblemType.NO_BID, lambda: self._line.ask(BidReceipt, "GET", f"/v1/rounds/{_safe(round_id)}/bid")
        )

    def report_if_any(self, round_id: str) -> ReportReceipt | None:
        """The report that the market has of this owner in a round."""
        return _if_any(
            ProblemType.NO_REPORT, lambda: self._line.ask(ReportReceipt, "GET", f"/v1/rounds/{_safe(round_id)}/report")
        )

    def send_bid(self, round_id: str, body: bytes, after_ms: int = 0) -> BidReceipt:
        """Send a stored bid, made after the withdrawal of that time: with a later one it is refused."""
        path, order = f"/v1/rounds/{_safe(round_id)}/bid", {"after": after_ms}
        return _in_full(self._line.ask(BidReceipt, "PUT", path, body=body, params=order))

    def withdraw_bid(self, round_id: str, placed_at_ms: int) -> Withdrawal:
        """Take back the bid of this receipt (0: none has come), and those that are still on their way."""
        path, which = f"/v1/rounds/{_safe(round_id)}/bid", {"placed_at_ms": placed_at_ms}
        return _in_full(self._line.ask(Withdrawal, "DELETE", path, params=which))

    def send_report(self, round_id: str, body: bytes) -> ReportReceipt:
        """Send a stored report."""
        return _in_full(self._line.ask(ReportReceipt, "PUT", f"/v1/rounds/{_safe(round_id)}/report", body=body))


def _in_full(told: Answer) -> Answer:
    """A message that says each of its fields: what is left out, the browser's device would not take for said."""
    parts = [getattr(told, name) for name in type(told).model_fields] if isinstance(told, MyRound) else [told]
    if any(_leaves_out(part) for part in parts):
        raise MarketError(ProblemType.BAD_ANSWER, "the market leaves out a part of its answer")
    return told


def _leaves_out(told: object) -> bool:
    if isinstance(told, list):
        return any(_leaves_out(item) for item in told)
    if not isinstance(told, Message):
        return False
    names = type(told).model_fields
    if isinstance(told, OwnersReceipt) and not told.is_of_form_2:
        return not set(told.model_dump()) <= told.model_fields_set
    return not names.keys() <= told.model_fields_set or any(_leaves_out(getattr(told, name)) for name in names)


def _if_any(missing: ProblemType, asked: Callable[[], Answer]) -> Answer | None:
    try:
        return _in_full(asked())
    except NotFoundError as fault:
        if fault.type is not missing:
            raise
        return None


def _safe(round_id: str) -> str:
    """A round's id as part of a path; anything else could reach another route."""
    if not is_round_id(round_id):
        raise MarketError(ProblemType.NO_ROUND, f"{round_id!r} is not a round's id")
    return round_id


def is_round_id(text: str) -> bool:
    """Whether a market could have named a round so."""
    try:
        _IDENTIFIER.validate_python(text)
    except ValidationError:
        return False
    return True
