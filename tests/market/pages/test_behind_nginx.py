"""nginx in front, as ``deploy/nginx.conf`` has it: TLS with a certificate of the test's own, and a path prefix."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from market.town import plan
from pdqs.market import Settings, offer_access, round_steps
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served as serving
from pdqs.owner.client import OwnerClient

from .proxies import DEPLOY, answering, caller_of, certificate_for, free_port, market_behind
from .site import Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")

pytestmark = pytest.mark.skipif(NGINX is None, reason="no nginx on this machine (apt-get install nginx-light)")


def _configured(folder: Path, port: int, market_port: int) -> Path:
    """The example as it is, with this test's ports, names and certificate, for a user who is nobody special."""
    pem, key = certificate_for(folder)
    example = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    changes = {
        "town.example;": "localhost 127.0.0.1;",
        "/etc/ssl/town.example.pem": str(pem),
        "/etc/ssl/town.example.key": str(key),
        "listen 80;": f"listen 127.0.0.1:{free_port()};",
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "server 127.0.0.1:8000;": f"server 127.0.0.1:{market_port};",
        "Host $host;": "Host $http_host;",  # with the port, which is not the usual one here
        "return 308 /market/;": f"return 308 https://127.0.0.1:{port}/market/;",
    }
    for before, after in changes.items():
        assert before in example, before
        example = example.replace(before, after)
    places = "".join(
        f"{kind}_temp_path {folder / kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off;\nworker_processes 1;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{places}{example}\n}}\n",
        encoding="utf-8",
    )
    return config


@contextmanager
def _nginx(config: Path, port: int) -> Iterator[None]:
    assert NGINX is not None
    user = ["-g", "user root;"] if Path("/proc/self").stat().st_uid == 0 else []
    process = subprocess.Popen([NGINX, "-c", str(config), "-e", str(config.parent / "error.log"), *user])
    with answering(process, port, config.parent / "error.log"):
        yield


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A market at https://127.0.0.1:PORT/market."""
    folder = tmp_path_factory.mktemp("nginx")
    with market_behind(lambda port, inside: _nginx(_configured(folder, port, inside), port), folder) as found:
        yield found


@pytest.fixture
def client(site: Site) -> Iterator[httpx.Client]:
    with caller_of(site) as made:
        yield made


def test_links_files_and_redirects_stay_under_the_prefix(client: httpx.Client) -> None:
    door = client.get("/")
    assert door.status_code == 200
    links = re.findall(r' (?:href|src|action)="([^"#]*)"', door.text)
    assert links
    assert all(link.startswith("/market/") for link in links), links
    for link in set(links) - {"/market/enter"}:
        assert client.get(f"{client.base_url.copy_with(path=link.partition('?')[0])}").status_code == 200
    sent = client.get("/consumer")
    assert (sent.status_code, sent.headers["location"]) == (303, "/market/enter?next=/consumer")
    assert client.get("/docs").status_code == 200
    assert client.get("/openapi.json").json()["servers"] == [{"url": "/market"}]


def test_a_proxy_that_takes_the_prefix_off_is_as_good(tmp_path: Path) -> None:
    settings = Settings(database_url=f"sqlite:///{tmp_path}/market.db", root_path="/market")
    with serving(create_app(settings, ticking=False)) as address:
        stripped, whole = httpx.get(f"{address}/"), httpx.get(f"{address}/market/")
        assert stripped.status_code == whole.status_code == 200
        assert 'href="/market/static/' in stripped.text
        assert httpx.get(f"{address}/marketplace").status_code == 404


def test_cookies_are_for_this_host_over_tls_alone_and_metrics_stay_inside(site: Site, client: httpx.Client) -> None:
    cookie = client.get("/").headers["set-cookie"]
    assert cookie.startswith("__Host-pdqs_knock=")
    assert "Secure" in cookie
    assert "Path=/;" in cookie + ";"
    assert client.get("/healthz").headers["strict-transport-security"]
    assert client.get("/metrics").status_code == 200  # we are on the machine itself
    form = {"code": "x", "door_token": "y"}
    elsewhere = client.post("/enter", data=form, headers={"origin": "https://elsewhere.example"})
    assert (elsewhere.status_code, elsewhere.json()["type"]) == (403, "other-site")
    assert client.post("/enter", data=form, headers={"origin": site.market.settings.origin}).status_code != 200


def test_people_sign_in_bid_from_their_page_and_see_a_round_go_on(site: Site, browser: Browser) -> None:
    consumer, code = site.invite("consumer", "Clara")
    site.deposit(consumer, 50_000_000)
    draft = round_steps.draft_round(site.market, consumer, plan(bid_seconds=600), "behind-nginx")
    opened = round_steps.open_round(site.market, consumer, draft.round_id)
    clara = Visitor(browser, site, ignore_https_errors=True)
    clara.enter(code)
    clara.go(f"/consumer/rounds/{opened.round_id}")
    owner, code = site.invite("owner", "Olga")
    olga = Visitor(browser, site, ignore_https_errors=True)
    olga.enter(code)
    assert olga.page.url == f"{site.address}/owner"
    olga.page.get_by_role("link", name="Have you been ill this month?").first.click()
    olga.page.wait_for_url("**/owner/rounds/**")
    bid = """async (round) => {
      const { visiting } = await import("/market/static/market.mjs");
      return (await (await visiting()).bid(round, 300000)).bid_micros;
    }"""
    assert olga.page.evaluate(bid, opened.round_id) == 300_000
    assert offer_access.bid(site.market, owner, opened.round_id).bid_micros == 300_000
    clara.page.get_by_text("1 bid", exact=False).first.wait_for()  # her page follows the round by itself
    _, code = site.invite("operator", "Otto")
    otto = Visitor(browser, site, ignore_https_errors=True)
    otto.enter(code)
    otto.go("/operator/people")
    otto.page.get_by_label("Name").fill("Nora")
    otto.press("Make a code")
    assert f"{site.address}/enter#" in otto.page.inner_text("main")
    assert [one.complaints for one in (clara, olga, otto)] == [[], [], []]
    outside = [request.url for one in (clara, olga, otto) for request in one.requests]
    assert all(url.startswith(f"{site.address}/") for url in outside), outside


def test_a_device_of_the_command_line_takes_an_address_with_a_prefix(site: Site) -> None:
    inside = site.market.settings
    with serving(create_app(Settings(database_url=inside.database_url, root_path="/market"), ticking=False)) as address:
        _, code = site.invite("owner", "Petra")
        with OwnerClient(f"{address}/market") as stranger:
            token = stranger.redeem(code)
        with OwnerClient(f"{address}/market", token) as device:
            assert device.account().user.name == "Petra"
