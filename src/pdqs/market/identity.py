"""What is kept of a secret, who a row of the table is, and proof that a form came from a page of ours.

A secret has 256 bits from the operating system, so a plain SHA-256 is enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Literal, final

from pydantic import Field
from sqlalchemy import select

from pdqs.market.context import Market
from pdqs.market.store.schema import server_keys
from pdqs.market.store.sql import Found, insert_missing
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import NotFoundError, ProblemType

ID_DIGITS = 24
"""How many digits of a hash are in a name made from it."""
SECRET_LETTERS = 43
"""How many letters a one-time code has."""


def hashed(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def short_id(prefix: str, digest: str) -> str:
    """A name to speak of something by that is kept under a hash: the beginning of it, which opens nothing.

    >>> short_id("s", "0123456789abcdef" * 4)
    's_0123456789abcdef01234567'
    """
    return f"{prefix}_{digest[:ID_DIGITS]}"


def no_sign_in() -> NotFoundError:
    """The answer to whoever speaks of a sign-in that is not hers, or is over."""
    return NotFoundError(ProblemType.NO_SIGN_IN, "you have no such sign-in: it may have ended already")


@final
class SignedIn(User):
    """A user as she calls: who she is, and by which token or session, named by its hash. That part is never sent."""

    kind: Literal["token", "session"] = Field(exclude=True, repr=False)
    digest: str = Field(exclude=True, repr=False)

    @staticmethod
    def by(kind: Literal["token", "session"], digest: str, row: Found) -> SignedIn:
        """The user of a row, who calls by this."""
        who = {"user_id": row.user_id, "role": row.role, "name": row.name, "created_at_ms": row.created_at_ms}
        return SignedIn.model_validate({**who, "kind": kind, "digest": digest})

    def __eq__(self, other: object) -> bool:
        """However she came in, she is the same user."""
        return isinstance(other, User) and self.model_dump() == other.model_dump()

    __hash__ = User.__hash__


def user_from(row: Found) -> User:
    """A user as the table holds her."""
    return User(user_id=row.user_id, role=row.role, name=row.name, created_at_ms=row.created_at_ms)


def new_secret_word() -> str:
    """256 random bits to type on a command line, where a word that begins with a dash would be read as an option."""
    word = secrets.token_urlsafe(32)
    while word.startswith("-"):
        word = secrets.token_urlsafe(32)
    return word


def form_token(market: Market, purpose: str, cookie: str) -> str:
    """What a form must bring to prove that it came from a page of ours: made from the cookie by the server's key."""
    return hmac.new(server_key(market, "forms"), f"{purpose}:{cookie}".encode(), hashlib.sha256).hexdigest()


def is_form_token(market: Market, purpose: str, cookie: str, given: str) -> bool:
    """Whether a form brought the token of its cookie; without a cookie nothing is the right one."""
    expected = form_token(market, purpose, cookie)
    return bool(cookie) and hmac.compare_digest(expected.encode(), given.encode())


def server_key(market: Market, purpose: str) -> bytes:
    """A key of the market's own (``forms``: of form tokens; ``ids``: of people's ids), one for all its processes.

    It is made when it is first needed: not while a transaction is open.
    """
    known = market.keys.get(purpose)
    if known is None:
        with market.store.write() as connection:
            insert_missing(connection, server_keys, [{"purpose": purpose, "key": secrets.token_hex(32)}])
            kept = connection.scalar(select(server_keys.c.key).where(server_keys.c.purpose == purpose))
        known = market.keys[purpose] = bytes.fromhex(str(kept))
    return known
