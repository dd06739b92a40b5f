"""The page of her own device: whose it is and stays, what it shows of a market's words, what it says of mishaps."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pdqs.market import offer_access, round_steps
from pdqs.owner.bundle import PageServer, write_bundle
from pdqs.protocol.problems import NotFoundError

from .site import Site, served
from .test_browser_device import PLAN
from .test_device_elsewhere import opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route


@pytest.fixture
def place(device_page: PageServer, tmp_path: Path) -> Iterator[Site]:
    """A market that answers the page of her own device."""
    with served(tmp_path, device_origins=device_page.address) as up:
        yield up


@pytest.fixture
def page(browser: Browser, device_page: PageServer) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    context.set_default_timeout(60_000)  # a busy machine is slow
    found = context.new_page()
    found.goto(device_page.address)
    found.locator("#late").wait_for(state="detached")
    yield found
    context.close()


def enrol(page: Page, address: str, code: str) -> None:
    page.get_by_label("Address of the market").fill(address)
    page.get_by_label("One-time code").fill(code)
    page.get_by_role("button", name="Enrol").click()


def told(page: Page, words: str) -> None:
    page.locator("#trouble").get_by_text(words).wait_for()


def kept(page: Page) -> dict[str, dict[str, str]]:
    return dict(page.evaluate('JSON.parse(localStorage.getItem("pdqs-markets"))'))


def fits(page: Page) -> bool:
    return int(page.evaluate("document.documentElement.scrollWidth")) <= 390


def bid_in(page: Page, price: str = "0.3") -> None:
    page.get_by_role("button", name="Do you smoke?").click()
    page.get_by_label("Your price per unit of epsilon").fill(price)
    page.get_by_role("button", name="Bid", exact=True).click()
    page.get_by_text(f"Your bid of {price}0 stands").wait_for()


def test_a_second_person_does_not_take_the_page_over_unasked(place: Site, page: Page) -> None:
    ann, first = place.invite("owner", "Ann")
    bea, second = place.invite("owner", "Bea")
    enrol(page, place.address, first)
    page.get_by_text("No rounds are open.").wait_for()
    enrol(page, place.address, second)
    told(page, f"This device is enrolled at {place.address} as “Ann” already, so the code was not used.")
    assert kept(page)[place.address]["user"] == ann.user_id
    page.get_by_label("The code is for “Ann”.").check()
    page.get_by_role("button", name="Enrol").click()
    page.locator("#again").wait_for(state="hidden")
    assert kept(page)[place.address]["user"] == bea.user_id, "the code was unused so far, and Ann had done nothing here"
    assert fits(page)


def test_a_page_with_bids_stays_hers_who_made_them(place: Site, page: Page) -> None:
    """Under another name a market would give her another draw, and her bids, keys and names would begin anew."""
    ann, first = place.invite("owner", "Ann")
    _, second = place.invite("owner", "Bea")
    round_id = opened(place)
    enrol(page, place.address, first)
    bid_in(page)
    before = kept(page)
    enrol(page, place.address, second)
    page.get_by_label("The code is for “Ann”.").check()
    page.get_by_role("button", name="Enrol").click()
    told(page, f"The code was for “Bea”, and the bids and reports of this device at {place.address} are somebody")
    assert kept(page) == before
    page.evaluate("localStorage.clear()")  # what it says of markets is gone; what was bid from here is not
    _, third = place.invite("owner", "Cai")
    enrol(page, place.address, third)
    told(page, "The code was for “Cai”")
    assert kept(page) == {}
    again = round_steps.renew_code(place.market, place.operator, ann.user_id)
    enrol(page, place.address, again.code)
    while page.get_by_label("One-time code").input_value():  # until then the list is the one of before
        page.wait_for_timeout(20)
    page.get_by_role("button", name="Do you smoke?").click()
    page.get_by_role("button", name="Withdraw it").click()
    page.get_by_text("You have no bid in this round.").wait_for()
    assert kept(page)[place.address]["user"] == ann.user_id
    with pytest.raises(NotFoundError):
        offer_access.bid(place.market, ann, round_id)


def answering(page: Page, path: str, answer: object) -> None:
    def said(route: Route) -> None:
        allowed = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "authorization, content-type"}
        route.fulfill(status=200, headers=allowed, content_type="application/json", body=json.dumps(answer))

    page.route(f"**/v1/{path}", said)


def a_user(**changed: object) -> dict[str, object]:
    return {"user_id": "u_" + "0" * 24, "role": "owner", "name": "Ann", "created_at_ms": 1} | changed


def a_token(**changed: object) -> dict[str, object]:
    return {"token": "t" * 43, "user": a_user()} | changed


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "yes",
        {},
        a_token(token="t"),
        a_token(token=["t" * 43]),
        a_token(user=None),
        a_token(user=a_user(user_id="u_0 http://other.example")),
        a_token(user=a_user(name="\u202eAnn")),
        a_token(user=a_user(role="king")),
    ],
)
def test_what_is_no_token_is_not_kept(page: Page, answer: object) -> None:
    answering(page, "tokens", answer)
    enrol(page, "http://market.example/here", "c" * 30)
    told(page, "What the market sent is not a token as one is written.")
    assert kept(page) == {}


def test_a_market_under_a_path_is_asked_there(page: Page) -> None:
    answering(page, "tokens", a_token())
    answering(page, "notices", {"items": [], "next": None})
    with page.expect_request("http://town.example/market/v1/notices") as asked:
        enrol(page, "", f"http://Town.example:80/market/enter#{'c' * 30}")
    assert asked.value.headers["authorization"] == f"Bearer {'t' * 43}"
    page.get_by_role("button", name="http://town.example/market").wait_for()


def summary(**changed: object) -> dict[str, Any]:
    told = {
        "round_id": "r_" + "0" * 24,
        "state": "open",
        "text": "Do you like tea?",
        "attribute": "tea",
        "domain_kind": "binary",
        "domain_size": 2,
        "bid_low_micros": 0,
        "bid_high_micros": 10_000_000,
        "epsilon_max": 1.5,
        "bids_close_at_ms": 1,
        "reports_close_at_ms": None,
        "terms_hash": "0" * 64,
        "purpose": "",
        "stages_in_all": 1,
    }
    return told | changed


@pytest.mark.parametrize(
    "items",
    [
        [summary(text="\u202eyppah ,DERIFIREV \u2713\u202c Do you like tea?")],
        [summary(text="x" * 100_000)],
        [summary(state="paid 900.00: press here")],
        [summary(round_id="../../me")],
        [summary(text=None)],
        {"0": summary()},
    ],
)
def test_no_words_of_a_market_pass_for_the_devices_own_in_its_list(page: Page, items: object) -> None:
    answering(page, "tokens", a_token())
    answering(page, "notices", {"items": items, "next": None})
    enrol(page, "http://market.example", "c" * 30)
    told(page, "What the market sent is not")
    assert page.locator("#rounds button").count() == 0
    page.unroute("**/v1/notices")
    answering(page, "notices", {"items": [summary(text="tea " * 100)], "next": None})
    page.get_by_role("button", name="http://market.example").click()
    page.get_by_role("button", name="tea tea").wait_for()
    assert fits(page)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_words: object) -> None:
        """Nothing."""


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    """A host that sends no header of its own."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_device_that_is_hosted_anywhere_does_not_start_inside_another_page(browser: Browser, tmp_path: Path) -> None:
    """Whoever frames it could lay anything over its buttons, and a plain host sends no header against that."""
    write_bundle(tmp_path / "device")
    (tmp_path / "other").mkdir()
    with hosted(tmp_path / "device") as device, hosted(tmp_path / "other") as other:
        (tmp_path / "other" / "index.html").write_text(f'<iframe src="{device}/"></iframe>', encoding="utf-8")
        page = browser.new_page()
        page.goto(other)
        frame = page.frame_locator("iframe")
        frame.get_by_text("Your device does not work inside another page").wait_for()
        assert frame.locator("button, input, #privacy").count() == 0
        with page.expect_popup() as alone:
            frame.get_by_role("link", name="Open it by itself").click()
        alone.value.locator("#privacy dl").wait_for()
        page.close()


