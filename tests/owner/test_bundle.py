"""The browser's device as files of its own: all there, named by their hashes, and served to nobody but this machine."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import httpx
import pytest

from pdqs.model.errors import FileError
from pdqs.owner.bundle import MANIFEST, PageServer, device_files, manifest_hash, write_bundle

from .node import BROWSER


def test_the_manifest_names_every_file_by_its_hash(tmp_path: Path) -> None:
    written = write_bundle(tmp_path / "device")
    manifest = (tmp_path / "device" / MANIFEST).read_bytes()
    assert hashlib.sha256(manifest).hexdigest() == written == manifest_hash()
    listed = json.loads(manifest)["files"]
    assert set(listed) == {path.name for path in BROWSER.iterdir() if path.is_file()}
    for name, found in listed.items():
        assert hashlib.sha256((tmp_path / "device" / name).read_bytes()).hexdigest() == found


def test_nothing_that_it_loads_is_missing_or_from_elsewhere() -> None:
    for name, content in device_files().items():
        if name.endswith((".mjs", ".html")):
            text = content.decode()
            loaded = re.findall(r'(?:from |import\(|src=|href=)"([^"]*)"', text)
            assert {item.removeprefix("./") for item in loaded if item != "data:,"} <= set(device_files()), name


def test_the_page_is_served_with_a_strict_policy_and_only_under_its_own_name(device_page: PageServer) -> None:
    with httpx.Client(base_url=device_page.address) as client:
        answer = client.get("/")
        assert answer.status_code == 200
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert answer.content == device_files()["index.html"]
        assert client.get("/app.mjs").headers["content-type"].startswith("text/javascript")
        for path in ("/../bundle.py", "/%2e%2e/bundle.py", "/nothing.mjs"):
            assert client.get(path).status_code == 404


def test_the_page_says_its_policy_itself_for_hosts_that_say_none(device_page: PageServer) -> None:
    sent = httpx.get(device_page.address).headers["content-security-policy"]
    (said,) = re.findall(
        r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', device_files()["index.html"].decode()
    )
    assert f"{said}; frame-ancestors 'none'" == sent  # which a page cannot say of itself


@pytest.mark.parametrize("example", ["device-nginx.conf", "device-Caddyfile"])
def test_the_examples_for_hosts_send_what_the_pages_own_server_sends(device_page: PageServer, example: str) -> None:
    text = (Path(__file__).parents[2] / "deploy" / example).read_text(encoding="utf-8")
    own = httpx.get(device_page.address).headers
    for name in (
        "Content-Security-Policy",
        "X-Content-Type-Options",
        "Referrer-Policy",
        "Cross-Origin-Opener-Policy",
        "Cache-Control",
    ):
        assert f'{name} "{own[name]}"' in text


def test_another_name_of_this_machine_leads_to_the_one_that_has_the_account(device_page: PageServer) -> None:
    """A browser keeps an account for each name: under a second one her caps would begin anew."""
    port = device_page.server_address[1]
    with httpx.Client(base_url=device_page.address) as client:
        for host in (f"localhost:{port}", f"LOCALHOST:{port}", f"localhost.:{port}"):
            answer = client.get("/app.mjs", headers={"Host": host})
            assert (answer.status_code, answer.headers["location"]) == (308, f"{device_page.address}/")
        for host in ("evil.example", f"evil.example:{port}", f"0.0.0.0:{port}", "127.0.0.1", "127.0.0.1:1", ""):
            answer = client.get("/", headers={"Host": host})
            assert answer.status_code == 404
            assert f"Your device is at {device_page.address} and nowhere else" in answer.text


def test_a_port_that_is_taken_is_said_in_a_sentence(device_page: PageServer) -> None:
    with pytest.raises(FileError, match="cannot be used"):
        PageServer(device_page.server_address[1])
