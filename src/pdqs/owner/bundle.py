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
_NO_MORE: Mapping[str, str] = MappingProxyType({})


@cache
def device_files() -> Mapping[str, bytes]:
    """Every file of the device by name, the manifest among them.

    >>> sorted(device_files())[-2:]
    ['visit.mjs', 'words.mjs']
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
        return page_address(int(self.server_address[1]))


def page_address(port: int) -> str:
    """The one name of a page on this machine. Under another one a browser would keep another account.

    >>> page_address(8017)
    'http://127.0.0.1:8017'
    """
    return f"http://127.0.0.1:{port}"


@final
class _Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "pdqs"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        """One file, under one name. Another name of this machine leads here, for a browser keeps an account, and caps,
        for each; under any other host's the page is not shown, so that no site may pass itself off as it.
        """
        name = self.path.partition("?")[0].lstrip("/") or "index.html"
        port = self.connection.getsockname()[1]
        address, host = page_address(port), self.headers.get("host", "").lower()
        if host == address.removeprefix("http://"):
            content = device_files().get(name)
            if content is not None:
                self._answer(HTTPStatus.OK, _TYPES[Path(name).suffix], content)
                return
            said = f"There is no such file. Your device is at {address}"
        else:
            said = f"Your device is at {address} and nowhere else: what you have spent is counted there."
        local = host in (f"localhost:{port}", f"localhost.:{port}")
        status = HTTPStatus.PERMANENT_REDIRECT if local else HTTPStatus.NOT_FOUND
        self._answer(status, "text/plain", f"{said}\n".encode(), {"Location": f"{address}/"} if local else {})

    def _answer(self, status: HTTPStatus, kind: str, content: bytes, more: Mapping[str, str] = _NO_MORE) -> None:
        self.send_response(status)
        for header, value in {**_HEADERS, **more}.items():
            self.send_header(header, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_words: object) -> None:
        """Nobody's visits are written down."""
