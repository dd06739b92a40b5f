"""The device in a real browser holds the market to its word, draws once across tabs, and fails closed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import pytest

from owner.node import BROWSER
from pdqs.market import offer_access, round_steps
from pdqs.protocol.device_messages import Bid, DomainMessage
from pdqs.protocol.market_messages import QueryMessage, RoundPlan, User
from pdqs.protocol.problems import NotFoundError

from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

PLAN = RoundPlan(
    query=QueryMessage(kind="count", text="Do you smoke?"),
    attribute="smoker",
    budget_micros=90_000_000,
    rule="optimal",
    estimator="weighted",
    epsilon_max=4.0,
    bid_seconds=600,
)


# What the page does with a bid, without its form: one page to load instead of three.
BID = """
async (round) => {
  const { visiting } = await import("/static/market.mjs");
  return (await (await visiting()).bid(round, 300000)).bid_micros;
}
"""


class Guest:
    """An owner with an offer to look at, at a browser of her own."""

    def __init__(self, site: Site, browser: Browser, name: str, plan: RoundPlan = PLAN) -> None:
        self.site = site
        self.plan = plan
        self.user, code = site.invite("owner", name)
        self.visitor = Visitor(browser, site)
        self.visitor.enter(code)
        self.page = self.visitor.page
        self.round_id = self._offered(name)

    def _offered(self, name: str) -> str:
        consumer, _ = self.site.invite("consumer", f"For {name}")
        self.site.deposit(consumer, 90_000_000)
        round_id = round_steps.draft_round(self.site.market, consumer, self.plan, f"key-{name}-round").round_id
        terms_hash = round_steps.open_round(self.site.market, consumer, round_id).terms_hash
        assert terms_hash is not None
        other, _ = self.site.invite("owner", f"Beside {name}")
        round_steps.place_bid(self.site.market, other, round_id, Bid(terms_hash=terms_hash, bid_micros=100_000))
        assert self.page.evaluate(BID, round_id) == 300_000
        self.site.clock.skip(601)
        round_steps.clear_round(self.site.market, self.site.operator, round_id)
        return round_id

    def change(self, what: str, edit: Callable[[dict[str, Any]], None]) -> None:
        """The market's answer, edited on the way to the browser."""

        def edited(route: Route) -> None:
            found = route.fetch().json()
            edit(found)
            route.fulfill(json=found)

        self.visitor.context.route(f"**/v1/{what}", edited)

    def look(self) -> None:
        self.visitor.go(f"/owner/rounds/{self.round_id}")

    def ready(self) -> None:
        self.look()
        self.page.locator(".checks .passed").nth(3).wait_for()
        self.visitor.agree()
        if self.plan is PLAN:
            self.page.get_by_label("Yes", exact=True).check()

    def refusal(self) -> str:
        self.page.locator("#trouble:not([hidden])").wait_for()
        return self.page.locator("#trouble").inner_text()

    def puts(self) -> list[str]:
        return [r.post_data or "" for r in self.visitor.requests if r.method == "PUT" and r.url.endswith("/report")]

    def leave(self) -> None:
        self.visitor.context.unroute_all(behavior="ignoreErrors")
        self.visitor.context.close()


def has_reported(site: Site, user: User, round_id: str) -> bool:
    try:
        offer_access.report(site.market, user, round_id)
    except NotFoundError:
        return False
    return True


def lower_payment(offer: dict[str, Any]) -> None:
    offer["payment_micros"] = 1


def raise_q(offer: dict[str, Any]) -> None:
    offer["q_numerator"] = 2**32 - 1


def other_terms(notice: dict[str, Any]) -> None:
    notice["terms"] = notice["terms"].replace('"epsilon_max":4.0', '"epsilon_max":9.0')


def other_question(offer: dict[str, Any]) -> None:
    offer["question"]["text"] = "Are you well?"


