"""A market under a path of a host: ``https://town.example/market``.

Everything inside writes addresses from its own root. Here, and where pages are made, they are moved under the prefix;
a proxy may pass the prefix on or take it off. Cookies are for the whole host, as ``__Host-`` has it.
"""

from __future__ import annotations

import re
from typing import final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LINKS = re.compile(r'(\s(?:href|src|action|formaction|data-[a-z-]+)=")/(?!/)')


def under(prefix: str, html: str) -> str:
    """A page whose links from the root are moved under a prefix.

    Text that people wrote cannot look like a link here: its quotation marks are escaped.

    >>> under("/market", '<a href="/owner">')
    '<a href="/market/owner">'
    """
    return _LINKS.sub(rf"\1{prefix}/", html) if prefix else html


@final
class Mounted:
    """ASGI middleware: takes the prefix off what is asked for, and puts it on where an answer sends people."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app, self._prefix = app, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._prefix:
            await self._app(scope, receive, send)
            return
        path = str(scope["path"])
        if path == self._prefix or path.startswith(self._prefix + "/"):
            inside = path[len(self._prefix) :] or "/"
            scope = {**scope, "path": inside, "raw_path": inside.encode()}

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [self._moved(*header) for header in message["headers"]]}
            await send(message)

        await self._app(scope, receive, sending)

    def _moved(self, name: bytes, value: bytes) -> tuple[bytes, bytes]:
        inside = name.lower() == b"location" and value.startswith(b"/") and not value.startswith(b"//")
        return name, self._prefix.encode() + value if inside else value
