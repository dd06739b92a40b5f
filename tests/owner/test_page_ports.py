"""``pdqs owner page`` keeps to one port, for a browser keeps an account for each, and her caps with it."""

from __future__ import annotations

import socket
import stat
from pathlib import Path

import pytest

from .commands import Owner, Shell


@pytest.fixture
def serve(tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Owner:
    """Serve the page at a port for a moment; with ``typed``, as a person who types that. What it printed."""
    monkeypatch.setenv("PDQS_DEVICE", str(tmp_path / "device" / "device.sqlite"))

    def command(port: int, *words: str, typed: str | None = None, code: int = 0) -> str:
        return shell.by_person("page", "--once", "--port", str(port), *words, typed=typed, code=code)

    return command


def two_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        for probe in (one, other):
            probe.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def test_a_port_that_is_new_is_asked_about(serve: Owner, tmp_path: Path) -> None:
    usual, new = two_ports()
    first = serve(usual)
    assert first == serve(usual)
    assert f"Your device is at http://127.0.0.1:{usual} (" in first
    told = serve(new, code=2)
    assert (
        f"your device's page was at http://127.0.0.1:{usual} before, and what you have spent is counted there" in told
    )
    assert f"so nothing is served: --port {usual}, or --yes if that is meant" in told
    told = serve(new, typed="n\n", code=1)
    assert f"at http://127.0.0.1:{new} the account and your caps begin anew. Serve it there? [y/N]" in told
    assert f"Nothing is served. Your account: --port {usual}" in told
    assert "Your device is at" not in told
    assert first == serve(usual), "no port counts that nothing was served at"
    assert stat.S_IMODE((tmp_path / "device" / "page-ports").stat().st_mode) == 0o600


@pytest.mark.parametrize(("words", "typed"), [((), "y\n"), (("--yes",), None)])
def test_where_two_ports_are_used_each_says_that_the_other_counts_apart(
    serve: Owner, words: tuple[str, ...], typed: str | None
) -> None:
    usual, new = two_ports()
    serve(usual)
    assert f"Your device is at http://127.0.0.1:{new} (" in serve(new, *words, typed=typed)
    assert f"What was spent at http://127.0.0.1:{usual} is not counted here." in serve(new)
    assert f"What was spent at http://127.0.0.1:{new} is not counted here." in serve(usual)


def test_a_page_is_served_though_nothing_can_be_kept_of_it(serve: Owner, tmp_path: Path) -> None:
    (tmp_path / "device").write_text("a file where a folder would be")
    usual, new = two_ports()
    assert "Your device is at" in serve(usual)
    assert "Your device is at" in serve(new)
