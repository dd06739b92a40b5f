"""Caddy in front, as ``deploy/Caddyfile`` has it: TLS with a certificate of the test's own, and a path prefix."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest

from market.town import plan
from pdqs.market import access, round_steps
from pdqs.protocol.device_messages import Bid

from .proxies import DEPLOY, answering, caller_of, certificate_for, market_behind
from .site import Site

CADDY = shutil.which("caddy")

pytestmark = pytest.mark.skipif(CADDY is None, reason="no caddy on this machine (apt-get install caddy)")


def _configured(folder: Path, port: int, market_port: int) -> Path:
    """The example as it is, with this test's ports, name and certificate; it asks nobody for another."""
    pem, key = certificate_for(folder)
    example = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    changes = {
        "town.example {": f"https://127.0.0.1:{port} {{\n\ttls {pem} {key}",
        "127.0.0.1:8000": f"127.0.0.1:{market_port}",
    }
    for before, after in changes.items():
        assert before in example, before
        example = example.replace(before, after)
    config = folder / "Caddyfile"
    alone = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"
    config.write_text(alone + example, encoding="utf-8")
    return config


def _caddy(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    assert CADDY is not None
    homes = {name: str(folder) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    with (folder / "caddy.log").open("wb") as log:
        return subprocess.Popen([CADDY, *words], stderr=log, stdout=log, env={**os.environ, **homes})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A market at https://127.0.0.1:PORT/market."""
    folder = tmp_path_factory.mktemp("caddy")

    def front(port: int, market_port: int) -> AbstractContextManager[None]:
        config = _configured(folder, port, market_port)
        process = _caddy(folder, "run", "--config", str(config), "--adapter", "caddyfile")
        return answering(process, port, folder / "caddy.log")

    with market_behind(front, folder) as found:
        yield found


@pytest.fixture
def client(site: Site) -> Iterator[httpx.Client]:
    with caller_of(site) as made:
        yield made


def test_the_example_is_one_that_caddy_takes_and_has_its_own_form(tmp_path: Path) -> None:
    (tmp_path / "Caddyfile").write_bytes((DEPLOY / "Caddyfile").read_bytes())
    for words in (("validate", "--adapter", "caddyfile", "--config"), ("fmt",)):
        done = _caddy(tmp_path, *words, str(tmp_path / "Caddyfile"))
        assert done.wait(timeout=120) == 0, (tmp_path / "caddy.log").read_text(encoding="utf-8")


def test_pages_are_under_the_prefix_over_tls_and_metrics_are_nobodys(site: Site, client: httpx.Client) -> None:
    door = client.get("/")
    assert door.status_code == 200
    assert door.headers["set-cookie"].startswith("__Host-pdqs_knock=")
    links = re.findall(r' (?:href|src|action)="([^"#]*)"', door.text)
    assert links
    assert all(link.startswith("/market/") for link in links), links
    assert client.get("/metrics").status_code == 403
    bare = client.get(site.address)
    assert (bare.status_code, bare.headers["location"]) == (308, "/market/")
    assert client.get("/healthz").headers["strict-transport-security"]


def test_events_reach_a_page_when_they_happen(site: Site, client: httpx.Client) -> None:
    consumer, _ = site.invite("consumer", "Clara")
    site.deposit(consumer, 50_000_000)
    draft = round_steps.draft_round(site.market, consumer, plan(bid_seconds=600), "behind-caddy")
    opened = round_steps.open_round(site.market, consumer, draft.round_id)
    cookie = {"Cookie": f"__Host-{access.COOKIE}={access.start_session(site.market, consumer).cookie}"}
    found, owners = threading.Event(), [site.invite("owner", f"Olga {place}")[0] for place in range(60)]

    def bid_now_and_then() -> None:
        """The stream knows nothing of what was before it: there must be something new after it began."""
        for owner in owners:
            bid = Bid(terms_hash=opened.terms_hash or "", bid_micros=300_000)
            round_steps.place_bid(site.market, owner, opened.round_id, bid)
            if found.wait(0.5):
                break

    with client.stream("GET", f"/consumer/rounds/{opened.round_id}/events", headers=cookie) as events:
        assert events.status_code == 200
        bidding = threading.Thread(target=bid_now_and_then)
        bidding.start()
        came = next((line for line in events.iter_lines() if line.startswith("data:")), "")
        found.set()
        bidding.join()
    assert came == "data: changed", "events are not held back until the stream has ended"