def test_a_hosted_page_holds_itself_to_the_policy_that_its_own_server_sends(browser: Browser, tmp_path: Path) -> None:
    write_bundle(tmp_path)
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    (tmp_path / "index.html").write_text(
        text.replace("</body>", '<script>document.title = "run"</script></body>'), encoding="utf-8"
    )
    with hosted(tmp_path) as address:
        page = browser.new_page()
        page.goto(address)
        page.locator("#privacy dl").wait_for()
        assert page.title() == "pdqs device", "a script that was put into the page does not run"
        page.close()


@pytest.mark.parametrize("lost", ["indexedDB", "localStorage"])
def test_a_browser_that_keeps_nothing_is_told_so_and_uses_up_no_code(
    browser: Browser, device_page: PageServer, lost: str
) -> None:
    page = browser.new_page()
    page.add_init_script(f'Object.defineProperty(window, "{lost}", {{ get() {{ throw new DOMException("no"); }} }})')
    page.goto(device_page.address)
    page.get_by_text("This browser keeps nothing for this page").wait_for()
    assert page.locator("button:enabled").count() == 0
    page.close()


def test_silence_and_mistypings_end_with_a_sentence_that_helps(page: Page, device_page: PageServer) -> None:
    for address, code, words in (
        ("", "", "No one-time code was given"),
        ("town.example", "c" * 30, "“town.example” is not a market's address: write it like https://market.example."),
        ("http://127.0.0.1:9", "short", "This is not a one-time code: copy all of it."),
        ("http://127.0.0.1:9", "c" * 30, "No answer came from http://127.0.0.1:9. Look whether the address is right"),
    ):
        enrol(page, address, code)
        told(page, words)
        assert page.locator("#trouble").bounding_box()["y"] >= 0, "in sight"  # type: ignore[index]
        assert page.get_by_label("Address of the market").input_value() == address, "what was typed is still there"
    assert device_page.address in page.locator("#trouble").inner_text()
    page.context.set_offline(True)
    page.get_by_role("button", name="Enrol").click()
    told(page, "You are offline.")
    page.context.set_offline(False)
    for name, cap, words in (
        ("Income", "4", "A fact is called by its name in small letters"),
        ("income", "lots", '"lots" is not a number'),
        ("income", "1,5", '"1,5" could mean 1.5 or 15'),
        ("", "1e3", "write all of its digits"),
        ("", "2000000", "it is a number from 0 to 1,000,000"),
    ):
        page.get_by_label("Fact").fill(name)
        page.get_by_label("Lifetime cap").fill(cap)
        page.get_by_role("button", name="Set the cap").click()
        told(page, words)
    page.get_by_label("Fact").fill("income")
    page.get_by_label("Lifetime cap").fill("4.1")
    page.get_by_role("button", name="Set the cap").click()
    page.get_by_text("0.0000 of 4.1000 epsilon").wait_for()
    assert fits(page)


