"""Templates to pages: the environment, the words for numbers and times, and one shape of response."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from pdqs import __version__
from pdqs.market.http.mounting import under
from pdqs.market.pages import charts, numerals
from pdqs.market.pages.called_off import why_called_off
from pdqs.market.pages.plan_form import METHODS
from pdqs.market.pages.session import market_of
from pdqs.market.pages.stage_picture import narrowing, value_at
from pdqs.market.times import left, moment_text
from pdqs.model.money import PLAIN, Currency, decimals_of
from pdqs.model.names import QueryKind
from pdqs.model.spelling import Mark
from pdqs.owner.answers import numbers_in_words
from pdqs.owner.bundle import manifest_hash
from pdqs.owner.lots import chance_in_words
from pdqs.owner.price import odds_in_words
from pdqs.protocol.market_messages import QueryMessage, RoundStanding

_HERE = Path(__file__).parent

STATE_WORDS = {
    "draft": "Draft",
    "open": "Open for bids",
    "reporting": "Collecting reports",
    "settled": "Answered",
    "cancelled": "Cancelled",
}


def state_of(found: RoundStanding) -> str:
    """Where a round stands, in words: settled without an answer is not answered."""
    return "No answer" if found.state == "settled" and not found.answered else STATE_WORDS[found.state]


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
    written = _environment(market.settings.money).get_template(template).render({**known, **values})
    html = under(market.settings.prefix, written)
    # Pages hold balances and bids: nothing on the way may keep a copy.
    return HTMLResponse(html, status_code=status, headers={"Cache-Control": "no-store"})


def address_of_market(request: Request) -> str:
    """Where people reach this market, without a slash at its end: its public address, or as this request came."""
    settings = market_of(request).settings
    origin = settings.origin or str(request.base_url).rstrip("/")
    return origin + settings.prefix


@cache
def _environment(currency: Currency = PLAIN) -> Environment:
    """The templates, with amounts and numbers as this market writes them."""
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        auto_reload=False,  # a server goes on with the pages of its own version while another is put in its place
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    mark = currency.mark
    written = (
        numerals.number,
        numerals.figure,
        numerals.whole,
        numerals.short,
        numerals.fixed,
        numerals.people,
        numerals.in_style,
        sought,
    )
    environment.filters.update({each.__name__: partial(each, mark=mark) for each in written})
    environment.filters.update(
        money=partial(_money, currency),
        owed=partial(_owed, currency),
        moved=partial(_moved, currency),
        price=partial(_price, currency),
        exact=currency.exact,
        numbers=partial(numbers_in_words, mark=mark),
        when=when,
        until=until,
        lasting=lasting,
        coded=coded,
        chance=chance_in_words,
        odds=odds_in_words,
    )
    drawn = (charts.precision, charts.interval, charts.bars, charts.over_time)
    pictures = {each.__name__: partial(each, mark=mark) for each in drawn}
    environment.globals.update(
        version=__version__,
        device_hash=manifest_hash(),
        column=column,
        why_called_off=why_called_off,
        asset=asset,
        charts=SimpleNamespace(**pictures, sureness=charts.sureness, split=charts.split),
        narrowing=partial(narrowing, mark=mark),
        value_at=value_at,
        state_words=STATE_WORDS,
        state_of=state_of,
        kind_words=KIND_WORDS,
        method_words=METHOD_WORDS,
        QueryKind=QueryKind,
    )
    return environment


def sought(query: QueryMessage, mark: Mark = ".") -> str:
    """What a query is after, in words; of a quantile, which one it is.

    >>> sought(QueryMessage(kind="mean", text="")), sought(QueryMessage(kind="quantile", text="", p=0.025), ",")
    ('The mean', 'The value that 2,5 in 100 do not exceed')
    """
    if query.kind == QueryKind.QUANTILE:
        return f"The value that {numerals.short(100 * query.p, 6, mark)} in 100 do not exceed"
    return KIND_WORDS[query.kind]


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


def _amount(shown: str, exact: str) -> Markup:
    """An amount as people write it; where that is not all of it, the rest is in its title."""
    title = Markup(' title="exactly {}"').format(exact) if shown != exact else ""
    return Markup('<data value="{}"{}>{}</data>').format(exact, title, shown)


def _money(currency: Currency, micros: int) -> Markup:
    """An amount, to the nearest; one that is too small to be paid is said to be."""
    return _amount(_tiny(currency, micros) or currency.shown(micros), currency.exact(micros))


def _owed(currency: Currency, micros: int) -> Markup:
    """What somebody is to have, never shown as more than it is."""
    return _amount(_tiny(currency, micros) or currency.owed(micros), currency.exact(micros))


def _moved(currency: Currency, micros: int) -> Markup:
    """What came to a balance or went from it, to the nearest, with its sign; the title has the rest.

    >>> _moved(Currency(code="EUR"), 40_800_801)
    Markup('<data value="40.800801 EUR" title="exactly 40.800801 EUR">+40.80 EUR</data>')
    """
    sign = "+" if micros >= currency.step else ""
    return _amount(_tiny(currency, micros) or sign + currency.shown(micros), currency.exact(micros))


def _price(currency: Currency, micros: int) -> Markup:
    """What is asked for a unit of epsilon, which is not paid as it is: two decimals also where money has none."""
    finer = dataclasses.replace(currency, decimals=max(currency.decimals, 2))
    return _amount(finer.shown(micros), currency.exact(micros))


def _tiny(currency: Currency, micros: int) -> str:
    return f"less than {currency.exact(currency.step)}" if 0 < micros < currency.step else ""


def when(ms: int | None) -> Markup:
    """A moment as a time element, in UTC until a script shows it in the reader's own zone."""
    if ms is None:
        return Markup('<span class="quiet">not yet</span>')
    return Markup('<time datetime="{}">{}</time>').format(_instant(ms), moment_text(ms))


def until(ms: int, now_ms: int) -> Markup:
    """How long is left, as a time element that a script lets tick."""
    said = Markup('<time datetime="{}" data-until title="{}">{}</time>')
    return said.format(_instant(ms), moment_text(ms), left(ms, now_ms))


def coded(text: str) -> Markup:
    """Words of a description with what stands in backticks as code.

    >>> str(coded("``a`` is < `b`"))
    '<code>a</code> is &lt; <code>b</code>'
    """
    return Markup(_CODE.sub(r"<code>\2</code>", str(escape(text))))  # escaped just before


_CODE = re.compile(r"(`{1,2})([^`]+)\1")


def lasting(seconds: int) -> str:
    """A length of time in words, as how long is left is said.

    >>> lasting(86_400), lasting(5400)
    ('1 day', '1 h 30 min')
    """
    return left(1000 * seconds, 0)


def _instant(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
