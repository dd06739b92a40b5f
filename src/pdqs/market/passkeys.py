"""Passkeys (WebAuthn): a key pair whose private half stays in her phone, her computer or a security key.

The market keeps the public half and checks signatures with a maintained library. A challenge is made from a cookie by
the server's key and holds its own time, so that nothing is kept when it is given out; an answer uses it up.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import final
from urllib.parse import urlsplit

from sqlalchemy import Connection, delete, select, update

from pdqs.market import page_sessions, trail
from pdqs.market.context import Market
from pdqs.market.identity import ID_DIGITS, form_token, hashed, is_form_token, short_id, user_from
from pdqs.market.page_sessions import Session
from pdqs.market.revocation import hold_people, require_signed_in
from pdqs.market.settings import Settings
from pdqs.market.store.schema import passkeys, spent_challenges
from pdqs.market.store.sql import insert_new
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import ConflictError, ForbiddenError, ProblemType, UnauthorizedError
from pdqs.protocol.sign_ins import KeptPasskey

MOST_PASSKEYS = 10
"""How many a user may have at a time."""

FRESH_MS = 600_000
"""How long a sign-in counts as just made."""
_GOOD_FOR_MS = 600_000
_TIME_BYTES = 8


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where passkeys are good: a name (the relying party's id) and the origin of its pages."""

    site: str
    origin: str


def place_of(settings: Settings, scheme: str, host: str) -> Place | None:
    """The place of a request: the public address if it has TLS, or this very machine; elsewhere browsers have none.

    >>> place_of(Settings(public_url="https://market.example/"), "http", "10.0.0.7:8000")
    Place(site='market.example', origin='https://market.example')
    >>> place_of(Settings(), "http", "localhost:8000").site, place_of(Settings(), "http", "127.0.0.1:8000")
    ('localhost', None)
    """
    public = urlsplit(settings.public_url)
    if public.scheme == "https" and public.hostname:
        return Place(site=public.hostname, origin=settings.origin)
    if host.partition(":")[0] == "localhost" and not settings.public_url:
        return Place(site="localhost", origin=f"{scheme}://{host}")
    return None


def options_to_sign_in(market: Market, place: Place, cookie: str) -> str:
    """What a browser needs to ask for a passkey, as JSON."""
    from webauthn import generate_authentication_options, options_to_json
    from webauthn.helpers.structs import UserVerificationRequirement

    return options_to_json(
        generate_authentication_options(
            rp_id=place.site,
            challenge=_challenge(market, "passkey-enter", cookie),
            user_verification=UserVerificationRequirement.REQUIRED,
        )
    )


def options_to_add(market: Market, place: Place, session: Session) -> str:
    """What a browser needs to make a passkey for whoever is signed in, as JSON."""
    from webauthn import generate_registration_options, options_to_json
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    with market.store.read() as connection:
        held = _ids(connection, session.user.user_id)
    selection = AuthenticatorSelectionCriteria(
        resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
    )
    return options_to_json(
        generate_registration_options(
            rp_id=place.site,
            rp_name="pdqs market",
            user_name=f"{session.user.name} ({session.user.role})",
            user_id=session.user.user_id.encode(),
            challenge=_challenge(market, "passkey-add", session.cookie),
            authenticator_selection=selection,
            exclude_credentials=[PublicKeyCredentialDescriptor(id=_bytes(one)) for one in held],
        )
    )


def add_passkey(market: Market, place: Place, session: Session, credential: str, name: str) -> None:
    """Keep the public half of a passkey that a browser has made."""
    from webauthn import verify_registration_response

    challenge = _answered(market, "passkey-add", session.cookie, credential)
    try:
        made = verify_registration_response(
            credential=credential,
            expected_challenge=challenge,
            expected_rp_id=place.site,
            expected_origin=place.origin,
            require_user_verification=True,
        )
    except Exception as fault:  # a parser of whatever a stranger sent: anything it raises is a no
        raise _refused() from fault
    user_id, now = session.user.user_id, market.clock()
    with market.store.write() as connection:
        require_signed_in(connection, session.user)
        _spend(market, connection, challenge)
        if len(_ids(connection, user_id)) >= MOST_PASSKEYS:
            raise ConflictError(ProblemType.TOO_MANY, f"you have {MOST_PASSKEYS} passkeys, the most: remove one first")
        row = {"credential_id": _text(made.credential_id), "user_id": user_id, "site": place.site, "name": name}
        known = {"public_key": _text(made.credential_public_key), "sign_count": made.sign_count, "created_at_ms": now}
        if not insert_new(connection, passkeys, {**row, **known}):
            raise _refused()
        trail.note(connection, user_id, "passkey", by=session.made_by or user_id, at_ms=now)


def enter_with_passkey(market: Market, place: Place, cookie: str, credential: str, *, device: str = "") -> Session:
    """Begin a page session for whoever holds the private half of a passkey that is kept here."""
    from webauthn import verify_authentication_response

    challenge = _answered(market, "passkey-enter", cookie, credential)
    known = passkeys.c.credential_id == _credential_id(credential)
    with market.store.write() as connection:
        row = connection.execute(select(passkeys).where(known, passkeys.c.site == place.site)).one_or_none()
        if row is None:
            raise _refused()
        try:
            shown = verify_authentication_response(
                credential=credential,
                expected_challenge=challenge,
                expected_rp_id=place.site,
                expected_origin=place.origin,
                credential_public_key=_bytes(row.public_key),
                credential_current_sign_count=row.sign_count,
                require_user_verification=True,
            )
        except Exception as fault:  # as above
            raise _refused() from fault
        _spend(market, connection, challenge)
        now, user = market.clock(), _open_account(connection, row.user_id)
        used = update(passkeys).where(known).values(sign_count=shown.new_sign_count, used_at_ms=now)
        if connection.execute(used).rowcount == 0:  # it was ended while this was looked at
            raise _refused()
        trail.note(connection, user.user_id, "session", by=user.user_id, at_ms=now)
        begun = page_sessions.begin(market, connection, user, by=user.user_id, device=device)
    return page_sessions.session_of(market, begun)


