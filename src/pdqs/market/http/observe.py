"""What an operator sees of a running market: a JSON line a request, and counters. Never a bid, body or token."""

from __future__ import annotations

import json
import logging
import secrets
import sys
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import final

from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pdqs.market.http.cookies import is_secure
from pdqs.market.http.plain_answers import Asked
from pdqs.market.settings import Settings
from pdqs.model.errors import ensure
from pdqs.protocol.problems import ProblemType

LOGGER = logging.getLogger("pdqs.market")
_EDGES = (0.005, 0.02, 0.1, 0.5, 2.0)

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self';"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_SECURITY = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # with none at all, browsers would hide where our own forms come from
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


_FILES = ("/static/",)
"""Files of the package, the same for everybody: a browser may keep them, and asks whether they have changed."""

Headers = list[tuple[bytes, bytes]]


def log(event: str, **fields: str | float) -> None:
    """One line of the log. Callers pass names, counts and times; there is nothing here that could hold a bid."""
    if LOGGER.isEnabledFor(logging.INFO):
        LOGGER.info(json.dumps({"at_ms": time.time_ns() // 1_000_000, "event": event, **fields}))


def where(fault: BaseException) -> str:
    """The place a fault comes from: the line that asked for what did not hold. Its message is left out: it may quote
    what someone sent."""
    frames = [one for one in traceback.extract_tb(fault.__traceback__) if one.name != ensure.__name__]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown"


@final
class _IntoTheLog(logging.Handler):
    """What the server below has to say becomes a line of the log: its first line, which quotes nobody."""

    def emit(self, record: logging.LogRecord) -> None:
        fault = record.exc_info[1] if record.exc_info else None
        of_fault = {"kind": type(fault).__name__, "where": where(fault)} if fault is not None else {}
        log("server", said=record.getMessage().strip().partition("\n")[0], **of_fault)


def log_to_stderr() -> None:
    """Send the log to standard error, one bare JSON line each, and nothing else of this process."""
    for name in ("uvicorn", "asyncio"):
        below = logging.getLogger(name)
        below.handlers[:], below.propagate = [_IntoTheLog(logging.WARNING)], False
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    LOGGER.handlers[:] = [handler]
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False


@final
class Metrics:
    """Counters of one process in the Prometheus text format.

    Of several workers each has its own, under its own label: whichever answers, its lines go on from where they were,
    and the sum over ``worker`` is that of all.
    """

    def __init__(self, worker: str = "") -> None:
        self._lock = threading.Lock()
        self._worker = f'worker="{worker}"' if worker else ""
        self._requests: defaultdict[tuple[str, str, int], int] = defaultdict(int)
        self._buckets = [0] * (len(_EDGES) + 1)
        self._seconds = 0.0

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        with self._lock:
            self._requests[method, route, status] += 1
            self._buckets[sum(seconds > edge for edge in _EDGES)] += 1
            self._seconds += seconds

    def lines(self) -> Iterator[str]:
        """The counters as text."""
        with self._lock:
            requests, buckets, seconds = dict(self._requests), list(self._buckets), self._seconds
        yield "# TYPE pdqs_requests_total counter"
        for (method, route, status), count in sorted(requests.items()):
            labels = self._labels(f'method="{method}"', f'route="{route}"', f'status="{status}"')
            yield f"pdqs_requests_total{labels} {count}"
        yield "# TYPE pdqs_request_seconds histogram"
        below = 0
        for edge, inside in zip([*map(str, _EDGES), "+Inf"], buckets, strict=True):
            below += inside
            labels = self._labels(f'le="{edge}"')
            yield f"pdqs_request_seconds_bucket{labels} {below}"
        yield f"pdqs_request_seconds_sum{self._labels()} {seconds:.6f}"
        yield f"pdqs_request_seconds_count{self._labels()} {below}"

    def _labels(self, *labels: str) -> str:
        found = ",".join([*labels, *([self._worker] if self._worker else [])])
        return f"{{{found}}}" if found else ""


@final
class Observer:
    """ASGI middleware: an id, security headers, a log line and a count for every request."""

    def __init__(self, app: ASGIApp, metrics: Metrics, settings: Settings) -> None:
        self._app, self._metrics, self._settings = app, metrics, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, answered = time.perf_counter(), 500, False
        request_id = secrets.token_hex(8)

        async def sending(message: Message) -> None:
            nonlocal status, answered
            if message["type"] == "http.response.start":
                status, answered = message["status"], True
                added = [*self._added(scope, message["headers"]), (b"x-request-id", request_id.encode())]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as fault:
            log("fault", id=request_id, kind=type(fault).__name__, where=where(fault))
            if answered:
                raise
            detail = "the market has a fault; nothing was changed"
            asked = Asked(scope=scope, send=sending, prefix=self._settings.prefix)
            await asked.refuse(500, ProblemType.FAULT, "Internal Server Error", detail)
        finally:
            seconds = time.perf_counter() - started
            # The template of the route, not the address asked for: an address could carry anything.
            found = scope.get("route")
            route = found.path if isinstance(found, APIRoute) else _route_of_no_page(scope["path"], status)
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.count(method, route, status, seconds)
            log("request", id=request_id, method=method, route=route, status=status, ms=round(1000 * seconds, 2))

    def _added(self, scope: Scope, headers: Headers) -> Headers:
        """What every answer says besides: nothing of it may be kept on the way, unless it says itself that it may."""
        added = list(_SECURITY)
        if b"cache-control" not in {name.lower() for name, _ in headers}:
            added.append((b"cache-control", b"no-cache" if scope["path"].startswith(_FILES) else b"no-store"))
        if is_secure(self._settings, scope["scheme"]):
            added.append((b"strict-transport-security", b"max-age=31536000"))
        return added


def _route_of_no_page(path: str, status: int) -> str:
    """What the log calls a request that no route took: a file, or nothing that there is."""
    return _FILES[0] + "{file}" if path.startswith(_FILES) and status < 400 else "none"


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})
