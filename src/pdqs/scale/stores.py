"""Object stores (s3://, gs://, ...): opened by URI, their faults said in a sentence, folders that appear whole.

A store has no folders to rename. Parts are written under ``NAME.partial-xxxxxxxx/``, each in one upload of a finished
file, so that an object is there whole or not at all. When every part is there they are copied, within the store, to
``NAME/``; while that lasts an object ``NAME/_unfinished`` says so, and such a folder is refused by every reader here.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import final
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.fs as pafs

from pdqs.model.errors import FileError
from pdqs.scale.parts import part_name, written_part

MARKER = "_unfinished"
"""An object of this name lies in a folder as long as parts of it may be missing."""

_CHUNK_BYTES = 2**23
_SAID = {
    "NO_SUCH_BUCKET": "there is no such bucket",
    "ACCESS_DENIED": "the store refuses these credentials, or they do not allow this",
    "INVALID_ACCESS_KEY_ID": "the store does not know these credentials",
    "INVALID_CLIENT_TOKEN_ID": "the store does not know these credentials",
    "SIGNATURE_DOES_NOT_MATCH": "the store refuses these credentials: the secret key is another",
    "NETWORK_CONNECTION": "the store does not answer",
    "SLOW_DOWN": "the store is asked too much at once",
    "SERVICE_UNAVAILABLE": "the store is out of service",
    "INTERNAL_FAILURE": "the store has failed",
}


def is_uri(location: str) -> bool:
    """Whether this names a place by scheme.

    >>> is_uri("s3://market/bids"), is_uri("market/bids")
    (True, False)
    """
    return "://" in location


def without_secrets(location: str) -> str:
    """The place as it may be shown: a URI may carry keys before its host and after its path.

    >>> without_secrets("s3://key:secret@market/bids?region=eu&secret_key=x"), without_secrets("bids/?.parquet")
    ('s3://market/bids', 'bids/?.parquet')
    """
    if not is_uri(location):
        return location
    parts = urlsplit(location)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def opened_store(location: str) -> tuple[pafs.FileSystem, str]:
    """The file system that a URI names, and the path on it."""
    try:
        filesystem, path = pafs.FileSystem.from_uri(location)
    except (OSError, pa.ArrowException) as fault:
        raise FileError(f"{without_secrets(location)}: {fault_said(fault)}") from None
    return filesystem, path


def fault_said(fault: BaseException) -> str:
    """What went wrong, in a few words; a store's own codes as people say them.

    >>> fault_said(OSError("When reading 'x': AWS Error NO_SUCH_BUCKET during HeadObject operation: (Request ID: 1)"))
    'there is no such bucket'
    """
    lines = str(fault).strip().splitlines()
    line = re.sub(r"\s*\(Request ID: [^)]*\)", "", lines[0]).rstrip(".") if lines else type(fault).__name__
    return next((said for code, said in _SAID.items() if f"AWS Error {code} " in line), line)


def of_store(fault: BaseException) -> bool:
    """Whether it is the store that failed, and not what lies in it."""
    return "AWS Error " in str(fault)


def refuse_unfinished(found: Iterable[str]) -> None:
    """Refuse a folder whose parts are still being put into place, or were when their run was cut off."""
    for path in found:
        folder, _, name = path.rpartition("/")
        if name == MARKER:
            raise FileError(
                f"{folder}: this folder is not complete: a run is at work on it, or was cut off;"
                " if none is, remove it and run again"
            )


@final
@dataclass(frozen=True, slots=True)
class StoreFolder:
    """A folder of a store, by its file system and path there."""

    filesystem: pafs.FileSystem
    path: str

    def write(self, index: int, rows: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
        """One part from record batches: made here, then sent whole. Sent again, it is replaced."""
        with tempfile.TemporaryDirectory(prefix="pdqs-part-") as place:
            made = os.path.join(place, "part")
            try:
                written_part(made, rows, schema)
                self._send(made, part_name(index))
            except FileError:
                raise
            except OSError as fault:
                raise FileError(f"{self.path}: cannot write: {fault_said(fault)}; nothing was kept") from None

    def mark(self) -> None:
        """Say that parts may be missing; also the first thing written, so that what cannot be written is known soon."""
        with self.filesystem.open_output_stream(f"{self.path}/{MARKER}") as out:
            out.write(b"parts of this folder may be missing\n")

    def publish(self, out: StoreFolder) -> None:
        """Copy every part to where it belongs, marked as unfinished until the last is there."""
        out.mark()
        for path in sorted(self.objects()):
            if not path.endswith(f"/{MARKER}"):
                self.filesystem.copy_file(path, f"{out.path}/{path.rpartition('/')[2]}")
        self.filesystem.delete_file(f"{out.path}/{MARKER}")

    def remove(self) -> None:
        """Remove what is there, if the store lets us."""
        with suppress(OSError):
            for path in sorted(self.objects(), key=lambda path: path.endswith(f"/{MARKER}")):
                self.filesystem.delete_file(path)
            self.filesystem.delete_dir(self.path)

    def objects(self) -> list[str]:
        """The paths of all that lies in it."""
        below = pafs.FileSelector(self.path, recursive=True, allow_not_found=True)
        return [info.path for info in self.filesystem.get_file_info(below) if info.type == pafs.FileType.File]

    def _send(self, made: str, name: str) -> None:
        with open(made, "rb") as source, self.filesystem.open_output_stream(f"{self.path}/{name}") as out:
            shutil.copyfileobj(source, out, _CHUNK_BYTES)


@contextmanager
def complete_in_store(filesystem: pafs.FileSystem, path: str, location: str) -> Iterator[StoreFolder]:
    """A passing folder to write into: its parts take their place at the end, or are removed if anything goes wrong."""
    shown, out = without_secrets(location), StoreFolder(filesystem, path.rstrip("/"))
    partial = StoreFolder(filesystem, f"{out.path}.partial-{secrets.token_hex(4)}")
    begun = False
    try:
        info = filesystem.get_file_info(out.path)
        below = pafs.FileSelector(out.path, recursive=True, allow_not_found=True)
        if info.type == pafs.FileType.File or (
            info.type == pafs.FileType.Directory and any(one.is_file for one in filesystem.get_file_info(below))
        ):
            raise FileError(f"{shown}: there is something here already; choose another name")
        partial.mark()
        yield partial
        begun = True
        partial.publish(out)
    except BaseException as fault:
        partial.remove()
        if begun:
            out.remove()
        if isinstance(fault, OSError) and not isinstance(fault, FileError):
            raise FileError(f"{shown}: cannot write: {fault_said(fault)}; nothing was kept") from None
        raise
    partial.remove()