LIES = {
    "a payment below her price": ("rounds/*/offer", lower_payment, "where your price comes to"),
    "more privacy than the cap": ("rounds/*/offer", raise_q, "more privacy than the round's cap"),
    "terms changed after hashing": ("notices/*", other_terms, "do not match their hash"),
    "another question in the offer": ("rounds/*/offer", other_question, "another question"),
}


def test_the_page_refuses_a_market_that_lies(site: Site, browser: Browser) -> None:
    guest = Guest(site, browser, "Lied-to")
    for lie, (what, edit, said) in LIES.items():
        guest.change(what, edit)
        guest.look()
        assert said in guest.refusal(), lie
        assert guest.page.get_by_role("button", name="Randomise and send").is_disabled()
        guest.visitor.context.unroute_all(behavior="ignoreErrors")
    assert guest.puts() == []
    guest.ready()  # the negative control: the same offer, told straight, is accepted
    guest.leave()


def test_a_browser_without_secure_random_numbers_sends_nothing(site: Site, browser: Browser) -> None:
    guest = Guest(site, browser, "No-entropy")
    guest.visitor.context.add_init_script("Object.defineProperty(crypto, 'getRandomValues', { value: undefined })")
    guest.ready()
    guest.visitor.press("Randomise and send")
    assert "no secure random numbers" in guest.refusal()
    assert guest.puts() == []
    assert not has_reported(site, guest.user, guest.round_id)
    guest.leave()


def test_the_owners_cap_stops_the_page(site: Site, browser: Browser) -> None:
    guest = Guest(site, browser, "Capped")
    guest.visitor.go("/owner/privacy")
    guest.page.get_by_text("Set a cap before anything is asked").click()
    guest.page.get_by_label("Fact", exact=True).fill("smoker")
    guest.page.get_by_label("Lifetime cap on epsilon").fill("3.9")
    guest.visitor.press("Set it")
    guest.page.get_by_text("of 3.9000 epsilon, in 0 reports").wait_for()
    assert "of 12.0000 epsilon, in 0 reports" in guest.page.locator("#spending").inner_text()
    guest.look()
    assert "pass your own lifetime cap" in guest.refusal()
    assert guest.page.locator('[data-check="cap"]').get_attribute("class") == "failed"
    assert guest.page.get_by_role("button", name="Randomise and send").is_disabled()
    guest.leave()


def test_a_report_lost_on_the_way_is_resent_as_the_same_bytes(site: Site, browser: Browser) -> None:
    guest = Guest(site, browser, "Unlucky")

    def lose(route: Route) -> None:
        if route.request.method == "PUT":
            route.abort()
        else:
            route.continue_()

    guest.visitor.context.route("**/v1/rounds/*/report", lose)
    guest.ready()
    guest.page.get_by_role("button", name="Randomise and send").click()
    guest.refusal()
    assert not has_reported(site, guest.user, guest.round_id)
    guest.visitor.context.unroute_all(behavior="ignoreErrors")
    guest.look()
    guest.visitor.press("Send the same report again")
    guest.page.get_by_text("Your report is in").wait_for()
    first, second = guest.puts()
    assert first == second
    kept = offer_access.report(site.market, guest.user, guest.round_id)
    assert json.loads(first)["code"] == kept.code
    guest.leave()


def asking(kind: Literal["count", "histogram", "mean"], domain: DomainMessage) -> RoundPlan:
    """A round whose cap is so high that the report is the answer but once in 700,000 or less."""
    query = QueryMessage(kind=kind, text="Which?", domain=domain)
    return PLAN.model_copy(update={"query": query, "epsilon_max": 16.0})


RAISE_CAP = """
async () => {
  const { visiting } = await import("/static/market.mjs");
  const { device } = await visiting();
  await device.setCap("smoker", 20e9);
  await device.setCap("", 20e9);
}
"""
LETTERS = DomainMessage(kind="categories", labels=list("abcdefghijkl"), size=12)
SHORT = DomainMessage(kind="categories", labels=["tea", "coffee", "neither"], size=3)
HALVES = DomainMessage(kind="grid", start=5.0, step=0.5, size=11)