def require_fresh(market: Market, session: Session) -> None:
    """Reauthentication: before something is made that outlives a session, or a passkey or an account is ended, whoever
    has a passkey shows it again.

    A session that began in the last minutes needs nothing more; nor does an account without a passkey, which has
    nothing to show. Whoever has lost hers comes in by a new code, and that session is fresh.
    """
    if must_show(market, session):
        detail = "show your passkey first, on the page of your account: this session began a while ago"
        raise ForbiddenError(ProblemType.SIGN_IN_AGAIN, detail)


def must_show(market: Market, session: Session) -> bool:
    """Whether it is her passkey's turn: it is there, and this session did not begin just now."""
    if market.clock() - session.started_at_ms <= FRESH_MS:
        return False
    with market.store.read() as connection:
        return bool(_ids(connection, session.user.user_id))


def is_passkey(sign_in_id: str) -> bool:
    """Whether this names a passkey among someone's sign-ins.

    >>> is_passkey("p_" + "0" * 24), is_passkey("s_" + "0" * 24)
    (True, False)
    """
    return sign_in_id.startswith("p_")


def show_again(market: Market, place: Place, session: Session, credential: str, *, device: str = "") -> Session:
    """A fresh session in the place of this one, for its own user who shows her passkey again."""
    fresh = enter_with_passkey(market, place, session.cookie, credential, device=device)
    page_sessions.end_session(market, session.cookie if fresh.user == session.user else fresh.cookie)
    if fresh.user != session.user:
        raise _refused()
    return fresh


def kept_passkeys(connection: Connection, user_id: str) -> list[KeptPasskey]:
    """The passkeys of a user, newest first."""
    hers = select(passkeys).where(passkeys.c.user_id == user_id).order_by(passkeys.c.created_at_ms.desc())
    return [
        KeptPasskey(
            sign_in_id=short_id("p", hashed(row.credential_id)),
            name=row.name,
            created_at_ms=row.created_at_ms,
            used_at_ms=row.used_at_ms,
        )
        for row in connection.execute(hers)
    ]


def end_passkeys(connection: Connection, user_id: str) -> None:
    """Forget every passkey of a user."""
    connection.execute(delete(passkeys).where(passkeys.c.user_id == user_id))


def end_one_passkey(connection: Connection, user_id: str, part: str) -> bool:
    """Forget the passkey of a user whose id's hash begins so; whether there was one."""
    held = _ids(connection, user_id)
    ended = [one for one in held if hashed(one)[:ID_DIGITS] == part]
    connection.execute(delete(passkeys).where(passkeys.c.credential_id.in_(ended)))
    return bool(ended)


def _ids(connection: Connection, user_id: str) -> list[str]:
    return list(connection.scalars(select(passkeys.c.credential_id).where(passkeys.c.user_id == user_id)))


def _challenge(market: Market, purpose: str, cookie: str) -> bytes:
    """A time, and the server's word that it gave it out to whoever holds this cookie."""
    return _signed(market, purpose, cookie, market.clock().to_bytes(_TIME_BYTES, "big"))


def _signed(market: Market, purpose: str, cookie: str, time: bytes) -> bytes:
    return time + bytes.fromhex(form_token(market, f"{purpose}:{time.hex()}", cookie))


def _answered(market: Market, purpose: str, cookie: str, credential: str) -> bytes:
    """The challenge that a credential answers, if it is one of ours, for this cookie and of the last minutes."""
    try:
        told = json.loads(_bytes(json.loads(credential)["response"]["clientDataJSON"]))
        challenge = _bytes(told["challenge"])
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise _refused() from fault
    time, word = challenge[:_TIME_BYTES], challenge[_TIME_BYTES:]
    fresh = 0 <= market.clock() - int.from_bytes(time, "big") <= _GOOD_FOR_MS
    if not fresh or not is_form_token(market, f"{purpose}:{time.hex()}", cookie, word.hex()):
        raise UnauthorizedError(ProblemType.BAD_PASSKEY, "this took too long: reload the page and try again")
    return challenge


def _spend(market: Market, connection: Connection, challenge: bytes) -> None:
    """Use a challenge up; one that was used before is refused."""
    now = market.clock()
    connection.execute(delete(spent_challenges).where(spent_challenges.c.expires_at_ms <= now))
    row = {"challenge_hash": hashlib.sha256(challenge).hexdigest(), "expires_at_ms": now + 2 * _GOOD_FOR_MS}
    if not insert_new(connection, spent_challenges, row):
        raise _refused()


def _open_account(connection: Connection, user_id: str) -> User:
    row = hold_people(connection, user_id)[user_id]
    if row.disabled_at_ms is not None:
        raise _refused()
    return user_from(row)


def _credential_id(credential: str) -> str:
    """The id of a credential, spelled as it is kept."""
    try:
        return _text(_bytes(json.loads(credential)["rawId"]))
    except (ValueError, KeyError, TypeError) as fault:
        raise _refused() from fault


def _refused() -> UnauthorizedError:
    return UnauthorizedError(ProblemType.BAD_PASSKEY, "this passkey is not known here, or was not shown rightly")


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    if not isinstance(text, str):
        raise ValueError("not text")
    return base64.urlsafe_b64decode(text.encode("ascii") + b"==")
