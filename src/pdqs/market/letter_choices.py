"""What people want to be told of, and where: nothing, until they choose."""

from __future__ import annotations

from sqlalchemy import Connection, Select, delete, select, update

from pdqs.market import outbox as letters
from pdqs.market.context import Market
from pdqs.market.identity import form_token
from pdqs.market.letter_words import email_word, webhook_key
from pdqs.market.postman import Undelivered, check_webhook
from pdqs.market.revocation import require_signed_in
from pdqs.market.store.schema import letter_choices, outbox
from pdqs.market.store.sql import put
from pdqs.protocol.letters import LetterChoices, LettersKept
from pdqs.protocol.market_messages import User
from pdqs.protocol.problems import ProblemType, UnprocessableError


def choices(market: Market, actor: User) -> LettersKept:
    """What the caller chose."""
    with market.store.read() as connection:
        return choices_in(market, connection, actor)


def choices_in(market: Market, connection: Connection, actor: User) -> LettersKept:
    """The same, in a transaction that reads more."""
    row = connection.execute(_hers(actor.user_id)).one_or_none()
    if row is None:
        return LettersKept(email_confirmed=False, webhook_key="")
    return LettersKept(
        email=row.email,
        webhook=row.webhook,
        kinds=row.kinds.split(),
        email_confirmed=bool(row.email_confirmed),
        webhook_key=webhook_key(market, actor.user_id, row.webhook_since_ms) if row.webhook else "",
    )


def choose(market: Market, actor: User, wanted: LetterChoices) -> LettersKept:
    """Keep what the caller wants. To a new e-mail address goes a word, which she tells to show that it is hers.

    As long as she has not, whatever she chooses asks for it again, on another day than before.
    """
    if wanted.webhook:
        try:
            check_webhook(market.settings, wanted.webhook)
        except (Undelivered, ValueError) as fault:
            raise UnprocessableError(ProblemType.BAD_ADDRESS, str(fault)) from fault
    if wanted.email and not market.settings.mail_url:
        raise UnprocessableError(ProblemType.BAD_ADDRESS, "this market sends no e-mail: its operator has not set it up")
    form_token(market, "letters", actor.user_id)  # the server's key is made before a transaction begins
    with market.store.write() as connection:
        require_signed_in(connection, actor)
        now, before = market.clock(), connection.execute(_hers(actor.user_id)).one_or_none()
        same_email = before is not None and before.email == wanted.email
        same_hook = before is not None and before.webhook == wanted.webhook
        row = {
            "user_id": actor.user_id,
            "email": wanted.email,
            "email_confirmed": before.email_confirmed if before is not None and same_email else 0,
            "webhook": wanted.webhook,
            "webhook_since_ms": before.webhook_since_ms if before is not None and same_hook else now,
            "kinds": f" {' '.join(sorted(set(wanted.kinds)))} ",
        }
        put(connection, letter_choices, row, key="user_id")
        if wanted.email and not row["email_confirmed"]:
            tell = letters.tell_word_again if same_email else letters.tell_word
            tell(connection, actor.user_id, wanted.email, now)
    return choices(market, actor)


def confirm_email(market: Market, actor: User, word: str) -> LettersKept:
    """Take the word that was sent to the caller's address."""
    kept = choices(market, actor)
    if not kept.email or email_word(market, actor.user_id, kept.email) != word:
        raise UnprocessableError(ProblemType.BAD_ADDRESS, "this is not the word that was sent to your address")
    with market.store.write() as connection:
        hers = (letter_choices.c.user_id == actor.user_id) & (letter_choices.c.email == kept.email)
        connection.execute(update(letter_choices).where(hers).values(email_confirmed=1))
    return choices(market, actor)


def forget(connection: Connection, user_id: str) -> None:
    """Forget a user's addresses and every letter to her."""
    connection.execute(delete(outbox).where(outbox.c.user_id == user_id))
    connection.execute(delete(letter_choices).where(letter_choices.c.user_id == user_id))


def _hers(user_id: str) -> Select[object]:
    return select(letter_choices).where(letter_choices.c.user_id == user_id)
