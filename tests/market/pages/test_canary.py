"""A marked raw value and its coin, entered in a real browser, are nowhere in traffic, database, WAL or logs.

The question has 10,000 answers and a privacy cap of 0.15, so the report is the value itself with a chance of about one
in sixty thousand, and by luck of the die one in ten thousand: that is the rate of false alarms.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import MetaData, select

from owner.node import BROWSER
from pdqs.market import round_steps
from pdqs.protocol.device_messages import Bid, DomainMessage
from pdqs.protocol.market_messages import QueryMessage, RoundPlan

from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

VALUE, CODE = 507_331, 7_331
GRID = DomainMessage(kind="grid", start=500_000.0, step=1.0, size=10_000)
PLAN = RoundPlan(
    query=QueryMessage(kind="median", text="What do you earn?", domain=GRID),
    attribute="income",
    budget_micros=100_000_000,
    epsilon_max=0.15,
    question="value",
    bid_seconds=3600,
)

# Tells the test, and nobody else, which words the page's randomiser is given: the first is the coin.
EAVESDROP = """
const real = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (array) => { real(array); array.forEach((word) => overheard(word)); return array; };
"""
STORED = """
async () => {
  const opening = indexedDB.open("pdqs-device", 2);
  const database = await new Promise((resolve) => { opening.onsuccess = () => resolve(opening.result); });
  const all = (table) => new Promise((resolve) => {
    const request = database.transaction(table).objectStore(table).getAll();
    request.onsuccess = () => resolve(request.result);
  });
  const kept = await Promise.all(["entries"].map(all));
  return JSON.stringify([...kept, { ...localStorage }, { ...sessionStorage }]);
}
"""


@dataclass(frozen=True)
class Traces:
    """Everything that one report left behind."""

    traffic: str
    cells: list[Any]
    files: bytes
    logs: str
    kept: str
    coin: int
    body: str

    def where(self, marked: int) -> list[str]:
        """The places in which a number is found, standing by itself."""
        pattern = rf"(?<![0-9a-zA-Z]){marked}(?![0-9a-zA-Z])"
        places = {
            "traffic": self.traffic,
            "logs": self.logs,
            "browser": self.kept,
            "files": self.files.decode("latin-1"),
        }
        found = [place for place, text in places.items() if re.search(pattern, text)]
        return found + ["cells"] * any(cell == marked or str(marked) in str(cell).split('"') for cell in self.cells)


class Collector(logging.Handler):
    """Every record of every logger."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def listening() -> Iterator[list[str]]:
    """All logs at their most talkative, the database driver's excepted: it is no part of a running market's log."""
    collector = Collector()
    names = ["", "pdqs.market", "uvicorn", "uvicorn.access", "uvicorn.error", "fastapi", "httpx"]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.DEBUG)
        logging.getLogger(name).addHandler(collector)
    try:
        yield collector.lines
    finally:
        for name in names:
            logging.getLogger(name).removeHandler(collector)
            logging.getLogger(name).setLevel(before[name])


def cells_of(site: Site) -> list[Any]:
    """Every cell of every table."""
    tables = MetaData()
    tables.reflect(site.market.store.engine)
    with site.market.store.read() as connection:
        return [cell for table in tables.sorted_tables for row in connection.execute(select(table)) for cell in row]


def opened_round(site: Site, name: str) -> tuple[str, str]:
    """A round that two owners have bid in already, and a third owner's code."""
    consumer, _ = site.invite("consumer", f"Bureau of {name}")
    site.deposit(consumer, 100_000_000)
    drafted = round_steps.draft_round(site.market, consumer, PLAN, f"key-canary-{name}")
    opened = round_steps.open_round(site.market, consumer, drafted.round_id)
    assert opened.terms_hash is not None
    for beside in ("Bob", "Cem"):
        other, _ = site.invite("owner", beside)
        round_steps.place_bid(
            site.market, other, opened.round_id, Bid(terms_hash=opened.terms_hash, bid_micros=100_000)
        )
    return opened.round_id, site.invite("owner", name)[1]


def report_in_browser(
    site: Site,
    browser: Browser,
    name: str,
    prepare: Callable[[Visitor], None] = lambda _: None,
    *,
    arrives: bool = True,
) -> Traces:
    """Bid and report the marked value on the owner's pages; everything that is left of it."""
    with listening() as lines:
        round_id, code = opened_round(site, name)
        ann = Visitor(browser, site)
        words: list[int] = []
        ann.context.expose_function("overheard", lambda word: words.append(word))
        ann.context.add_init_script(EAVESDROP)
        prepare(ann)
        ann.enter(code)
        ann.go(f"/owner/rounds/{round_id}")
        ann.page.get_by_label("Your price per unit of epsilon").fill("0.1")
        ann.press("Bid")
        ann.page.get_by_text("Your bid stands").wait_for()
        site.clock.skip(3601)
        ann.page.locator(".checks .passed").nth(3).wait_for()
        ann.page.get_by_label("What do you earn?").fill(str(VALUE))
        ann.agree()
        assert words == []
        with ann.page.expect_request(lambda request: request.method == "PUT") as sending:
            ann.press("Randomise and send")
        if arrives:
            ann.page.get_by_text("Your report is in").wait_for()
        kept = ann.page.evaluate(STORED)
        traffic = [f"{r.method} {r.url} {json.dumps(r.headers)} {r.post_data or ''}" for r in ann.requests]
        files = b"".join(path.read_bytes() for path in site.folder.iterdir())
        body, coin = sending.value.post_data or "", words[0]
        ann.context.close()
    return Traces("\n".join(traffic), cells_of(site), files, "\n".join(lines), kept, coin, body)


@pytest.fixture(scope="module")
def traces(site: Site, browser: Browser) -> Traces:
    return report_in_browser(site, browser, "Ann")


def test_the_search_finds_the_report_where_it_must_be(traces: Traces) -> None:
    reported = json.loads(traces.body)["code"]
    assert {"traffic", "browser", "cells"} <= set(traces.where(reported))


def test_the_marked_value_is_nowhere(traces: Traces) -> None:
    assert traces.where(VALUE) == []
    assert traces.where(CODE) == []


def test_the_coin_is_nowhere(traces: Traces) -> None:
    assert traces.where(traces.coin) == []


def test_the_write_ahead_log_was_searched_too(site: Site, traces: Traces) -> None:
    assert any(path.name.endswith("-wal") for path in Path(site.folder).iterdir())
    assert b"income" in traces.files
    assert "/v1/rounds" in traces.logs


LEAKS = {
    "the bare value is reported": (
        "code: ask(review.question, review.domainSize, code, offer.q_numerator, nextWord)",
        "code: (nextWord(), code)",
    ),
    "the coin is sent along": (
        "code: ask(",
        "coin: (globalThis.coin = nextWord(), globalThis.coin), code: ask(",
    ),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_device_that_leaks_is_caught(leak: str, site: Site, browser: Browser) -> None:
    was, becomes = LEAKS[leak]
    module = (BROWSER / "device.mjs").read_text(encoding="utf-8")
    assert module.count(was) == 1

    def leaky(route: Route) -> None:
        route.fulfill(body=module.replace(was, becomes), content_type="text/javascript")

    def prepare(ann: Visitor) -> None:
        ann.context.route("**/device/device.mjs", leaky)

    found = report_in_browser(site, browser, leak, prepare, arrives="coin" not in leak)
    assert "traffic" in (found.where(found.coin) if "coin" in leak else found.where(CODE))