def test_every_way_of_answering_becomes_the_right_code(site: Site, browser: Browser) -> None:
    """False alarms: a report is random with chance 1 - q = k / (e^16 + k - 1), 1.4e-6 at most for each of the four."""
    ways: dict[str, tuple[RoundPlan, Callable[[Page], object], int]] = {
        "yes or no": (asking("count", DomainMessage(kind="binary")), lambda p: p.get_by_label("Yes").check(), 1),
        "a few": (asking("histogram", SHORT), lambda p: p.get_by_label("neither").check(), 2),
        "a list": (asking("histogram", LETTERS), lambda p: p.get_by_label("Which?").select_option("h"), 7),
        "a number": (asking("mean", HALVES), lambda p: p.get_by_label("Which?").fill("7.5"), 5),
    }
    for way, (plan, answer, code) in ways.items():
        guest = Guest(site, browser, way, plan)
        guest.page.evaluate(RAISE_CAP)
        guest.ready()
        guest.visitor.press("Randomise and send")
        guest.page.locator("#answer-fault:not([hidden])").wait_for()  # nothing chosen yet: said, and nothing sent
        assert guest.puts() == []
        answer(guest.page)
        guest.visitor.press("Randomise and send")
        guest.page.get_by_text("Your report is in").wait_for()
        assert offer_access.report(site.market, guest.user, guest.round_id).code == code, way
        guest.leave()


DRAW_MANY = """
async (round) => {
  const { visiting } = await import("/static/market.mjs");
  const visit = await visiting();
  const { device } = visit;
  const review = await visit.review(round);
  const given = { fresh: review.offer, agreed: Object.keys(review.asks) };
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, i) => device.report(review, i % 2, { ...given, nowMs: i })),
  );
  const { spentNanos } = await device.spending("smoker");
  return [made.map((one) => one.body + one.drawn_at_ms), spentNanos, review.epsilonNanos];
}
"""


# A store that looks first and writes later: what a transaction is there to prevent.
CARELESS = (
    "append: (decide) => append(database, seen, decide)",
    """append: async (decide) => {
      const rows = await settled(database.transaction("entries").objectStore("entries").getAll());
      const added = decide(rows);
      const entries = database.transaction("entries", "readwrite").objectStore("entries");
      for (const row of added) await settled(entries.add(row));
      return [...rows, ...added];
    }""",
)


def test_a_store_without_transactions_is_caught(site: Site, browser: Browser) -> None:
    from playwright.sync_api import Error

    guest = Guest(site, browser, "Careless")
    module = (BROWSER / "store.mjs").read_text(encoding="utf-8")
    assert module.count(CARELESS[0]) == 1
    careless = module.replace(*CARELESS)
    guest.visitor.context.route(
        "**/device/store.mjs", lambda route: route.fulfill(body=careless, content_type="text/javascript")
    )
    guest.visitor.go("/owner/earnings")
    # Both drew, so that the chain forks, and the account says that it is damaged.
    with pytest.raises(Error, match="tampered"):
        guest.page.evaluate(DRAW_MANY, guest.round_id)
    guest.leave()


def test_many_draws_in_two_tabs_at_once_make_one_report(site: Site, browser: Browser) -> None:
    guest = Guest(site, browser, "Two-tabs")
    guest.visitor.go("/owner/earnings")
    other = guest.visitor.context.new_page()
    other.goto(site.address + "/owner/earnings")
    start = f"""(round) => {{ window.drawing = ({DRAW_MANY})(round); }}"""
    for tab in (guest.page, other):
        tab.evaluate(start, guest.round_id)
    found = [tab.evaluate("() => window.drawing") for tab in (guest.page, other)]
    bodies = {body for made, _, _ in found for body in made}
    assert len(bodies) == 1
    assert all(spent == cost for _, spent, cost in found)
    guest.leave()
