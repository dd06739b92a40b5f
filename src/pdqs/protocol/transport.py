"""The one way to ask a market something: HTTP with retries, strict messages, and errors as what they were.

A request that can be sent twice without harm is sent again, with the same bytes, while the line breaks or the market
asks for patience (429, 502, 503, 504); the waits double, and ``Retry-After`` is heeded.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, Self, TypeVar

import httpx
from pydantic import ValidationError

from pdqs.present.text import printable, quoted
from pdqs.protocol.bounds import AMPLE, Bounds
from pdqs.protocol.device_messages import Message
from pdqs.protocol.market_messages import Redemption, Token
from pdqs.protocol.patience import Patience, SetAlarm, quiet_alarm
from pdqs.protocol.problems import ERRORS, MarketError, ProblemType, UnauthorizedError

Answer = TypeVar("Answer", bound=Message)
Item = TypeVar("Item")
Listed = TypeVar("Listed", covariant=True)


class Page(Protocol[Listed]):
    """A page of a list, and the cursor of the next."""

    @property
    def items(self) -> Sequence[Listed]: ...

    @property
    def next(self) -> str | None: ...


ATTEMPTS = 5
_FIRST_WAIT_SECONDS = 0.1
_TIMEOUT_SECONDS = 60.0
_PATIENCE = frozenset({429, 502, 503, 504})
_LONGEST_WAIT_SECONDS = 30.0
_MOST_PROBLEM_BYTES = 64 * 1024
"""Why something was refused is not read where it is longer than this."""
_MOST_SECONDS = 600.0
"""Nor waited for longer than this: one that says a byte a minute is cut off too."""
_MOST_PAGES = 200
_MOST_LIST_ITEMS = 20_000
_MOST_LIST_BYTES = 16 * 1024 * 1024


class Room:
    """What is left of the room that one list may take, over all of its pages: whoever never ends it fills nothing."""

    def __init__(self, items: int = _MOST_LIST_ITEMS, size: int = _MOST_LIST_BYTES) -> None:
        self._items, self._size = items, size
        self._most = f"{items:,} lines or {size / 2**20:,.0f} MB"

    def take(self, *, items: int = 0, size: int = 0) -> None:
        """Take so much of it, or refuse."""
        self._items, self._size = self._items - items, self._size - size
        if min(self._items, self._size) < 0:
            detail = f"the market's list is too long to be one: more than {self._most}"
            raise MarketError(ProblemType.BAD_ANSWER, detail)


class Transport:
    """One caller's line to one market. Close it, or use it in a ``with`` block.

    ``transport`` lets tests answer in the market's place; ``sleep`` is what waiting means, ``set_alarm`` what tells
    that an answer has taken too long, ``bounds`` what an answer may be that is read as a message.
    """

    def __init__(
        self,
        address: str,
        token: str = "",
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        set_alarm: SetAlarm = quiet_alarm,
        bounds: Bounds = AMPLE,
    ) -> None:
        headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._http = httpx.Client(base_url=address, headers=headers, timeout=_TIMEOUT_SECONDS, transport=transport)
        self._sleep, self._patience, self._bounds = sleep, Patience(_MOST_SECONDS, set_alarm), bounds

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_fault: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    @property
    def address(self) -> str:
        """Where the market is."""
        return str(self._http.base_url)

    def ask(
        self,
        kind: type[Answer],
        method: str,
        path: str,
        *,
        body: Message | bytes | None = None,
        params: Mapping[str, str | int] | None = None,
        key: str = "",
        attempts: int = ATTEMPTS,
        room: Room | None = None,
    ) -> Answer:
        """One request, and its answer as a message of this kind.

        ``key``: its Idempotency-Key, where one is needed; ``room``: what the answer may take, if it is of a list.
        """
        content = body.model_dump_json().encode() if isinstance(body, Message) else body
        headers = {"Content-Type": "application/json"} if content is not None else {}
        if key:
            headers["Idempotency-Key"] = key
        followed = {"trace": self._patience.heard}
        request = self._http.build_request(
            method, path, content=content, params=params, headers=headers, extensions=followed
        )
        return _parsed(kind, self._answered(request, attempts, self._bounds, room))

    def record(self, round_id: str) -> str:
        """The record of a settled round that the caller took part in, as it stands: for :func:`pdqs.verify`."""
        return self.text(f"/v1/rounds/{round_id}/record")

    def text(self, path: str) -> str:
        """What stands at this path, as it stands."""
        followed = {"trace": self._patience.heard}
        request = self._http.build_request("GET", path, extensions=followed)
        return self._answered(request, ATTEMPTS, AMPLE).decode(errors="replace")

    def redeem(self, code: str) -> Token:
        """Exchange a one-time code for a token. Sent once: a code is good once."""
        try:
            asked = Redemption(code=code)
        except ValidationError:
            raise UnauthorizedError(ProblemType.BAD_CODE, "this is not a one-time code: copy all of it") from None
        return self.ask(Token, "POST", "/v1/tokens", body=asked, attempts=1)

    def _answered(self, request: httpx.Request, attempts: int, bounds: Bounds, room: Room | None = None) -> bytes:
        for attempt in range(attempts):
            last = attempt == attempts - 1
            wait = _FIRST_WAIT_SECONDS * 2**attempt
            try:
                with self._patience.with_one_answer():
                    response = self._http.send(request, stream=True)
                    content = _bounded(response, self._patience, bounds, room)
            except httpx.TransportError as fault:
                if self._patience.is_over:
                    raise _endless() from None
                if last:
                    why = printable(re.sub(r"^\[Errno -?\d+\] ", "", str(fault)) or type(fault).__name__)
                    detail = f"the market at {self.address} cannot be reached: {why}"
                    raise MarketError(ProblemType.UNREACHABLE, detail) from None
            else:
                if response.is_success:
                    return content
                if last or response.status_code not in _PATIENCE:
                    raise _error_of(response, content)
                wait = max(wait, _seconds(response.headers.get("retry-after", "0")))
            self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")


def paged(page_after: Callable[[str | None], Page[Item]], room: Room | None = None) -> Iterator[Item]:
    """The items of every page. A market that never comes to an end, or goes in a circle, is not followed.

    ``room``: what they may take in all.
    """
    seen: set[str | None] = set()
    after: str | None = None
    while len(seen) < _MOST_PAGES:
        seen.add(after)
        page = page_after(after)
        if room is not None:
            room.take(items=len(page.items))
        yield from page.items
        after = page.next
        if after is None:
            return
        if after in seen:
            break
    raise MarketError(ProblemType.BAD_ANSWER, "the market's list has no end")


def _parsed(kind: type[Answer], content: bytes) -> Answer:
    try:
        return kind.model_validate_json(content)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False)[0]  # which could be long, and once for each fault
        detail = f"the market's {kind.__name__} is not one: {printable(first['msg'])}"
        if first["loc"] == ("items",) and first["type"] == "too_long":
            detail = (
                f"the market's list is too long to be one: more than {first['ctx']['max_length']:,} lines on a page"
            )
        raise MarketError(ProblemType.BAD_ANSWER, detail) from None


def _seconds(text: str) -> float:
    return min(float(text), _LONGEST_WAIT_SECONDS) if text.isascii() and text.isdigit() and len(text) < 9 else 0.0


def _endless() -> MarketError:
    return MarketError(ProblemType.BAD_ANSWER, "the market's answer does not come to an end")


def _bounded(response: httpx.Response, patience: Patience, bounds: Bounds, room: Room | None) -> bytes:
    """All of an answer, unless there is too much of it or it takes too long."""
    parts, size = [], 0
    try:
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            # Nobody asked for it, and a few bytes can be unpacked to more than any machine holds.
            raise MarketError(ProblemType.BAD_ANSWER, "the market's answer is packed, which nobody asked for")
        for part in response.iter_bytes():
            size += len(part)
            if size > bounds.size:
                raise MarketError(ProblemType.BAD_ANSWER, "the market's answer is too long to be one")
            if room is not None:
                room.take(size=len(part))
            if patience.is_over:
                raise _endless()
            parts.append(part)
    finally:
        response.close()
    content = b"".join(parts)
    if bounds.are_passed_by(content):
        raise MarketError(ProblemType.BAD_ANSWER, "the market's answer has too many parts to be one")
    return content


def _error_of(response: httpx.Response, content: bytes) -> MarketError:
    """The error that the market raised, or one that says that it gave no answer of its own."""
    try:
        found = json.loads(content if len(content) <= _MOST_PROBLEM_BYTES else b"{}")
        type_, detail = ProblemType.read(str(found.get("type"))), printable(str(found["detail"]))
        if type_ in (ProblemType.UNREACHABLE, ProblemType.BAD_ANSWER):  # what only this side says of the other
            type_ = ProblemType.OTHER
    except (ValueError, KeyError, AttributeError, RecursionError):
        type_ = ProblemType.UNREACHABLE  # so says a proxy that reaches no market: nothing was said by one
        words = f" {quoted(response.reason_phrase, 80)}" if response.reason_phrase else ""
        detail = f"the market answered {response.status_code}{words}"
    return ERRORS.get(response.status_code, MarketError)(type_, detail)
