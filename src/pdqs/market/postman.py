"""The postman: takes letters out of the outbox and hands them over. Whatever fails, rounds go on.

E-mail goes by SMTP, or into a folder while developing. A webhook is a stranger's address, so it is held at arm's length
(server-side request forgery): https, public addresses only, the address that was checked is the one that is called, no
redirect is followed, and neither the time nor the answer is long.
"""

from __future__ import annotations

import hashlib
import http.client
import ipaddress
import smtplib
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from email.message import EmailMessage
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from pdqs.market import outbox
from pdqs.market.context import Market
from pdqs.market.letter_words import email_of, signature, webhook_body, webhook_key
from pdqs.market.settings import Settings
from pdqs.market.store.sql import Found
from pdqs.model.errors import PdqsError

_SECONDS = 5.0
_WHOLE_SECONDS = 10.0
_MOST_ANSWER = 4096
_AT_A_TIME = 20
_HOUR_MS = 3_600_000


class Undelivered(PdqsError):  # noqa: N818  a fact, and no fault of ours
    """A letter was not taken; the message says why and quotes nothing of it."""


def deliver_due(market: Market) -> int:
    """Hand over what is due; how many letters were taken. What is not is tried again later."""
    taken = 0
    for letter in outbox.claim(market, _AT_A_TIME):
        try:
            if letter.kind == "word" and not outbox.is_for(letter, letter.email):
                outbox.not_sent(market, letter.letter_id)  # she has set another since, or none
                continue
            _WAYS[letter.channel](market, letter)
        except Exception as fault:  # a stranger's server, a lost line, a strange address: this letter waits
            said = str(fault) if isinstance(fault, Undelivered) else f"it was not taken ({type(fault).__name__})"
            outbox.failed(market, letter, said)
        else:
            outbox.sent(market, letter.letter_id)
            taken += 1
    now = market.clock()
    if not 0 <= now - market.written_at.get("letters", -_HOUR_MS) < _HOUR_MS:
        outbox.forget_sent(market)
        market.written_at["letters"] = now
    return taken


def check_webhook(settings: Settings, address: str) -> SplitResult:
    """Refuse an address that letters may not be sent to; what is behind its name is looked at when it is called."""
    parsed = urlsplit(address)
    if settings.webhooks == "none":
        raise Undelivered("this market sends to no webhooks")
    if not parsed.hostname or parsed.username is not None or parsed.fragment:
        raise Undelivered("a webhook is an address such as https://example.org/letters")
    near = settings.webhooks == "private" and parsed.hostname in ("localhost", "127.0.0.1", "::1")
    if parsed.scheme != "https" and not near:
        raise Undelivered("a webhook must begin with https://")
    return parsed


def is_public(address: str) -> bool:
    """Whether an IP address is one of the open internet: no private, local, shared, tunnelled or reserved one.

    >>> [is_public(one) for one in ("93.184.215.14", "10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "224.0.0.1")]
    [True, False, False, False, False]
    >>> is_public("fec0::1")  # once site-local
    False
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if found.is_multicast or found.is_reserved or found.is_unspecified or not found.is_global:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        inside = (found.ipv4_mapped, found.sixtofour, found.teredo)
        return not any(inside) and found not in _NAT64 and not found.is_site_local
    return True


_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def _send_email(market: Market, letter: Found) -> None:
    if not letter.email or not (letter.email_confirmed or letter.kind == "word"):
        return  # she has changed her mind since
    if not market.settings.mail_url:
        raise Undelivered("no e-mail is set up here")
    message, target = email_of(market, letter), urlsplit(market.settings.mail_url)
    if target.scheme == "file":
        name = hashlib.sha256(letter.letter_id.encode()).hexdigest()[:32]
        Path(unquote(target.path), f"{name}.eml").write_bytes(bytes(message))
    else:
        _by_smtp(target, message)


def _by_smtp(target: SplitResult, message: EmailMessage) -> None:
    host, trusted = target.hostname or "", ssl.create_default_context()
    try:
        if target.scheme == "smtps":
            line: smtplib.SMTP = smtplib.SMTP_SSL(host, target.port or 465, timeout=_SECONDS, context=trusted)
        else:
            line = smtplib.SMTP(host, target.port or 587, timeout=_SECONDS)
        with line:
            if target.scheme == "smtp" and host not in ("localhost", "127.0.0.1", "::1"):
                line.starttls(context=trusted)
            if target.username:
                line.login(unquote(target.username), unquote(target.password or ""))
            line.send_message(message)
    except smtplib.SMTPResponseException as fault:
        raise Undelivered(f"the mail server said {fault.smtp_code}") from fault
    except (smtplib.SMTPException, OSError) as fault:
        raise Undelivered(f"the mail server could not be spoken to ({type(fault).__name__})") from fault


def _send_webhook(market: Market, letter: Found) -> None:
    if not letter.webhook:
        return  # she has changed her mind since
    target = check_webhook(market.settings, letter.webhook)
    body, seconds = webhook_body(letter), market.clock() // 1000
    key = webhook_key(market, letter.user_id, letter.webhook_since_ms)
    headers = {"Content-Type": "application/json", "Pdqs-Signature": signature(key, seconds, body)}
    try:
        status = _posted(market.settings, target, body, headers)
    except (OSError, http.client.HTTPException) as fault:
        raise Undelivered(f"the webhook could not be spoken to ({type(fault).__name__})") from fault
    if not 200 <= status < 300:
        followed = ", and redirects are not followed" if 300 <= status < 400 else ""
        raise Undelivered(f"the webhook answered {status}{followed}")


def _posted(settings: Settings, target: SplitResult, body: bytes, headers: dict[str, str]) -> int:
    """The status of the answer; the line is cut when it takes too long altogether."""
    host, port = str(target.hostname), target.port or (443 if target.scheme == "https" else 80)
    line = socket.create_connection((_checked(settings, host, port), port), timeout=_SECONDS)
    clock = threading.Timer(_WHOLE_SECONDS, lambda: _cut(line))  # whichever it is by then: TLS takes the first one over
    clock.start()
    try:
        if target.scheme == "https":
            trusted = ssl.create_default_context()
            line = trusted.wrap_socket(line, server_hostname=host, do_handshake_on_connect=False)
            line.do_handshake()
        asked = http.client.HTTPConnection(host, port, timeout=_SECONDS)
        asked.sock = line  # to the address that was checked, whatever its name leads to by now
        path = (target.path or "/") + (f"?{target.query}" if target.query else "")
        asked.request("POST", path, body, {**headers, "Connection": "close"})
        answer = asked.getresponse()
        answer.read(_MOST_ANSWER)
        return answer.status
    finally:
        clock.cancel()
        line.close()


def _cut(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)


def _checked(settings: Settings, host: str, port: int) -> str:
    """The address behind a name; none of them may lead inside unless the operator allows it."""
    found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    if settings.webhooks != "private" and not all(map(is_public, found)):
        raise Undelivered("the webhook's name leads to an address that is not on the open internet")
    return sorted(found)[0]


_WAYS: dict[str, Callable[[Market, Found], None]] = {"email": _send_email, "webhook": _send_webhook}
