"""Write requirements.hashed.lock: what a server needs, each version with the SHA-256 of the file that pip takes here.

    python tools/hashed_lock.py requirements.lock cli,owner,market > requirements.hashed.lock

pip then refuses any other file (`pip install --require-hashes --no-deps -r requirements.hashed.lock`). The file is for
the Python and the platform that it was made on, which its first line names; on another one, make it anew. Versions are
those of requirements.lock, for every package that the extras need, found by walking what is installed. pip is asked, at
the index that it is set to; no address is written.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path


def normalised(name: str) -> str:
    """A project's name as indexes spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(project: str, extras: frozenset[str]) -> Iterator[str]:
    """The installed projects that one needs with these extras, itself left out."""
    from packaging.requirements import Requirement

    seen: set[tuple[str, frozenset[str]]] = set()
    todo = [(project, extras)]
    while todo:
        name, wanted = todo.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        for text in metadata.requires(name) or []:
            line = Requirement(text)
            if line.marker is None or any(line.marker.evaluate({"extra": extra}) for extra in (*wanted, "")):
                todo.append((normalised(line.name), frozenset(line.extras)))
    yield from sorted({name for name, _ in seen} - {project})


def files(lock: Path, names: list[str]) -> dict[str, tuple[str, str]]:
    """The version and the SHA-256 of the file that pip would install for each of these, held to the lock."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        asked = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps"]
        subprocess.run([*asked, "--report", str(report), "--constraint", str(lock), *names], check=True)
        found = json.loads(report.read_text())["install"]
    return {
        normalised(one["metadata"]["name"]): (
            one["metadata"]["version"],
            one["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for one in found
    }


def main(lock: str, extras: str) -> None:
    """Print the lock."""
    names = list(needed("pdqs", frozenset(extras.split(","))))
    found = files(Path(lock), names)
    print(f"# {platform.python_implementation()} {sys.version_info.major}.{sys.version_info.minor}", end="")
    print(f" on {platform.system()} {platform.machine()}, extras {extras}: make hashed-lock")
    for name in names:
        version, digest = found[name]
        print(f"{name}=={version} --hash=sha256:{digest}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
