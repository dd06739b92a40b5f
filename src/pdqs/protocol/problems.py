"""What a party to the market can be told, as one tree with the HTTP status of each.

::

    MarketError (400)
    ├── UnauthorizedError (401)        no token, a wrong one, or one that has run out
    ├── ForbiddenError (403)           the caller's role may not do this
    ├── NotFoundError (404)            no such object, or not the caller's to see
    ├── ConflictError (409)            the round's state, the clock, or an earlier request stands against it
    ├── UnprocessableError (422)       well formed, but it cannot be
    └── TooManyRequestsError (429)     ask again later
"""

from __future__ import annotations

from typing import ClassVar

from pdqs.errors import PdqsError


class MarketError(PdqsError):
    """The root. ``type`` is a stable word for programs; the message is a sentence for people."""

    status: ClassVar[int] = 400
    title: ClassVar[str] = "Bad request"

    def __init__(self, type_: str, detail: str) -> None:
        super().__init__(detail)
        self.type = type_


class UnauthorizedError(MarketError):
    """The caller is not known."""

    status = 401
    title = "Unauthorized"


class ForbiddenError(MarketError):
    """The caller is known, and may not."""

    status = 403
    title = "Forbidden"


class NotFoundError(MarketError):
    """There is no such thing, as far as this caller can know."""

    status = 404
    title = "Not found"


class ConflictError(MarketError):
    """What is there already stands against it."""

    status = 409
    title = "Conflict"


class UnprocessableError(MarketError):
    """It reads well and means nothing that can be done."""

    status = 422
    title = "Unprocessable"


class TooManyRequestsError(MarketError):
    """Slow down."""

    status = 429
    title = "Too many requests"
