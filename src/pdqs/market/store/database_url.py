"""The URL of a database, read once: what is mistyped in it is told before anything is opened, and no password ever."""

from __future__ import annotations

import difflib

from psycopg import pq
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from pdqs.model.errors import FileError

_DRIVERS = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
"""What a URL may begin with, and the driver that it means."""

_SPELLED = "an @ in the password is written %40, a / is %2F, a : is %3A and a ? is %3F"


def read_url(url: str) -> URL:
    """The parts of a URL that a market can be kept at, with the driver that is used.

    >>> read_url("postgresql://ann@db/market").drivername, read_url("sqlite:///market.db").database
    ('postgresql+psycopg', 'market.db')
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # a port that is no number is the second
        said = "the database given" if "@" in url else f"database {url!r}"  # there may be a password in it
        hint = f" ({_SPELLED})" if url.count("@") > 1 else ""
        raise FileError(f"{said} is not a URL such as sqlite:///market.db or postgresql://host/name{hint}") from None
    if parsed.get_backend_name() not in ("sqlite", "postgresql", "postgres"):
        raise FileError(f"database {parsed.get_backend_name()!r} is not served: use sqlite or postgresql")
    if parsed.drivername not in _DRIVERS:
        bare = parsed.get_backend_name()
        raise FileError(f"a database URL that begins with {parsed.drivername}:// is not served: write {bare}://")
    parsed = parsed.set(drivername=_DRIVERS[parsed.drivername])
    _check_sqlite(parsed) if parsed.drivername == "sqlite" else _check_postgresql(parsed, url)
    return parsed


def _check_sqlite(parsed: URL) -> None:
    if not parsed.database or parsed.database == ":memory:":
        raise FileError("a market needs a SQLite file, e.g. sqlite:///market.db: memory does not outlive the process")
    if parsed.query:
        asked = ", ".join(sorted(parsed.query))
        raise FileError(f"a SQLite database is named by its file alone: leave out what follows the ? ({asked})")


def _check_postgresql(parsed: URL, url: str) -> None:
    if "@" in _behind_the_password(parsed, url):
        raise FileError(f"the database URL has an @ too many: {_SPELLED}")
    known = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}
    for name, value in parsed.query.items():
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            raise FileError(f"the database URL: PostgreSQL has no option {name!r}{meant}")
        if name in ("connect_timeout", "port") and not _are_numbers(value):
            raise FileError(f"the database URL: its option {name!r} must be a whole number")
    if parsed.port is not None and not 0 < parsed.port < 2**16:
        raise FileError(f"the database URL: {parsed.port} is no port, which is 1 to 65535")


def _behind_the_password(parsed: URL, url: str) -> str:
    """What comes after the password; nothing where there is none, for a user's name may have an @ in it.

    >>> _behind_the_password(make_url("postgresql://u:one@two@db/x"), "postgresql://u:one@two@db/x")
    'two@db/x'
    """
    if parsed.password is None:
        return ""
    return url.partition("://")[2].partition(":")[2].partition("@")[2]


def _are_numbers(value: str | tuple[str, ...]) -> bool:
    """Whether an option is a whole number, or several: of as many hosts.

    >>> _are_numbers("5"), _are_numbers("5432,5433"), _are_numbers("x")
    (True, True, False)
    """
    each = ",".join([value] if isinstance(value, str) else value).split(",")
    return all(one.removeprefix("-").isdecimal() for one in each)
