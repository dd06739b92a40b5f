"""Templates to pages: the environment, the words for numbers and times, and one shape of response."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from pdqs import __version__
from pdqs.market.http.mounting import under
from pdqs.market.pages import charts
from pdqs.market.pages.called_off import why_called_off
from pdqs.market.pages.plan_form import METHODS
from pdqs.market.pages.session import market_of
from pdqs.market.pages.stage_picture import narrowing, value_at
from pdqs.market.times import left, moment_text
from pdqs.model.money import Currency, decimals_of
from pdqs.model.names import QueryKind
from pdqs.owner.bundle import manifest_hash
from pdqs.owner.lots import chance_in_words
from pdqs.owner.price import odds_in_words

_HERE = Path(__file__).parent

STATE_WORDS = {
    "draft": "Draft",
    "open": "Open for bids",
    "reporting": "Collecting reports",
    "settled": "Answered",
    "cancelled": "Cancelled",
}

Filled = dict[str, Any]
"""What a template is given, by name."""


def page(request: Request, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
    """A page. ``session`` is filled in by the guard; a page without one is for anybody."""
    market = market_of(request)
    known: Mapping[str, object] = {
        "session": getattr(request.state, "session", None),
        "path": request.url.path,
        "method": request.method,
        "now_ms": market.clock(),
        "currency": market.settings.money,
        "told_currency": json.dumps(dataclasses.asdict(market.settings.money)),
        "fresh_key": secrets.token_urlsafe(18),
    }
    html = under(market.settings.prefix, _environment().get_template(template).render({**known, **values}))
    # Pages hold balances and bids: nothing on the way may keep a copy.
    return HTMLResponse(html, status_code=status, headers={"Cache-Control": "no-store"})


def address_of_market(request: Request) -> str:
    """Where people reach this market, without a slash at its end: its public address, or as this request came."""
    settings = market_of(request).settings
    origin = settings.origin or str(request.base_url).rstrip("/")
    return origin + settings.prefix


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        money=_money,
        owed=_owed,
        exact=_exact,
        when=when,
        until=until,
        number=number,
        figure=figure,
        chance=chance_in_words,
        odds=odds_in_words,
    )
    environment.globals.update(
        version=__version__,
        device_hash=manifest_hash(),
        column=column,
        why_called_off=why_called_off,
        asset=asset,
        charts=charts,
        narrowing=narrowing,
        value_at=value_at,
        state_words=STATE_WORDS,
        kind_words=KIND_WORDS,
        method_words=METHOD_WORDS,
        QueryKind=QueryKind,
    )
    return environment


KIND_WORDS = {kind.value: kind.words for kind in QueryKind}
METHOD_WORDS = {
    METHODS["right"]: "right whatever prices say: a lottery decides who is asked",
    METHODS["sharp"]: "sharper, if prices say nothing about the answer: the cheapest are asked",
}
"""The two ways of the form, by rule and estimator."""


@cache
def asset(name: str) -> str:
    """The address of a static file, with a mark of its contents so that a browser never shows an old one."""
    mark = hashlib.sha256((_HERE / "static" / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?v={mark}"


def column(currency: Currency, micros: Sequence[int]) -> list[str]:
    """Amounts that stand under each other: exact, all with as many decimals as the one that needs most.

    >>> column(Currency(), [200_000_000, 8_000_002])
    ['200.000000', '8.000002']
    """
    decimals = max(map(decimals_of, micros))
    return [currency.bare(amount, decimals) for amount in micros]


def _currency(context: Context) -> Currency:
    found = context["currency"]
    assert isinstance(found, Currency)
    return found


def _amount(shown: str, exact: str) -> Markup:
    """An amount as people write it; where that is not all of it, the rest is in its title."""
    title = Markup(' title="exactly {}"').format(exact) if shown != exact else ""
    return Markup('<data value="{}"{}>{}</data>').format(exact, title, shown)


@pass_context
def _money(context: Context, micros: int) -> Markup:
    """An amount, to the nearest."""
    return _amount(_currency(context).shown(micros), _currency(context).exact(micros))


@pass_context
def _owed(context: Context, micros: int) -> Markup:
    """What somebody is to have, never shown as more than it is."""
    return _amount(_currency(context).owed(micros), _currency(context).exact(micros))


@pass_context
def _exact(context: Context, micros: int) -> str:
    """An amount to the last digit, as text."""
    return _currency(context).exact(micros)


def number(value: float) -> str:
    """A figure for people: thousands parted, four digits that count.

    >>> number(12345.678), number(0.123456), number(42.0)
    ('12,346', '0.1235', '42')
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def figure(value: float, low: float, high: float) -> str:
    """A figure with as many decimals as its interval has to say anything about.

    >>> figure(67.84, 67.84, 110.2), figure(0.6179, 0.6179, 1.382), figure(7, 6.5, 7.5)
    ('68', '0.62', '7.0')
    """
    width = high - low
    if width <= 0:
        return number(value)
    places = min(max(1 - math.floor(math.log10(width)), 0), 6)
    return f"{value:,.{places}f}"


def when(ms: int | None) -> Markup:
    """A moment as a time element, in UTC until a script shows it in the reader's own zone."""
    if ms is None:
        return Markup('<span class="quiet">not yet</span>')
    return Markup('<time datetime="{}">{}</time>').format(_instant(ms), moment_text(ms))


def until(ms: int, now_ms: int) -> Markup:
    """How long is left, as a time element that a script lets tick."""
    said = Markup('<time datetime="{}" data-until title="{}">{}</time>')
    return said.format(_instant(ms), moment_text(ms), left(ms, now_ms))


def _instant(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
