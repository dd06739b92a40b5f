"""In a real browser: an account whose last entries are gone is refused; a whole one is read, whoever writes to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from owner.node import BROWSER
from pdqs.owner.bundle import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MADE = """
async (entries) => {
  const [{ openStore }, { Device }] = await Promise.all([import("/store.mjs"), import("/device.mjs")]);
  const device = new Device(globalThis.store = await openStore(false), "http://m.example");
  for (let place = 0; place < entries; place += 1) await device.setCap(`fact${place}`, 1e9 + place);
}
"""
READ = """
async () => {
  const [{ openStore }, { Device }] = await Promise.all([import("/store.mjs"), import("/device.mjs")]);
  const said = (doing) => doing().then((found) => found, (fault) => fault.message);
  const device = new Device(globalThis.store ?? await openStore(false), "http://m.example");
  const found = await said(async () => (await device.account()).entries.length);
  return [found, await said(async () => (await device.setCap("more", 1), "added"))];
}
"""
BEHIND = """
const opening = indexedDB.open("pdqs-device", 2);
const database = await new Promise((resolve) => { opening.onsuccess = () => resolve(opening.result); });
const entries = () => database.transaction("entries", "readwrite").objectStore("entries");
const done = (asked) => new Promise((good, bad) => Object.assign(asked, { onsuccess: good, onerror: bad }));
"""
CLEAR_APART = "localStorage.clear();"
LAST_GONE = (
    f"async () => {{ {BEHIND} await done(entries().delete(5)); await done(entries().delete(4)); database.close(); }}"
)
ALL_GONE = f"async () => {{ {BEHIND} await done(entries().clear()); database.close(); }}"
NO_DATABASE = """
async () => { await new Promise((resolve) => { indexedDB.deleteDatabase("pdqs-device").onsuccess = resolve; }); }
"""


@contextmanager
def opened(browser: Browser, *, becomes: tuple[str, str] | None = None) -> Iterator[Page]:
    """A page of the device's own origin, in a browser that has kept nothing yet; ``becomes``: a mistake in it."""
    with PageServer(0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        context = browser.new_context()
        if becomes:
            text = (BROWSER / "store.mjs").read_text(encoding="utf-8")
            assert text.count(becomes[0]) == 1
            body = text.replace(*becomes)
            context.route("**/store.mjs", lambda route: route.fulfill(body=body, content_type="text/javascript"))
        page = context.new_page()
        page.goto(f"{server.address}/manifest.json")
        try:
            yield page
        finally:
            context.close()
            server.shutdown()
            thread.join()


def after(page: Page, *deeds: str, reload: bool = True) -> Any:
    """Five entries are made, something is done behind the device's back, and it looks again."""
    page.evaluate(MADE, 5)
    if reload:
        page.reload()
    for deed in deeds:
        page.evaluate(deed)
    return page.evaluate(READ)


LOSSES = {
    "the last two": ((LAST_GONE,), "it had 5 and has 3"),
    "the last two, and what was kept apart": ((LAST_GONE, CLEAR_APART), "it had 5 and has 3"),
    "all entries, and what was kept apart": ((ALL_GONE, CLEAR_APART), "it had 5 and has 0"),
    "the database": ((NO_DATABASE,), "it had 5 and has 0"),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_entries_that_are_gone_are_noticed_before_anything_is_written(browser: Browser, loss: str) -> None:
    deeds, said = LOSSES[loss]
    with opened(browser) as page:
        for answer in after(page, *deeds):
            assert said in answer
            assert "clear this site's data to begin anew" in answer


def test_entries_that_go_while_the_page_is_open_are_noticed_too(browser: Browser) -> None:
    with opened(browser) as page:
        assert all("it had 5 and has 3" in answer for answer in after(page, LAST_GONE, CLEAR_APART, reload=False))


def test_a_store_that_counts_nothing_takes_what_is_left_for_all(browser: Browser) -> None:
    with opened(browser, becomes=("if (rows.length < had) throw", "if (rows.length < 0) throw")) as page:
        assert after(page, LAST_GONE, CLEAR_APART)[0] == 3


def test_another_account_in_the_place_of_this_one_is_noticed(browser: Browser) -> None:
    with opened(browser) as page:
        page.evaluate(MADE, 5)
        kept = page.evaluate("localStorage.getItem('pdqs-device-last')")
        page.reload()
        page.evaluate(NO_DATABASE)
        page.evaluate(CLEAR_APART)
        page.evaluate(MADE.replace("1e9", "2e9"), 6)
        page.reload()
        page.evaluate("(kept) => localStorage.setItem('pdqs-device-last', kept)", kept)
        assert all("is not the one that was here before" in answer for answer in page.evaluate(READ))


def test_whoever_clears_all_of_it_begins_anew_and_no_browser_can_know_better(browser: Browser) -> None:
    with opened(browser) as page:
        assert after(page, NO_DATABASE, CLEAR_APART) == [0, "added"]


def test_a_whole_account_is_read_however_often_it_is_opened_and_whoever_writes_to_it(browser: Browser) -> None:
    refused = """
    async () => {
      const { openStore } = await import("/store.mjs");
      const store = await openStore(false);
      return store.append(() => { throw new Error("no"); }).catch((fault) => fault.message);
    }
    """
    many = """
    async (name) => {
      const [{ openStore }, { Device }] = await Promise.all([import("/store.mjs"), import("/device.mjs")]);
      const devices = await Promise.all([1, 2, 3].map(async () => new Device(await openStore(false), "http://m.example")));
      await Promise.all(devices.flatMap((device) => [1, 2, 3, 4].map((cap) => device.setCap(name, cap))));
      return (await devices[0].account()).entries.length;
    }
    """
    with opened(browser) as page:
        page.evaluate(MADE, 5)
        other = page.context.new_page()
        other.goto(page.url)
        assert [page.evaluate(refused), other.evaluate(refused)] == ["no", "no"]
        assert (page.evaluate(many, "a"), other.evaluate(many, "b"), page.evaluate(many, "c")) == (17, 29, 41)
        for _ in range(3):
            page.reload()
            assert page.evaluate(READ)[1] == "added"
        assert page.evaluate(READ)[0] == 44
