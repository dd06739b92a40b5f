"""Fetching raw files, from a server on this machine: right bytes are kept, all else is refused and leaves nothing."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pdqs.cli import main
from pdqs.experiments import fetch, populations
from pdqs.model.errors import FileError

CONTENT = b"Age,RiskLevel\n25,high risk\n"


def archive(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def served() -> Iterator[tuple[str, dict[str, bytes]]]:
    """A server's address, and what it serves by path."""
    pages: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path)
            self.send_response(200 if page is not None else 404)
            self.end_headers()
            self.wfile.write(page or b"")

        def log_message(self, *_: object) -> None:
            """Silence."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", pages
    server.shutdown()
    server.server_close()


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package takes CONTENT for the file that Maternal was counted from."""
    true = populations.load("maternal")
    ours = dataclasses.replace(true, sha256=hashlib.sha256(CONTENT).hexdigest())
    monkeypatch.setattr(populations, "load", lambda name: ours if name == "maternal" else true)


@pytest.mark.usefixtures("known")
def test_the_member_with_the_right_hash_is_kept_whatever_its_name(
    served: tuple[str, dict[str, bytes]], tmp_path: Path
) -> None:
    base, pages = served
    pages[f"/{fetch.ARCHIVES['maternal']}"] = archive(readme=b"about", data=CONTENT)
    assert fetch.fetch_population("maternal", tmp_path, base=base)
    assert [path.name for path in tmp_path.iterdir()] == ["maternal.csv"]
    assert (tmp_path / "maternal.csv").read_bytes() == CONTENT
    assert not fetch.fetch_population("maternal", tmp_path, base="http://127.0.0.1:1"), "nothing is asked for twice"


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (archive(data=CONTENT + b"26,low risk\n"), "has changed: no file in it has sha256"),
        (b"<html>moved</html>", "is not a readable zip archive"),
        (None, "404"),
    ],
)
@pytest.mark.usefixtures("known")
def test_anything_else_is_refused_and_leaves_nothing(
    page: bytes | None, said: str, served: tuple[str, dict[str, bytes]], tmp_path: Path
) -> None:
    base, pages = served
    if page is not None:
        pages[f"/{fetch.ARCHIVES['maternal']}"] = page
    with pytest.raises(FileError, match=said):
        fetch.fetch_population("maternal", tmp_path, base=base)
    assert list(tmp_path.iterdir()) == []


def test_a_file_with_other_contents_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "obesity.csv").write_text("mine")
    with pytest.raises(FileError, match=r"obesity\.csv is there with other contents"):
        fetch.fetch_population("obesity", tmp_path)
    assert (tmp_path / "obesity.csv").read_text() == "mine"


def test_the_command_says_how_to_get_what_cannot_be_fetched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["populations", "fetch", "--data", str(tmp_path), "--base", "http://127.0.0.1:1"])
    said = capsys.readouterr()
    assert stop.value.code == 2
    assert "cannot fetch http://127.0.0.1:1/544/" in said.err
    for name in ("exam", "salaries", "customers"):
        assert f"{name}: needs an account of your own: download the CSV from https://www.kaggle.com/" in said.out


def test_a_population_that_cannot_be_fetched_is_refused_with_the_way_to_get_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["populations", "fetch", "--data", str(tmp_path), "--only", "exam"])
    assert "'exam' cannot be fetched: download the CSV from" in capsys.readouterr().err
