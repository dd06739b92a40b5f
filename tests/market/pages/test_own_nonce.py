"""A consumer's own part of the draw: drawn, kept and told by her browser, or entered by hand where that is lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from market.town import plan
from pdqs.market import drafts, reads, round_steps
from pdqs.protocol.device_messages import Bid
from pdqs.protocol.market_messages import Round, User
from pdqs.rounds.commitments import commitment_to

from .axe import violations
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
OPEN = "Open the round and put"
BOX = "Have this browser add its own chance to the draw"


def drafted(site: Site, name: str) -> tuple[User, str, Round]:
    """A consumer with money and a draft, and her code."""
    consumer, code = site.invite("consumer", name)
    site.deposit(consumer, 30_000_000)
    return consumer, code, drafts.draft_round(site.market, consumer, plan(bid_seconds=3600), f"draft-{name}")


def bid_and_close(site: Site, consumer: User, round_id: str) -> None:
    """Two owners bid, and bids close."""
    opened = reads.round_by_id(site.market, consumer, round_id)
    assert opened.terms_hash is not None
    for name in ("Ann", "Bea"):
        owner, _ = site.invite("owner", f"{name} for {consumer.name}")
        round_steps.place_bid(site.market, owner, round_id, Bid(terms_hash=opened.terms_hash, bid_micros=200_000))
    site.clock.skip(3601)


def opened_with_the_box(visitor: Visitor, code: str, found: Round) -> None:
    visitor.enter(code)
    visitor.go(f"/consumer/rounds/{found.round_id}")
    box = visitor.page.get_by_label(BOX)
    assert not box.is_checked()  # a round that nobody comes back to is worse than trusting the market
    box.check()
    visitor.page.get_by_text("But the round needs this browser once more").wait_for()
    assert violations(visitor.page) == []
    assert visitor.fits()
    visitor.shoot(f"market-own-chance-{visitor.page.viewport_size['width']}")  # type: ignore[index]  # it has a size
    visitor.press(OPEN)
    visitor.page.get_by_text("This browser keeps it").wait_for()


def test_the_browser_draws_keeps_and_tells_its_part_by_itself(site: Site, browser: Browser) -> None:
    consumer, code, draft = drafted(site, "Institute of Chance")
    visitor = Visitor(browser, site)
    opened_with_the_box(visitor, code, draft)
    opened = reads.round_by_id(site.market, consumer, draft.round_id)
    kept = visitor.page.evaluate("round => localStorage.getItem(`pdqs-nonce ${round}`)", draft.round_id)
    assert (opened.state, opened.nonce_by) == ("open", "consumer")
    assert opened.plan.nonce_hash == commitment_to("nonce", bytes.fromhex(kept))
    assert not any(kept in (request.post_data or "") for request in visitor.requests)  # its hash alone has left

    bid_and_close(site, consumer, draft.round_id)  # the page is open: it hears of it and tells the part
    visitor.page.get_by_text("This browser told its part of the draw").wait_for(timeout=120_000)
    visitor.page.get_by_text("Owners can report for another").wait_for(timeout=120_000)
    cleared = reads.round_by_id(site.market, consumer, draft.round_id)
    assert (cleared.state, cleared.nonce) == ("reporting", kept)
    assert visitor.page.evaluate("Object.keys(localStorage)") == []  # it is the round's now
    assert violations(visitor.page) == []
    assert visitor.complaints == []
    visitor.shoot("market-own-nonce-told")


def test_a_lost_browser_is_made_good_by_the_file_and_a_wrong_part_is_refused(site: Site, browser: Browser) -> None:
    consumer, code, draft = drafted(site, "Lost and Found")
    first = Visitor(browser, site, color_scheme="dark", **PHONE)
    opened_with_the_box(first, code, draft)
    with first.page.expect_download() as file:
        first.page.get_by_role("link", name="Keep it in a file").click()
    nonce = Path(file.value.path()).read_text(encoding="ascii").strip()
    session = first.context.cookies()
    first.shoot("market-own-nonce-kept-phone-dark")
    first.context.close()

    second = Visitor(browser, site, **PHONE)
    second.context.add_cookies(session)  # type: ignore[arg-type]  # as playwright gave them
    second.go(f"/consumer/rounds/{draft.round_id}")
    second.page.get_by_text("open this page there, or enter it here").wait_for()
    bid_and_close(site, consumer, draft.round_id)
    round_steps.clear_round(site.market, consumer, draft.round_id)  # as the market's clock does, but now
    second.page.reload()
    second.page.get_by_label("Your part, from its file or your program").fill("ab" * 32)
    second.press("Tell it and make the draw")
    second.page.get_by_text("this is not the nonce that the round is committed to").wait_for()
    assert violations(second.page) == []
    assert second.fits()
    second.shoot("market-own-nonce-wanted-phone")
    second.page.get_by_label("Your part, from its file or your program").fill(f" {nonce.upper()} ")
    second.press("Tell it and make the draw")
    second.page.get_by_text("Owners can report for another").wait_for()
    assert reads.round_by_id(site.market, consumer, draft.round_id).nonce == nonce


def test_without_scripts_or_without_the_box_a_round_opens_as_ever(site: Site, browser: Browser) -> None:
    consumer, code, draft = drafted(site, "Plain Pages")
    signed = Visitor(browser, site)
    signed.enter(code)
    plain = Visitor(browser, site, java_script_enabled=False)
    plain.context.add_cookies(signed.context.cookies())  # type: ignore[arg-type]  # as playwright gave them
    plain.go(f"/consumer/rounds/{draft.round_id}")
    assert not plain.page.get_by_label(BOX).is_visible()
    plain.press(OPEN)
    plain.page.get_by_text("Owners can bid for another").wait_for()
    assert reads.round_by_id(site.market, consumer, draft.round_id).nonce_by == "market"
