"""Why a database cannot be used, in words for whoever runs the market: a wrong name is no outage, and never ends.

The driver tells most of it in a sentence of the server's alone. What is none of the known ones is "no answer" (so are
all from a server that does not speak English). Names are told; a password never is.
"""

from __future__ import annotations

import re

from sqlalchemy import URL
from sqlalchemy.exc import DatabaseError, DBAPIError, InternalError, OperationalError

_NO_RIGHTS, _DISK_FULL = "42501", "53100"
_SAID = (
    (r'database ".*" does not exist', "there is no database {name} {place}: make it, or mend the name in the URL"),
    (
        r'authentication failed|no password supplied|role ".*" does not exist|no pg_hba\.conf entry',
        "PostgreSQL {place} does not let {user} in: mend user or password in the URL, or let that user in",
    ),
    (r"resolve host|translate host name", "there is no host {host}: mend its name in the URL"),
    (
        r"not currently accepting|starting up|shutting down|too many clients|connection slots",
        "PostgreSQL {place} takes no connection to {name} just now",
    ),
    (r"connection refused|no such file", "nothing answers {place}: PostgreSQL is not running, or not there"),
    (r"timeout|timed out", "no answer {place} in time"),
    (r"closed the connection|connection is lost|terminating connection", "the connection was lost"),
    (r"database or disk is full|disk i/o error", "its disk is full or has a fault"),
    (r"malformed|file is not a database", "its file is damaged: put a backup in its place"),
    (r"database is locked", "another program holds its file"),
    (r"readonly database|read-only transaction", "it may only be read"),
)


def is_away(fault: DBAPIError) -> bool:
    """Whether a fault comes from outside: the database is away, full, damaged or shut to us; others are our own."""
    known = isinstance(fault, OperationalError | InternalError) or type(fault) is DatabaseError
    return known or getattr(fault.orig, "sqlstate", None) == _NO_RIGHTS


def why_away(fault: DBAPIError, url: URL) -> str:
    """The rest of the sentence "The database cannot be used: ..."; neither what was sent nor a password is in it."""
    words = {
        "name": repr(url.database or ""),
        "user": repr(url.username or "this user"),
        "host": repr(_host(url)),
        "place": f"at {_host(url)}" + (f" port {url.port}" if url.port else ""),
    }
    state = getattr(fault.orig, "sqlstate", None)
    if state == _NO_RIGHTS:
        return "{user} may not make or change tables in database {name}: let that user".format(**words)
    if state == _DISK_FULL:
        return "its disk is full"
    said = str(fault.orig)
    return next((told for mark, told in _SAID if re.search(mark, said, re.IGNORECASE)), "no answer").format(**words)


def _host(url: URL) -> str:
    named = url.host or url.query.get("host") or "this machine"
    return named if isinstance(named, str) else ", ".join(named)
