"""What an owner types, read: a market's address, a price, a cap. What is none is refused in a sentence."""

from __future__ import annotations

import re
from decimal import Decimal

import httpx
from pydantic import TypeAdapter, ValidationError

from pdqs.model.money import parse_money
from pdqs.model.spelling import plain_decimal
from pdqs.owner.addresses import one_address
from pdqs.owner.errors import DeviceError
from pdqs.privacy.loss import NANOS_PER_EPSILON
from pdqs.protocol.device_messages import Attribute
from pdqs.protocol.market_messages import Redemption


def address_of(text: str) -> str:
    """A market's address, spelled as all spellings of it are: one market has one account here.

    >>> address_of(" http://127.0.0.1:8000/ ")
    'http://127.0.0.1:8000'
    >>> address_of("HTTPS://Market.Example:443/prefix/")
    'https://market.example/prefix'
    """
    found = _bare_address(text.strip())
    if found is None:
        raise DeviceError(f"{text!r} is not a market's address: write it like http://127.0.0.1:8000")
    return one_address(found)


_ADDRESS = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]+)?(/[A-Za-z0-9._~%-]+)*/*")


def _bare_address(text: str) -> str | None:
    """Scheme, host, port and path, and nothing else; the twin is ``addressOf`` in ``owner/browser/enrolling.mjs``."""
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        return None
    host, path = url.netloc.decode().lower(), url.raw_path.decode()
    bare = not (url.userinfo or url.query or url.fragment) and (url.port is None or 0 < url.port < 2**16)
    found = f"{url.scheme}://{host}{path}" if url.host else ""
    return found if bare and _ADDRESS.fullmatch(found) else None


_BEHIND = re.compile(r"[^A-Za-z0-9_-]+\Z")
"""What a letter has behind a link, as a full stop, is no part of its code."""


def invitation_of(address: str, code: str) -> tuple[str, str]:
    """A market's address and a one-time code, given as two words or as the link that was handed out.

    >>> invitation_of("http://127.0.0.1:8000/enter#" + "c" * 30, "") == ("http://127.0.0.1:8000", "c" * 30)
    True
    """
    market, _, linked = address.strip().partition("/enter#")
    given = _BEHIND.sub("", code.strip() or linked)
    if not given:
        raise DeviceError("no one-time code was given: pdqs owner enrol ADDRESS CODE, or the link in quotes")
    try:
        Redemption(code=given)
    except ValidationError:
        raise DeviceError("this is not a one-time code: copy all of it") from None
    return address_of(market), given


def micros_of(price: str) -> int:
    """A price in micro-units.

    >>> micros_of("0.35")
    350000
    """
    return parse_money(price, "price")


def cap_of(setting: str) -> tuple[str, int]:
    """A cap as ATTRIBUTE=EPSILON: the attribute, and the cap in billionths.

    >>> cap_of("income=4")
    ('income', 4000000000)
    """
    name, told, amount = setting.partition("=")
    if not told:
        raise DeviceError(f"cap: {setting!r} says no number: write it like income=4")
    try:
        attribute = str(TypeAdapter(Attribute).validate_python(name))
    except ValidationError:
        raise DeviceError(f"cap: {name!r} is not the name of an attribute, such as income") from None
    return attribute, cap_nanos_of(amount)


def cap_nanos_of(text: str) -> int:
    """A cap in billionths of epsilon."""
    amount = Decimal(plain_decimal(text, "cap"))
    if amount > 10**6:
        raise DeviceError(f"cap: {text!r} is not a number between 0 and 1,000,000")
    return int(amount * NANOS_PER_EPSILON)
