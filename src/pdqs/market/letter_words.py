"""What letters say: that something happened in a round, and to sign in. No question, bid, value, answer or amount."""

from __future__ import annotations

import hashlib
import hmac
from email.message import EmailMessage

from pdqs.market.context import Market
from pdqs.market.identity import form_token
from pdqs.market.settings import Settings
from pdqs.market.store.sql import Found
from pdqs.protocol.letters import Letter

KINDS = {
    "opened": "A round opens that you can bid in",
    "offer": "Your bid was drawn: there is an offer for you",
    "stage": "A round goes on with its next question",
    "closing": "A round that waits for you closes soon",
    "paid": "A round that you took part in is answered and paid",
    "cancelled": "A round that you took part in was called off",
    "stuck": "A round cannot go on (for operators)",
}
"""Every kind of letter, as the page where people choose says it."""

FOR_ROLE = {
    "owner": ("opened", "offer", "stage", "closing", "paid", "cancelled"),
    "consumer": ("closing", "paid", "cancelled"),
    "operator": ("stuck",),
}
"""What is of any use to whom."""

_SUBJECTS = {
    "opened": "A round is open for bids",
    "offer": "There is an offer for you",
    "stage": "A round goes on",
    "closing": "A round closes soon",
    "paid": "A round is answered and paid",
    "cancelled": "A round was called off",
    "stuck": "A round cannot go on",
    "word": "Is this your address?",
}
_FOLDERS = {"owner": "/owner/rounds/", "consumer": "/consumer/rounds/", "operator": "/operator/rounds/"}


def email_key(email: str) -> str:
    """What is one address however it is spelled.

    >>> email_key("Ann@Example.org")
    'ann@example.org'
    """
    return email.lower()


def email_word(market: Market, user_id: str, email: str) -> str:
    """The word that is sent to an address, and to be told by whoever reads it there."""
    return form_token(market, f"email:{email_key(email)}", user_id)[:10]


def webhook_key(market: Market, user_id: str, since_ms: int) -> str:
    """The key of a user's webhook: made from the server's own, and another whenever she sets an address."""
    return form_token(market, f"webhook:{since_ms}", user_id)


def email_of(market: Market, letter: Found) -> EmailMessage:
    """A letter as an e-mail."""
    settings, message = market.settings, EmailMessage()
    message["From"] = settings.mail_from
    message["To"] = letter.email
    message["Subject"] = _SUBJECTS[letter.kind]
    message["Message-ID"] = f"<{hashlib.sha256(letter.letter_id.encode()).hexdigest()[:32]}@{_host(settings)}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(_text(market, letter), cte="7bit")  # links stay whole
    return message


def webhook_body(letter: Found) -> bytes:
    """A letter as a webhook is sent it."""
    told = {"letter_id": letter.letter_id, "event": letter.kind, "round_id": letter.round_id, "at_ms": letter.at_ms}
    return Letter.model_validate(told).model_dump_json().encode()


def signature(key: str, at_seconds: int, body: bytes) -> str:
    """The header that shows a webhook that a letter is from this market, and when it was sent.

    HMAC-SHA-256 with the webhook's key over the seconds since 1970, a point, and the body as it came.

    >>> signature("00", 1, b"{}")[:20]
    't=1,v1=9850829f9fde2'
    """
    signed = hmac.new(key.encode(), f"{at_seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at_seconds},v1={signed}"


def _text(market: Market, letter: Found) -> str:
    base = market.settings.address
    if letter.kind == "word":
        word = email_word(market, letter.user_id, letter.email)
        return (
            f"Somebody, we hope you, asked the market of private data at {base} to write to this address.\n\n"
            f"If it was you, type this word on your account page: {word}\n{base}/account/letters\n\n"
            "If not, do nothing: no more letters come.\n"
        )
    where = f"{base}{_FOLDERS[letter.role]}{letter.round_id}"
    return (
        f"{KINDS[letter.kind].partition(' (')[0]}, in the market at {base}.\n\nSign in to see it: {where}\n\n"
        "What is in it is on the pages only. You choose what you are told on your account page.\n"
    )


def _host(settings: Settings) -> str:
    return settings.mail_from.rpartition("@")[2] or "localhost"
