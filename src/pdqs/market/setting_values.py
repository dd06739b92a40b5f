"""Settings whose text has a shape: what cannot be meant is refused in a sentence, before anything is served."""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit

from pdqs.model.errors import TermsError

_USUAL_PORTS = {"http": 80, "https": 443}
_HUNDRED_YEARS = 36_500

MOST: dict[str, int] = {
    "port": 65_535,
    "workers": 64,
    "retention_days": _HUNDRED_YEARS,
    "code_hours": 24 * _HUNDRED_YEARS,
    "session_hours": 24 * _HUNDRED_YEARS,
    "session_idle_hours": 24 * _HUNDRED_YEARS,
    "operator_session_hours": 24 * _HUNDRED_YEARS,
    "closing_minutes": 24 * 60 * _HUNDRED_YEARS,
    "tick_seconds": 86_400,
}
"""The most that some numbers may be: beyond it a time is none that a database or a socket can hold."""


def check_most(said: str, name: str, value: float) -> None:
    """Refuse a number beyond the most that its setting may be.

    >>> check_most("PDQS_PORT", "port", 70_000)
    Traceback (most recent call last):
    ...
    pdqs.model.errors.TermsError: PDQS_PORT: 70000 must be at most 65535
    """
    if value > MOST[name]:
        raise TermsError(f"{said}: {value} must be at most {MOST[name]}")


def check_host(said: str, host: str) -> None:
    """Refuse an empty host: the system would take it for every address that this machine has."""
    if not host.strip():
        raise TermsError(
            f"{said} must not be empty: 127.0.0.1 is this machine alone, and 0.0.0.0 every address that it has"
        )


def check_proxies(said: str, proxies: str) -> None:
    """Refuse what is no address or network: it would be taken for a name, and nobody would be trusted.

    >>> check_proxies("PDQS_TRUSTED_PROXIES", "127.0.0.1 10.0.0.0/8 ::1")
    >>> check_proxies("PDQS_TRUSTED_PROXIES", "localhost")
    Traceback (most recent call last):
    ...
    pdqs.model.errors.TermsError: PDQS_TRUSTED_PROXIES: 'localhost' must be an address or a network, such as 127.0.0.1 \
or 10.0.0.0/8, with spaces between several
    """
    for proxy in proxies.split():
        if proxy != "*" and not _is_network(proxy):  # * is everybody
            raise TermsError(
                f"{said}: {proxy!r} must be an address or a network, such as 127.0.0.1 or 10.0.0.0/8, with spaces"
                " between several"
            )
    if "*" in proxies.split() and proxies.strip() != "*":
        raise TermsError(f"{said}: '*' is everybody, and stands alone")


def _is_network(text: str) -> bool:
    """Whether a text is an address, or a network whose address has nothing beyond its own bits."""
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


def check_origins(said: str, origins: str) -> None:
    """Refuse what browsers call no origin: theirs has a scheme and a host in small letters, and nothing after them.

    >>> check_origins("PDQS_DEVICE_ORIGINS", "https://device.example http://127.0.0.1:8017")
    >>> check_origins("PDQS_DEVICE_ORIGINS", "https://device.example/")
    Traceback (most recent call last):
    ...
    pdqs.model.errors.TermsError: PDQS_DEVICE_ORIGINS: 'https://device.example/' must look like https://device.example,\
 in small letters and with nothing after host and port, with spaces between several
    """
    for origin in origins.split():
        if origin != _origin_of(origin):
            shown = "what has a user or password in it" if "@" in origin else repr(origin)
            raise TermsError(
                f"{said}: {shown} must look like https://device.example, in small letters and with nothing after host"
                " and port, with spaces between several"
            )


def _origin_of(text: str) -> str:
    """The origin of an address as browsers write it; nothing where it has none."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    if parts.scheme not in _USUAL_PORTS or not host or "," in host:
        return ""
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, _USUAL_PORTS[parts.scheme]) else "")


def check_public_url(said: str, url: str) -> None:
    """Refuse a public address that is none, or one with a user or password in it, which every page would show.

    >>> check_public_url("PDQS_PUBLIC_URL", "https://town.example/market")
    """
    if "@" in url:
        raise TermsError(f"{said} must hold no user or password: everybody is told it")
    if url and not _is_address(_split(url)):
        raise TermsError(f"{said}: {url!r} must look like https://market.example")


def _is_address(parts: SplitResult | None) -> bool:
    if parts is None or parts.scheme not in _USUAL_PORTS or not parts.hostname:
        return False
    return not parts.query and not parts.fragment and "," not in parts.netloc


def _split(url: str) -> SplitResult | None:
    """The parts of an address; nothing where its host or port is none."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts
