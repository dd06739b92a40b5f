"""Page sessions: each lasts while it is used (an idle timeout that slides) and never beyond its absolute end."""

from __future__ import annotations

import hmac
import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import final

from sqlalchemy import Connection, bindparam, delete, select, update
from sqlalchemy.exc import OperationalError

from pdqs.market.context import Market
from pdqs.market.identity import SignedIn, form_token, hashed, short_id
from pdqs.market.settings import Settings
from pdqs.market.store.schema import sessions, users
from pdqs.protocol.market_messages import Role, User
from pdqs.protocol.problems import ForbiddenError, ProblemType, UnauthorizedError
from pdqs.protocol.sign_ins import PageSignIn

COOKIE = "pdqs_session"
_HOUR_MS = 3_600_000
_NOTED_MS = 60_000
_LEAST_PART = 4


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A page session. ``csrf_token`` is made from the cookie by the server's key: only our own pages can say it."""

    user: User
    cookie: str
    csrf_token: str
    expires_at_ms: int
    """Its absolute end, however much it is used."""
    started_at_ms: int
    made_by: str = ""
    """Who made the code that it began with; herself, when she came in by a passkey."""

    @property
    def sign_in_id(self) -> str:
        """The name of this session in the list of her sign-ins."""
        return short_id("s", hashed(self.cookie))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a session lasts unused, and at most."""

    idle_ms: int
    whole_ms: int


def limits_of(settings: Settings, role: Role) -> Limits:
    """The limits for a role: an operator moves money, so hers are shorter.

    >>> limits_of(Settings(), "owner").idle_ms // 3_600_000, limits_of(Settings(), "operator").whole_ms // 3_600_000
    (168, 12)
    """
    whole = settings.session_hours if role != "operator" else settings.operator_session_hours
    idle = min(settings.session_idle_hours, whole)
    return Limits(idle_ms=int(idle * _HOUR_MS), whole_ms=int(whole * _HOUR_MS))


def start_session(market: Market, user: User, *, device: str = "") -> Session:
    """Begin a page session."""
    with market.store.write() as connection:
        cookie = begin(market, connection, user, by=user.user_id, device=device)
    return session_of(market, cookie)


def begin(market: Market, connection: Connection, user: User, *, by: str, device: str) -> str:
    """The cookie of a session that begins in a transaction under way; those that have run out are forgotten."""
    now, limits = market.clock(), limits_of(market.settings, user.role)
    cookie = secrets.token_urlsafe(32)
    unused = sessions.c.seen_at_ms <= now - int(market.settings.session_idle_hours * _HOUR_MS)
    connection.execute(delete(sessions).where((sessions.c.expires_at_ms <= now) | unused))
    row = {"cookie_hash": hashed(cookie), "user_id": user.user_id, "device": device, "made_by": by}
    times = {"started_at_ms": now, "seen_at_ms": now, "expires_at_ms": now + limits.whole_ms}
    connection.execute(sessions.insert(), {**row, **times})
    return cookie


# Made once: every page asks this, and to write the statement takes longer than to answer it.
_BY_COOKIE = (
    select(users, *(sessions.c[name] for name in ("expires_at_ms", "seen_at_ms", "started_at_ms", "made_by")))
    .join(sessions, sessions.c.user_id == users.c.user_id)
    .where(
        sessions.c.cookie_hash == bindparam("cookie_hash", type_=sessions.c.cookie_hash.type),
        users.c.disabled_at_ms.is_(None),
    )
)


def session_of(market: Market, cookie: str) -> Session:
    """The session behind a cookie, which is good for the idle time again from now."""
    digest, now = hashed(cookie), market.clock()
    with market.store.look() as connection:
        row = connection.execute(_BY_COOKIE, {"cookie_hash": digest}).one_or_none()
    if row is None or now >= _end(market.settings, row.role, row.seen_at_ms, row.expires_at_ms):
        raise UnauthorizedError(ProblemType.NO_SESSION, "sign in first: the session is unknown or has run out")
    market.callers.note_whose(digest, row.user_id)
    idle_ms = limits_of(market.settings, row.role).idle_ms
    if now - row.seen_at_ms >= min(_NOTED_MS, idle_ms // _LEAST_PART):
        _note_use(market, digest, now)
    csrf_token, user = form_token(market, "csrf", cookie), SignedIn.by("session", digest, row)
    times = {"expires_at_ms": row.expires_at_ms, "started_at_ms": row.started_at_ms}
    return Session(user=user, cookie=cookie, csrf_token=csrf_token, made_by=row.made_by, **times)


def end_session(market: Market, cookie: str) -> None:
    """Sign out."""
    with market.store.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.cookie_hash == hashed(cookie)))


def end_sessions(connection: Connection, *user_ids: str) -> None:
    """Sign users out everywhere."""
    connection.execute(delete(sessions).where(sessions.c.user_id.in_(user_ids)))


def end_one(connection: Connection, user_id: str, part: str) -> bool:
    """End the session of a user whose hash begins so; whether there was one."""
    hers = (sessions.c.user_id == user_id) & sessions.c.cookie_hash.startswith(part, autoescape=True)
    return connection.execute(delete(sessions).where(hers)).rowcount > 0


def listed(market: Market, connection: Connection, user: User) -> list[PageSignIn]:
    """The sessions of a user that still run, last used first."""
    hers = select(sessions).where(sessions.c.user_id == user.user_id).order_by(sessions.c.seen_at_ms.desc())
    found = [
        PageSignIn(
            sign_in_id=short_id("s", row.cookie_hash),
            device=row.device,
            started_at_ms=row.started_at_ms,
            seen_at_ms=row.seen_at_ms,
            ends_at_ms=_end(market.settings, user.role, row.seen_at_ms, row.expires_at_ms),
        )
        for row in connection.execute(hers)
    ]
    return [one for one in found if market.clock() < one.ends_at_ms]


def check_csrf(session: Session, given: str) -> None:
    """Refuse a request that another site made in the user's name."""
    if not hmac.compare_digest(session.csrf_token.encode(), given.encode()):
        raise ForbiddenError(ProblemType.BAD_CSRF_TOKEN, "the form has run out: reload the page and try again")


def _end(settings: Settings, role: Role, seen_at_ms: int, expires_at_ms: int) -> int:
    """When a session ends if it is not used again."""
    return min(expires_at_ms, seen_at_ms + limits_of(settings, role).idle_ms)


def _note_use(market: Market, digest: str, now: int) -> None:
    """Keep when a session was last used, unless the database is busy: the next request will."""
    with suppress(OperationalError), market.store.try_write() as connection:
        if connection is not None:
            connection.execute(update(sessions).where(sessions.c.cookie_hash == digest).values(seen_at_ms=now))
