"""Where settings come from: a file in TOML, then the environment, then the command line; the later word counts.

A file names settings as :class:`~pdqs.market.settings.Settings` does, one a line::

    database_url = "postgresql://market@localhost/market"
    workers = 2

The environment names them in capitals after ``PDQS_`` (``PDQS_WORKERS=2``), and the file itself by ``PDQS_CONFIG``.
A name that is none of these is refused, in the file and after ``PDQS_`` alike: what was mistyped would be ignored.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from pdqs.market.settings import PREFIX, Settings
from pdqs.model.errors import FileError, TermsError
from pdqs.tables.delimited import text_of

CONFIG = PREFIX + "CONFIG"
_KINDS = {name: type(value) for name, value in dataclasses.asdict(Settings()).items()}
_IN_CAPITALS = {PREFIX + name.upper(): name for name in _KINDS}
_ELSEWHERE = (CONFIG, PREFIX + "DEVICE", PREFIX + "LOOK", PREFIX + "AXE")
"""What other parts read from the environment: the owner's device, and the tests of the pages."""

_MAY_BE_ZERO = ("currency_decimals", "port")

Told = dict[str, object]


def settings_from(
    environment: Mapping[str, str] = os.environ, file: str = "", given: Mapping[str, object] | None = None
) -> Settings:
    """The settings of this server: what the file says, then the environment, then what was ``given`` outright.

    >>> settings_from({"PDQS_CALLER_RATE": "5"}, given={"port": 0}).caller_rate
    5.0
    """
    path = file or environment.get(CONFIG, "")
    told: Told = {**(_from_file(Path(path)) if path else {}), **_from_environment(environment), **(given or {})}
    return Settings(**told)  # type: ignore[arg-type]  # each was read as its own field's type


def _from_file(path: Path) -> Told:
    try:
        read = tomllib.loads(text_of(path.read_bytes(), path))
    except OSError as fault:
        raise FileError(f"configuration {str(path)!r} cannot be read: {fault.strerror}") from None
    except tomllib.TOMLDecodeError as fault:
        raise FileError(f"configuration {str(path)!r} is not TOML: {fault}") from None
    for name in read:
        if name not in _KINDS:
            raise TermsError(f"configuration {str(path)!r}: there is no setting {name!r}{_meant(name, _KINDS)}")
    return {name: _of_kind(f"configuration {str(path)!r}: {name}", name, value) for name, value in read.items()}


_WANTED = {str: "text in quotes", int: "a whole number", float: "a number"}


def _of_kind(said: str, name: str, value: object) -> object:
    """A value of a file as its setting's type: TOML tells numbers from text, and so do we."""
    kind = _KINDS[name]
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise TermsError(f"{said}: {value!r} must be {_WANTED[kind]}")
    return _positive(said, name, value, value)


_OF_A_CLUSTER = re.compile(r"_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT(_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?$")
"""What Kubernetes sets in every container for a service whose name begins like ours: nobody typed it."""


def _from_environment(environment: Mapping[str, str]) -> Told:
    for said in sorted(environment):
        typed = said.startswith(PREFIX) and not _OF_A_CLUSTER.search(said)
        if typed and said not in _IN_CAPITALS and said not in _ELSEWHERE:
            raise TermsError(f"the environment: there is no setting {said!r}{_meant(said, _IN_CAPITALS)}")
    return {name: _parsed(name, environment[said]) for said, name in _IN_CAPITALS.items() if said in environment}


def _meant(said: str, names: Iterable[str]) -> str:
    """What a mistyped name was perhaps meant to be, as the end of a sentence."""
    bare = {name.removeprefix(PREFIX).lower(): name for name in names}  # what all begin with tells none apart
    close = difflib.get_close_matches(said.removeprefix(PREFIX).lower(), bare, n=1)
    return f"; did you mean {bare[close[0]]!r}?" if close else ""


def _parsed(name: str, text: str) -> object:
    said = PREFIX + name.upper()
    try:
        value = _KINDS[name](text)
    except ValueError:
        raise TermsError(f"{said}: {text!r} is not {_WANTED[_KINDS[name]]}") from None
    return _positive(said, name, value, text)


def _positive(said: str, name: str, value: object, shown: object) -> object:
    if isinstance(value, int | float) and name not in _MAY_BE_ZERO and not 0 < value < float("inf"):
        raise TermsError(f"{said}: {shown!r} must be above 0")
    return value
