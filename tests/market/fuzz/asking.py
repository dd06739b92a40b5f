"""A request as it goes over the wire, and what comes back, without a socket in between."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urlencode

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Asked:
    """One request. ``path`` is as it is typed, with its escapes; header names are small letters."""

    method: str
    path: str
    query: Pairs = ()
    headers: dict[str, bytes] = field(default_factory=dict)
    body: bytes = b""

    @property
    def plain_path(self) -> str:
        """The path that the server sees."""
        return unquote(self.path)


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes


def form(fields: dict[str, str]) -> bytes:
    """The fields of a form, as a browser sends them."""
    return urlencode(fields, errors="surrogatepass").encode()


async def ask(app: Any, asked: Asked) -> Answer:
    """Have an application answer, as its server would."""
    told: dict[str, Any] = {"body": b""}
    given = [{"type": "http.request", "body": asked.body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return given.pop() if given else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            told["status"], told["headers"] = message["status"], dict(message["headers"])
        else:
            told["body"] += message.get("body", b"")

    headers = {"host": b"market.example", **asked.headers}
    if asked.body or asked.method in ("POST", "PUT"):
        headers.setdefault("content-length", str(len(asked.body)).encode())
    path = quote(asked.path, safe="%/:?#[]@!$&'()*+,;=~", errors="surrogatepass")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": asked.method,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": urlencode(asked.query, errors="surrogatepass").encode(),
        "headers": [(name.encode("latin-1"), value) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("market.example", 80),
        "scheme": "http",
        "root_path": "",
    }
    try:
        await app(scope, receive, send)
    except Exception as fault:  # a server logs it and, where nothing was said yet, answers 500
        told = {"status": 500, "headers": {}, **told, "body": told["body"] + repr(fault).encode()}
    return Answer(told["status"], told["headers"], told["body"])
