"""What a party to the market can be told, as one tree with the HTTP status of each, and the one shape it travels in.

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

from enum import StrEnum
from http import HTTPStatus
from typing import ClassVar, final

from pdqs.model.errors import PdqsError
from pdqs.protocol.device_messages import Message

PROBLEM_JSON = "application/problem+json"


@final
class ProblemType(StrEnum):
    """Every stable word that a problem can have as its type. Programs compare these; people read the detail."""

    # Who is calling
    NO_CREDENTIAL = "no-credential"
    BAD_TOKEN = "bad-token"
    BAD_CODE = "bad-code"
    BAD_PASSKEY = "bad-passkey"
    NO_SESSION = "no-session"
    SIGN_IN_AGAIN = "sign-in-again"
    BAD_CSRF_TOKEN = "bad-csrf-token"
    OTHER_SITE = "other-site"
    WRONG_ROLE = "wrong-role"

    # What is not there, or not the caller's to see
    NO_USER = "no-user"
    NO_SIGN_IN = "no-sign-in"
    NO_LETTER = "no-letter"
    NO_GROUP = "no-group"
    NO_TRANSACTION = "no-transaction"
    NO_ROUND = "no-round"
    NO_ANSWER = "no-answer"
    NO_RECORD = "no-record"
    NO_BID = "no-bid"
    NO_OFFER = "no-offer"
    NO_REPORT = "no-report"
    NO_STEP = "no-step"
    NO_MOVE = "no-move"
    NO_BATCH = "no-batch"
    NO_PAYOUT = "no-payout"
    NO_FORMAT = "no-format"
    NO_MODULE = "no-module"

    # What a round's state, the clock or an earlier request stands against
    NOT_OPEN = "not-open"
    NOT_CLEARED = "not-cleared"
    TOO_EARLY = "too-early"
    TOO_LATE = "too-late"
    CANCELLED = "cancelled"
    STUCK = "stuck"
    BIDS_CLOSED = "bids-closed"
    BID_STANDS = "bid-stands"
    BID_WITHDRAWN = "bid-withdrawn"
    REPORTS_CLOSED = "reports-closed"
    REPORT_STANDS = "report-stands"
    OTHER_TERMS = "other-terms"
    IDEMPOTENCY_KEY_REUSED = "idempotency-key-reused"
    INSUFFICIENT_FUNDS = "insufficient-funds"
    WRONG_ACCOUNT = "wrong-account"
    GROUP_TOO_SMALL = "group-too-small"
    NOT_REVERSIBLE = "not-reversible"
    ACCOUNT_DISABLED = "account-disabled"
    MONEY_TO_COME = "money-to-come"
    NO_NONCE = "no-nonce"
    TOO_MANY = "too-many"
    NOTHING_TO_PAY = "nothing-to-pay"

    # What was sent
    INVALID = "invalid"
    BAD_TERMS = "bad-terms"
    BAD_CURSOR = "bad-cursor"
    BAD_CONFIRMATION = "bad-confirmation"
    BAD_LIST = "bad-list"
    BAD_AMOUNT = "bad-amount"
    BAD_ADDRESS = "bad-address"
    NO_KEY = "no-key"
    BID_OUT_OF_RANGE = "bid-out-of-range"
    OTHER_NONCE = "other-nonce"
    CODE_OUT_OF_RANGE = "code-out-of-range"
    TOO_LARGE = "too-large"
    TOO_SLOW = "too-slow"
    TOO_MANY_REQUESTS = "too-many-requests"

    # HTTP itself, and faults
    BAD_REQUEST = "bad-request"
    NOT_FOUND = "not-found"
    METHOD_NOT_ALLOWED = "method-not-allowed"
    UNAVAILABLE = "unavailable"
    FAULT = "fault"

    # Said by a client about a market
    UNREACHABLE = "unreachable"
    BAD_ANSWER = "bad-answer"
    OTHER = "other"

    @staticmethod
    def read(word: str) -> ProblemType:
        """The type with this word; one that a newer market made up is ``OTHER``.

        >>> ProblemType.read("no-round"), ProblemType.read("no-moon")
        (<ProblemType.NO_ROUND: 'no-round'>, <ProblemType.OTHER: 'other'>)
        """
        return _BY_WORD.get(word, ProblemType.OTHER)

    @staticmethod
    def of_status(status: int) -> ProblemType:
        """The type of an answer that the web framework gives by itself.

        >>> ProblemType.of_status(405).value
        'method-not-allowed'
        """
        return ProblemType.read(HTTPStatus(status).phrase.lower().replace(" ", "-"))


_BY_WORD = {known.value: known for known in ProblemType}


class Problem(Message):
    """The one shape of an error (RFC 9457): ``type`` a stable word for programs, ``detail`` a sentence for people."""

    type: str
    title: str
    status: int
    detail: str


def problem_json(status: int, type_: ProblemType, title: str, detail: str) -> bytes:
    """The body of every error, wherever it is raised.

    >>> problem_json(404, ProblemType.NO_ROUND, "Not found", "there is no such round").decode()
    '{"type":"no-round","title":"Not found","status":404,"detail":"there is no such round"}'
    """
    return Problem(type=type_.value, title=title, status=status, detail=detail).model_dump_json().encode()


class MarketError(PdqsError):
    """The root. ``type`` is for programs; the message is a sentence for people."""

    status: ClassVar[int] = 400
    title: ClassVar[str] = "Bad request"

    def __init__(self, type_: ProblemType, detail: str) -> None:
        super().__init__(detail)
        self.type = type_

    def __reduce__(self) -> tuple[type[MarketError], tuple[ProblemType, str]]:
        """How it is carried from one process to another, whole."""
        return type(self), (self.type, str(self))


@final
class UnauthorizedError(MarketError):
    """The caller is not known."""

    status = 401
    title = "Unauthorized"


@final
class ForbiddenError(MarketError):
    """The caller is known, and may not."""

    status = 403
    title = "Forbidden"


@final
class NotFoundError(MarketError):
    """There is no such thing, as far as this caller can know."""

    status = 404
    title = "Not found"


@final
class ConflictError(MarketError):
    """What is there already stands against it."""

    status = 409
    title = "Conflict"


@final
class UnprocessableError(MarketError):
    """It reads well and means nothing that can be done."""

    status = 422
    title = "Unprocessable"


@final
class TooManyRequestsError(MarketError):
    """Slow down."""

    status = 429
    title = "Too many requests"


ERRORS: dict[int, type[MarketError]] = {
    kind.status: kind
    for kind in (
        UnauthorizedError,
        ForbiddenError,
        NotFoundError,
        ConflictError,
        UnprocessableError,
        TooManyRequestsError,
    )
}
"""The error of each status; any other status is a plain :class:`MarketError`."""
