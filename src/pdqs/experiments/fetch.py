"""Fetch the raw files that may be downloaded, each checked against the hash that the package holds.

Three populations come from the UCI repository as zip archives under CC BY 4.0. The other three must be asked for with
an account of one's own; :func:`by_hand` says where.
"""

from __future__ import annotations

import hashlib
import io
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from pdqs.experiments import populations
from pdqs.experiments.store import write_whole
from pdqs.model.errors import FileError

UCI = "https://archive.ics.uci.edu/static/public"

ARCHIVES = {
    "obesity": "544/estimation+of+obesity+levels+based+on+eating+habits+and+physical+condition.zip",
    "maternal": "863/maternal+health+risk.zip",
    "students": "697/predict+students+dropout+and+academic+success.zip",
}

LARGEST_BYTES = 50_000_000
_SECONDS = 60.0


def fetch_population(name: str, directory: Path, *, base: str = UCI) -> bool:
    """Put NAME.csv into the directory; False if the right file was there already.

    The archive's member with the hash that the package holds is kept, whatever it is called; nothing else is written.
    """
    target = directory / f"{name}.csv"
    wanted = populations.load(name).sha256
    if target.exists():
        if hashlib.sha256(target.read_bytes()).hexdigest() == wanted:
            return False
        raise FileError(f"{target} is there with other contents: move it away first")
    address = f"{base}/{ARCHIVES[name]}"
    content = _member(_download(address), wanted, address)
    write_whole(target, lambda path: path.write_bytes(content))
    return True


def by_hand() -> dict[str, str]:
    """Where to ask for what cannot be fetched, by population."""
    return {
        name: f"download the CSV from {populations.load(name).source} and save it as {name}.csv"
        for name in populations.names()
        if name not in ARCHIVES
    }


def _download(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS) as answer:
            content: bytes = answer.read(LARGEST_BYTES + 1)
    except (urllib.error.URLError, OSError, ValueError) as fault:
        raise FileError(f"cannot fetch {address}: {fault}") from None
    if len(content) > LARGEST_BYTES:
        raise FileError(f"{address} is larger than {LARGEST_BYTES:,} bytes: not what was looked for")
    return content


def _member(archive: bytes, wanted: str, address: str) -> bytes:
    """The file in the archive with this hash."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            for member in opened.infolist():
                if member.file_size <= LARGEST_BYTES:
                    content = opened.read(member)
                    if hashlib.sha256(content).hexdigest() == wanted:
                        return content
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as fault:  # packed in an unknown way; locked
        raise FileError(f"{address} is not a readable zip archive: {fault}") from None
    raise FileError(f"{address} has changed: no file in it has sha256 {wanted}")
