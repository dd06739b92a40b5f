"""Where a request comes from, in few words: which browser on which system, and whether passkeys are good there."""

from __future__ import annotations

from fastapi import Request

from pdqs.market.pages.session import market_of
from pdqs.market.passkeys import Place, place_of

_BROWSERS = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser": "Samsung Internet",
    "Firefox": "Firefox",
    "FxiOS": "Firefox",
    "CriOS": "Chrome",
    "Chrome/": "Chrome",
    "Safari": "Safari",
}
_SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS X": "Mac",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


def place_here(request: Request) -> Place | None:
    """Where passkeys made by this request would be good; none at an address that browsers make none for."""
    return place_of(market_of(request).settings, request.url.scheme, request.headers.get("host", ""))


def device_words(request: Request) -> str:
    """The browser and its system, for her to know it by; nothing else of what it says of itself is kept."""
    return in_words(request.headers.get("user-agent", ""))


def in_words(agent: str) -> str:
    """A browser's long account of itself, in three words.

    >>> in_words("Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36")
    'Chrome on Android'
    >>> in_words("curl/8.5")
    ''
    """
    browser = next((name for mark, name in _BROWSERS.items() if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS.items() if mark in agent), "")
    return " on ".join(filter(None, (browser, system)))
