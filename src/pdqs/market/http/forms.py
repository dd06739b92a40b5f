"""Forms of our own pages only: a browser says where a request comes from, and one from elsewhere is turned away.

A second lock beside the tokens in the forms. Programs say nothing of the kind and carry nobody's cookies; they pass.
"""

from __future__ import annotations

from typing import final

from starlette.types import ASGIApp, Receive, Scope, Send

from pdqs.market.http.plain_answers import Asked
from pdqs.market.settings import Settings
from pdqs.protocol.problems import ProblemType

_LOOKING = frozenset({"GET", "HEAD", "OPTIONS"})


@final
class OwnForms:
    """ASGI middleware: what would change something by a form or a cookie must come from this very site."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._public, self._prefix = app, settings.origin.encode(), settings.prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in _LOOKING or self._is_own(scope):
            await self._app(scope, receive, send)
            return
        detail = "this form was sent from another site: use this market's own pages"
        asked = Asked(scope=scope, send=send, prefix=self._prefix)
        await asked.refuse(403, ProblemType.OTHER_SITE, "Forbidden", detail)

    def _is_own(self, scope: Scope) -> bool:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if scope["path"].startswith("/v1/") and b"cookie" not in headers:
            return True  # by token or by one-time code, which no browser adds by itself
        if headers.get(b"sec-fetch-site", b"same-origin") not in (b"same-origin", b"none"):
            return False
        origin = headers.get(b"origin")
        return origin is None or origin.lower() == (self._public or self._here(scope, headers))

    @staticmethod
    def _here(scope: Scope, headers: dict[bytes, bytes]) -> bytes:
        return str(scope["scheme"]).encode() + b"://" + headers.get(b"host", b"").lower()
