"""Under which ports this device's page was served from here: a browser keeps an account for each, and caps with it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pdqs.cli.owner_device import agreed, device_file, someone_is_there
from pdqs.model.errors import FileError
from pdqs.owner.bundle import page_address
from pdqs.owner.errors import OwnerMustAgree
from pdqs.owner.export import write_private


def agreed_to_port(port: int, *, yes: bool) -> str:
    """Keep the port in mind. Under one that is new here she is asked first; what to know of the others comes back."""
    known = _ports()
    others = [page_address(each) for each in known if each != port]
    if others and port not in known and not yes:
        _ask(port, known[0])
    if port not in known:
        _keep([*known, port])
    return f"What was spent at {', '.join(others)} is not counted here." if others else ""


def _ask(port: int, usual: int) -> None:
    said = (
        f"your device's page was at {page_address(usual)} before, and what you have spent is counted there:"
        f" at {page_address(port)} the account and your caps begin anew"
    )
    if not someone_is_there():
        raise OwnerMustAgree(f"{said}, so nothing is served: --port {usual}, or --yes if that is meant")
    agreed(f"{said[0].upper()}{said[1:]}. Serve it there?", f"Nothing is served. Your account: --port {usual}")


def _file() -> Path:
    return device_file().with_name("page-ports")


def _ports() -> list[int]:
    """The first one first; none where nothing can be read."""
    try:
        words = _file().read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return []
    return [int(word) for word in words if word.isdecimal()]


def _keep(ports: list[int]) -> None:
    with suppress(OSError, FileError):  # a page from a folder that cannot be written to is a page all the same
        _file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(_file(), "".join(f"{port}\n" for port in ports))
