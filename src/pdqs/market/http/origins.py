"""Devices from elsewhere: pages of named origins may speak to the owner's part of the API, by token alone.

Cross-origin resource sharing (CORS) without credentials. A cookie that comes along with a request from another origin
is taken off before anyone looks at it, so that a session of this market's own pages cannot be used from another page.
"""

from __future__ import annotations

import re
from typing import final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pdqs.market.settings import Settings

_OWNERS = re.compile(
    rb"/v1/(tokens|me|statement|notices(/[a-z0-9_]{1,40})?|rounds/[a-z0-9_]{1,40}/(mine|bid|offer|report))"
)
_ALLOWED = [
    (b"access-control-allow-methods", b"GET, PUT, POST, DELETE"),
    (b"access-control-allow-headers", b"authorization, content-type"),
    (b"access-control-max-age", b"600"),
]


@final
class DeviceOrigins:
    """ASGI middleware: answers for the origins in the settings, separated by spaces; any other is told nothing."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._origins = frozenset(origin.encode() for origin in settings.device_origins.split())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        origin = dict(scope["headers"]).get(b"origin") if scope["type"] == "http" else None
        if origin not in self._origins or not _OWNERS.fullmatch(scope["path"].encode()):
            await self._app(scope, receive, send)
            return
        shared = [(b"access-control-allow-origin", origin), (b"vary", b"Origin")]
        if scope["method"] == "OPTIONS":
            await send({"type": "http.response.start", "status": 204, "headers": [*shared, *_ALLOWED]})
            await send({"type": "http.response.body", "body": b""})
            return

        async def sharing(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *shared]}
            await send(message)

        bare = [(name, value) for name, value in scope["headers"] if name != b"cookie"]
        await self._app({**scope, "headers": bare}, receive, sharing)
