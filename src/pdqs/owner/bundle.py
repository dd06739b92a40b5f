"""The browser's device as files of its own: to serve from her own machine, or to host where no market has a say.

The manifest names the version and the SHA-256 of every file; the SHA-256 of the manifest itself names the whole bundle,
so that two people can tell by one line that they run the same device.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Final, final

from pdqs.model.errors import FileError

MANIFEST: Final = "manifest.json"
DEFAULT_PORT: Final = 8017
_TYPES = {".html": "text/html", ".mjs": "text/javascript", ".css": "text/css", ".json": "application/json"}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' http: https:;"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@cache
def device_files() -> Mapping[str, bytes]:
    """Every file of the device by name, the manifest among them.

    >>> sorted(device_files())[-3:]
    ['spelling.mjs', 'store.mjs', 'visit.mjs']
    """
    folder = files("pdqs.owner") / "browser"
    found = {item.name: item.read_bytes() for item in folder.iterdir() if item.name.endswith(tuple(_TYPES))}
    listed = {name: hashlib.sha256(found[name]).hexdigest() for name in sorted(found)}
    manifest = json.dumps({"version": version("pdqs"), "files": listed}, indent=2) + "\n"
    return MappingProxyType({**found, MANIFEST: manifest.encode()})


def manifest_hash() -> str:
    """SHA-256 of the manifest: one line that stands for the whole device.

    >>> len(manifest_hash())
    64
    """
    return hashlib.sha256(device_files()[MANIFEST]).hexdigest()


def write_bundle(folder: Path) -> str:
    """Write the files into a folder; the manifest's hash."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in device_files().items():
            (folder / name).write_bytes(content)
    except OSError as fault:
        raise FileError(f"the device's files cannot be written to {folder}: {fault.strerror or fault}") from None
    return manifest_hash()


@final
class PageServer(ThreadingHTTPServer):
    """The device's page on this machine alone."""

    daemon_threads = True

    def __init__(self, port: int = DEFAULT_PORT) -> None:
        try:
            super().__init__(("127.0.0.1", port), _Page)
        except OverflowError:
            raise FileError(f"{port} is not a port: ports are numbered from 1 to 65535") from None
        except OSError as fault:
            raise FileError(f"port {port} on this machine cannot be used: {fault.strerror}") from None

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.server_address[1]}"


@final
class _Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "pdqs"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        """One file. A request for another host's name is refused: no other site may pass itself off as this page."""
        name = self.path.partition("?")[0].lstrip("/") or "index.html"
        port = self.connection.getsockname()[1]
        ours = self.headers.get("host", "") in (f"127.0.0.1:{port}", f"localhost:{port}")
        content = device_files().get(name) if ours else None
        self.send_response(HTTPStatus.OK if content is not None else HTTPStatus.NOT_FOUND)
        for header, value in _HEADERS.items():
            self.send_header(header, value)
        self.send_header("Content-Type", f"{_TYPES.get(Path(name).suffix, 'text/plain')}; charset=utf-8")
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_words: object) -> None:
        """Nobody's visits are written down."""
