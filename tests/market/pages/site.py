"""A real market on loopback and real browsers to look at it with, for tests of the pages."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import uvicorn

from market.town import known_ids
from pdqs.market import round_steps
from pdqs.market.context import Market
from pdqs.market.http.app import create_app
from pdqs.market.settings import Settings
from pdqs.protocol.market_messages import NewUser, Role, Transfer, User

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

ARTIFACTS = Path(__file__).parents[3] / "artifacts"
CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Clock:
    """The server's clock: real time, which a test may push forward."""

    def __init__(self) -> None:
        self.ahead_ms = 0

    def __call__(self) -> int:
        return time.time_ns() // 1_000_000 + self.ahead_ms

    def skip(self, seconds: float) -> None:
        self.ahead_ms += int(1000 * seconds)


@dataclass(frozen=True)
class Site:
    """A market being served, and its first operator."""

    address: str
    market: Market
    clock: Clock
    operator: User
    folder: Path

    def invite(self, role: Role, name: str) -> tuple[User, str]:
        """Somebody new, and her one-time code."""
        made = round_steps.register_user(
            self.market, self.operator, NewUser(role=role, name=name), f"key-{role}-{name}"
        )
        return made.user, made.code

    def deposit(self, user: User, amount_micros: int) -> None:
        transfer = Transfer(user_id=user.user_id, amount_micros=amount_micros)
        round_steps.deposit(self.market, self.operator, transfer, f"key-{user.user_id}")


@contextmanager
def served(folder: Path, device_origins: str = "", **money: str) -> Iterator[Site]:
    """Serve a fresh market from ``folder`` on a free loopback port; devices may come from these origins too."""
    clock = Clock()
    settings = Settings(
        database_url=f"sqlite:///{folder / 'market.db'}",
        tick_seconds=0.1,
        caller_rate=1000.0,
        caller_burst=10_000.0,
        device_origins=device_origins,
        **money,  # type: ignore[arg-type]  # its currency and its mark
    )
    app = create_app(settings, clock)
    known_ids(app.state.market.store)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.02)
    market = app.state.market
    operator = round_steps.first_operator(market).user
    try:
        yield Site(f"http://127.0.0.1:{port}", market, clock, operator, folder)
    finally:
        server.should_exit = True
        thread.join()


def look_of_all() -> dict[str, object]:
    """The look that ``PDQS_LOOK`` asks of every browser, as "phone dark"; nothing unless it is set (make pages)."""
    size, _, scheme = os.environ.get("PDQS_LOOK", "").partition(" ")
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    desktop = {"viewport": {"width": 1280, "height": 860}, "has_touch": False, "is_mobile": False}
    return {**{"phone": phone, "desktop": desktop}[size], "color_scheme": scheme} if size else {}


class Visitor:
    """One person at a browser of her own: a page, every request it made, and every complaint of the console."""

    def __init__(self, browser: Browser, site: Site, **context: object) -> None:
        self.site = site
        look = {"viewport": {"width": 1280, "height": 860}, **context, **look_of_all()}
        self.context: BrowserContext = browser.new_context(**look)  # type: ignore[arg-type]  # as playwright names them
        self.context.set_default_timeout(120_000)  # a busy machine is slow
        self.page: Page = self.context.new_page()
        self.requests: list[Request] = []
        self.complaints: list[str] = []
        self.context.on("request", lambda request: self.requests.append(request))
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda fault: self.complaints.append(str(fault)))

    def _heard(self, message: ConsoleMessage) -> None:
        """Every complaint but two: the device asks whether there is a bid or a report, and "no" is a 404; and the
        network of the machine may change, as tests of clusters beside this one make it do.
        """
        asked = message.location["url"].endswith(("/bid", "/report"))
        if not (asked and "404 (" in message.text) and "ERR_NETWORK_CHANGED" not in message.text:
            self.complaints.append(message.text)

    def enter(self, code: str) -> None:
        """Sign in with a one-time code, as a link carries it."""
        self.page.goto(f"{self.site.address}/enter#{code}")
        self.press("Sign in")
        self.page.wait_for_url(lambda url: "/enter" not in url)  # a slow machine is still on its way

    def agree(self) -> None:
        """Agree to whatever the device asks first."""
        for box in self.page.locator("[data-agree]").all():
            box.check()

    def press(self, name: str) -> None:
        """Press a button and wait for the page that follows."""
        self.page.get_by_role("button", name=name).click()
        self.page.wait_for_load_state()

    def go(self, path: str) -> None:
        self.page.goto(self.site.address + path)

    def figure(self, name: str) -> str:
        """The text of a figure on the page."""
        return self.page.locator(f'[data-figure="{name}"]').first.inner_text()

    def micros(self, name: str) -> int:
        """A figure of money on the page, in micro-units: the exact one, where the page shows it rounded."""
        place = self.page.locator(f'[data-figure="{name}"]').first
        exact = place.locator("data")
        shown = exact.first.get_attribute("value") if exact.count() else place.inner_text()
        return round(Decimal(str(shown).replace(",", "")) * 1_000_000)

    def shoot(self, name: str) -> Path:
        """Keep a picture of the page among the artifacts."""
        ARTIFACTS.mkdir(exist_ok=True)
        path = ARTIFACTS / f"{name}.png"
        self.page.screenshot(path=path, full_page=True)
        return path

    def fits(self) -> bool:
        """Whether nothing on the page makes it wider than the window it was opened in."""
        window = self.page.viewport_size
        assert window is not None
        return int(self.page.evaluate("document.documentElement.scrollWidth")) <= window["width"]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's chromium, or a skip that says what is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = CHROMIUM if Path(CHROMIUM).exists() else shutil.which("chromium")
    if path is None:
        pytest.skip("no chromium on this machine: pages cannot be seen in a real browser (apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