def test_a_round_that_comes_late_does_not_stand_under_anothers_name(place: Site, page: Page) -> None:
    """She opens one, it is slow, and she opens another, or turns to the list."""
    _, code = place.invite("owner", "Ann")
    slow = opened(place)
    consumer, _ = place.invite("consumer", "Office")
    place.deposit(consumer, 90_000_000)
    about = PLAN.query.model_copy(update={"text": "Do you like tea?"})
    tea = PLAN.model_copy(update={"query": about, "attribute": "tea"})
    quick = round_steps.draft_round(place.market, consumer, tea, "key-tea-round").round_id
    round_steps.open_round(place.market, consumer, quick)
    enrol(page, place.address, code)
    waiting: list[Route] = []
    page.route(f"**/v1/notices/{slow}", lambda route: waiting.append(route))
    for turned_to in ("Do you like tea?", place.address):
        with page.expect_request(f"**/v1/notices/{slow}"):
            page.get_by_role("button", name="Do you smoke?").click()
        page.get_by_role("button", name=turned_to).click()
        if turned_to != place.address:
            page.get_by_role("heading", name=turned_to).wait_for()
        page.locator("#rounds button").nth(1).wait_for()
        with page.expect_response(f"**/v1/notices/{slow}"):
            waiting.pop().continue_()
        page.wait_for_timeout(500)  # a page that takes it shows it by then; one that does not, never
        assert not page.get_by_role("heading", name="Do you smoke?").is_visible()
        assert "smoke" not in page.locator("#round").inner_text()


def test_what_stands_against_an_answer_is_said_beside_it_and_a_lost_report_is_sent_again(
    place: Site, page: Page
) -> None:
    ann, code = place.invite("owner", "Ann")
    round_id = opened(place)
    enrol(page, place.address, code)
    page.get_by_role("button", name="Do you smoke?").click()
    for price, words in (
        ("", "nothing is written here"),
        ("1,5", "could mean 1.5 or 15"),
        ("5", "within the round's range"),
    ):
        page.get_by_label("Your price per unit of epsilon").fill(price)
        page.get_by_role("button", name="Bid", exact=True).click()
        page.locator("#round #trouble").get_by_text(words).wait_for()
    bid_in(page)
    place.clock.skip(601)
    round_steps.clear_round(place.market, place.operator, round_id)
    page.get_by_role("button", name="Do you smoke?").click()
    send = page.get_by_role("button", name="Randomise and send")
    send.click()
    told(page, "Give your answer first: yes or no. Nothing was drawn and nothing was sent.")
    page.get_by_label("Your true answer").select_option("Yes")
    send.click()
    told(page, "Tick what is said below if you agree to it")
    assert page.get_by_label("Your true answer").input_value() == "1", "what she chose is still there"
    page.get_by_label("is a new fact, and not one asked about before").check()
    page.route("**/report", lambda route: route.abort() if route.request.method == "PUT" else route.continue_())
    send.click()
    told(page, f"No answer came from {place.address}. Look whether you are online")
    page.unroute("**/report")
    page.get_by_role("button", name="Send the same").click()
    page.get_by_text("drawn, sent, accepted").wait_for()
    assert offer_access.report(place.market, ann, round_id).ordinal == 1
    assert page.locator("#trouble").is_hidden()
    assert fits(page)
