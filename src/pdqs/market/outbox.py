"""The outbox: letters are put into it by the very transaction that they tell of, and taken out of it later.

A letter's id says what it tells of and to whom, so that nothing is told twice. Nobody has a letter who did not ask for
its kind. Sending is :mod:`pdqs.market.postman`'s; a letter that fails waits longer each time, and in the end it is dead
until the operator has it tried again.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import ColumnElement, Connection, Select, Text, and_, cast, delete, literal, select, update
from sqlalchemy.dialects import postgresql, sqlite

from pdqs.market import access
from pdqs.market.context import Market
from pdqs.market.letter_words import email_key
from pdqs.market.paging import LIMIT, newest_first
from pdqs.market.revocation import require_signed_in
from pdqs.market.store.schema import letter_choices, outbox, users
from pdqs.market.store.sql import Found, insert_new
from pdqs.protocol.letters import Channel, DeadLetter, DeadLetterPage, LetterKind
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import NotFoundError, ProblemType, TooManyRequestsError

PAUSES_MS = tuple(1000 * seconds for seconds in (60, 300, 1800, 7200, 43_200))
"""How long a letter waits after each attempt in vain; after one more it is dead."""

_CLAIM_MS = 120_000
_DAY_MS = 86_400_000
_KEPT_MS = 7 * _DAY_MS
_WORDS_A_DAY = 5
_CHANNELS: dict[Channel, ColumnElement[bool]] = {
    "email": and_(letter_choices.c.email != "", letter_choices.c.email_confirmed == 1),
    "webhook": letter_choices.c.webhook != "",
}


def tell(
    connection: Connection, kind: LetterKind, round_id: str, to: Select[tuple[str]], now_ms: int, part: str = ""
) -> None:
    """Put a letter into the outbox for each of these users who asked for its kind, once for every ``part``.

    ``to`` selects user ids. All of it is one statement for each channel, however many they are.
    """
    about = ":".join(filter(None, (kind, part, round_id)))
    for channel, reachable in _CHANNELS.items():
        wanted = letter_choices.c.kinds.contains(f" {kind} ", autoescape=True)
        theirs = select(
            literal(f"{about}:{channel}:") + letter_choices.c.user_id,
            letter_choices.c.user_id,
            *(cast(literal(value), Text) for value in (channel, kind, round_id, "waiting")),
            *(literal(moment) for moment in (now_ms, now_ms)),
        ).join_from(letter_choices, users)
        chosen = theirs.where(wanted, reachable, users.c.disabled_at_ms.is_(None), letter_choices.c.user_id.in_(to))
        names = ["letter_id", "user_id", "channel", "kind", "round_id", "state", "at_ms", "due_at_ms"]
        insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
        connection.execute(insert(outbox).from_select(names, chosen).on_conflict_do_nothing())


def tell_word(connection: Connection, user_id: str, email: str, now_ms: int) -> None:
    """A letter with the word that shows that an e-mail address is hers: one a day to an address, whoever asks for it.

    Whether somebody else asked before makes no difference that she could see: a row of hers is written in any case, and
    each counts among the few that one account may have a day.
    """
    hers = and_(outbox.c.user_id == user_id, outbox.c.kind == "word", outbox.c.at_ms > now_ms - _DAY_MS)
    if len(connection.execute(select(outbox.c.letter_id).where(hers).limit(_WORDS_A_DAY)).all()) >= _WORDS_A_DAY:
        raise TooManyRequestsError(
            ProblemType.TOO_MANY_REQUESTS,
            f"an e-mail address can be set {_WORDS_A_DAY} times a day: please wait until tomorrow",
        )
    row = {"user_id": user_id, "channel": "email", "kind": "word", "round_id": "", "at_ms": now_ms, "due_at_ms": now_ms}
    today = _word_of(email, now_ms)
    if not insert_new(connection, outbox, {**row, "letter_id": today, "state": "waiting"}):
        insert_new(connection, outbox, {**row, "letter_id": _beside(today), "state": "sent"})


def tell_word_again(connection: Connection, user_id: str, email: str, now_ms: int) -> None:
    """The same for an address that she keeps and that waits for its word since another day; never a refusal."""
    told = outbox.c.letter_id.startswith(_word_of(email, now_ms), autoescape=True)
    if connection.execute(select(outbox.c.letter_id).where(outbox.c.user_id == user_id, told).limit(1)).first() is None:
        with suppress(TooManyRequestsError):
            tell_word(connection, user_id, email, now_ms)


def not_sent(market: Market, letter_id: str) -> None:
    """Give an address the word of its day back, which was not sent to it; it counts among hers who asked for it."""
    _change(market, letter_id, letter_id=_beside(letter_id), state="sent", fault="")


def _word_of(email: str, now_ms: int) -> str:
    """The id of the one letter with a word that an address is sent on a day."""
    return f"word:{_mark_of(email)}:{now_ms // _DAY_MS}"


def _beside(letter_id: str) -> str:
    """An id for what is noted beside that letter, and not sent."""
    return f"{letter_id}:{secrets.token_hex(8)}"


def is_for(letter: Found, email: str) -> bool:
    """Whether a letter with a word was meant for this address, and not for one that stood there before it."""
    return bool(letter.letter_id.split(":")[1] == _mark_of(email))


def _mark_of(email: str) -> str:
    return access.hashed(email_key(email))[:16]


def claim(market: Market, most: int) -> Sequence[Found]:
    """Letters whose time has come, for this process alone: another finds them again only if this one dies."""
    now = market.clock()
    due = and_(outbox.c.state == "waiting", outbox.c.due_at_ms <= now)
    with market.store.look() as connection:
        if connection.execute(select(outbox.c.letter_id).where(due).limit(1)).first() is None:
            return []
    with market.store.write() as connection:
        chosen = select(outbox.c.letter_id).where(due).order_by(outbox.c.due_at_ms).limit(most)
        if connection.dialect.name != "sqlite":
            chosen = chosen.with_for_update(skip_locked=True)
        ids = list(connection.scalars(chosen))
        connection.execute(update(outbox).where(outbox.c.letter_id.in_(ids)).values(due_at_ms=now + _CLAIM_MS))
        hers = [letter_choices.c[name] for name in ("email", "email_confirmed", "webhook", "webhook_since_ms")]
        listed = select(outbox, users.c.role, *hers)
        found = listed.join_from(outbox, letter_choices, outbox.c.user_id == letter_choices.c.user_id).join(users)
        return connection.execute(found.where(outbox.c.letter_id.in_(ids)).order_by(outbox.c.at_ms)).all()


def sent(market: Market, letter_id: str) -> None:
    """Note that a letter was taken."""
    _change(market, letter_id, state="sent", fault="")


def failed(market: Market, letter: Found, fault: str) -> None:
    """Have a letter wait longer than before, or give it up."""
    attempts = letter.attempts + 1
    if attempts > len(PAUSES_MS):
        _change(market, letter.letter_id, state="dead", attempts=attempts, fault=fault)
    else:
        due = market.clock() + PAUSES_MS[attempts - 1]
        _change(market, letter.letter_id, attempts=attempts, fault=fault, due_at_ms=due)


def dead_letters(market: Market, actor: User, after: str | None = None, limit: int = LIMIT) -> DeadLetterPage:
    """Letters that were given up, newest first."""
    access.require(actor, "operator")
    listed = select(outbox, users.c.name).join(users).where(outbox.c.state == "dead")
    with market.store.read() as connection:
        rows, following = newest_first(connection, listed, outbox.c.at_ms, outbox.c.letter_id, after, limit)
    items = [DeadLetter(**{name: getattr(row, name) for name in DeadLetter.model_fields}) for row in rows]
    return DeadLetterPage(items=items, next=following)


def try_again(market: Market, actor: User, letter_id: str) -> None:
    """Have a letter that was given up tried once more, and as often as a new one."""
    access.require(actor, "operator")
    dead = and_(outbox.c.letter_id == letter_id, outbox.c.state == "dead")
    with market.store.write() as connection:
        require_signed_in(connection, actor)
        anew = {"state": "waiting", "attempts": 0, "due_at_ms": market.clock()}
        if connection.execute(update(outbox).where(dead).values(anew)).rowcount == 0:
            raise NotFoundError(ProblemType.NO_LETTER, "there is no such letter that was given up")


def forget_sent(market: Market) -> None:
    """Forget letters that were taken a week ago."""
    old = and_(outbox.c.state == "sent", outbox.c.due_at_ms <= market.clock() - _KEPT_MS)
    with market.store.write() as connection:
        connection.execute(delete(outbox).where(old))


def _change(market: Market, letter_id: str, /, **values: object) -> None:
    with market.store.write() as connection:
        connection.execute(update(outbox).where(outbox.c.letter_id == letter_id).values(**values))
