"""Errors that are answered before the framework has a say: for programs in the one shape, for people as a page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import final

from starlette.types import Scope, Send

from pdqs.protocol.problems import PROBLEM_JSON, ProblemType, problem_json

Pairs = Iterable[tuple[bytes, bytes]]
"""Headers, by name and value."""


def asks_for_a_page(scope: Scope) -> bool:
    """Whether a browser asks for a page, and not a program for an answer."""
    accepted: bytes = dict(scope["headers"]).get(b"accept", b"")
    return b"text/html" in accepted and not str(scope["path"]).startswith("/v1/")


TITLES = {
    400: "This could not be read",
    401: "Please sign in",
    403: "This is not allowed",
    404: "Not found",
    409: "Not as things stand",
    413: "This is too much",
    422: "Something is missing or wrong",
    429: "A little slower, please",
    500: "Something went wrong here",
    503: "Not just now",
}


def title_of(status: int) -> str:
    """What a person reads above an error, where programs are told its name.

    >>> title_of(403), title_of(418)
    ('This is not allowed', 'This did not work')
    """
    return TITLES.get(status, "This did not work")


_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,'
    ' initial-scale=1"><meta name="color-scheme" content="light dark"><title>{title} · pdqs market</title>'
    '<link rel="stylesheet" href="{prefix}/static/style.css"></head><body><main class="wrap"><h1>{title}</h1>'
    '<p class="lead">{said}</p><p>Go back to the page before: what you typed is still there. Or'
    ' <a href="{prefix}/">start again</a>.</p></main></body></html>'
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Where an answer from outside the framework goes, and who asked; ``prefix`` is the market's path."""

    scope: Scope
    send: Send
    prefix: str

    async def refuse(self, status: int, type_: ProblemType, title: str, detail: str, headers: Pairs = ()) -> None:
        """An error of the one shape for programs; for people a page."""
        kind, body = PROBLEM_JSON, problem_json(status, type_, title, detail)
        if asks_for_a_page(self.scope):
            said = f"{detail[:1].upper()}{detail[1:]}."
            kind = "text/html; charset=utf-8"
            body = _PAGE.format(title=escape(title_of(status)), said=escape(said), prefix=escape(self.prefix)).encode()
        head = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode()), *headers]
        await self.send({"type": "http.response.start", "status": status, "headers": head})
        await self.send({"type": "http.response.body", "body": body})
