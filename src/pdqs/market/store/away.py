"""Why a database cannot be used, in words for whoever runs the market: a wrong name is no outage, and never ends.

The driver tells most of it in a sentence of the server's alone. What is none of the known ones is "no answer" (so are
all from a server that does not speak English). Names are told; a password never is.
"""

from __future__ import annotations

import re
import sqlite3

from sqlalchemy import URL
from sqlalchemy.exc import DatabaseError, DBAPIError, InternalError, OperationalError

_NO_RIGHTS, _DISK_FULL = "42501", "53100"
_NO_WAY = ("08", "28", "3D", "57P")
"""How PostgreSQL's codes begin: the connection failed, nobody is let in, no such database, it is shutting down."""
_SAID = (
    (r'database ".*" does not exist', "there is no database {name} {place}: make it, or mend the name in the URL"),
    (
        r'authentication failed|no password supplied|role ".*" does not exist|no pg_hba\.conf entry',
        "PostgreSQL {place} does not let {user} in: mend user or password in the URL, or let that user in",
    ),
    (r"invalid port number|invalid integer value .* option \"port\"", "its port is none: mend it in the URL"),
    (
        r'invalid \w+ value .* option "(?P<one>\w+)"|invalid (?P<other>\w+) value',
        "PostgreSQL does not know what the URL says of {option}: mend it",
    ),
    (r"definition of service .* not found|service file", "there is no such service: mend it in the URL"),
    (r"certificate|private key file", "a certificate or key is missing, or not taken: mend what the URL says of TLS"),
    (r"does not support SSL", "PostgreSQL {place} does not speak TLS, which sslmode in the URL asks for"),
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


def is_out_of_reach(fault: DBAPIError) -> bool:
    """Whether the database cannot even be read: the way to it is cut, or it lets nobody in."""
    if isinstance(fault.orig, sqlite3.Error):
        return re.search(r"malformed|not a database|unable to open", str(fault.orig)) is not None
    state = str(getattr(fault.orig, "sqlstate", None) or "")
    return fault.connection_invalidated or not state or state.startswith(_NO_WAY)


def why_away(fault: DBAPIError, url: URL) -> str:
    """The rest of the sentence "The database cannot be used: ..."; neither what was sent nor a password is in it."""
    host, port = _said(url.host, url, "host") or "this machine", _said(url.port, url, "port")
    user = _said(url.username, url, "user")
    words = {
        "name": repr(_said(url.database, url, "dbname")),
        "user": repr(user) if user else "this user",
        "host": repr(host),
        "place": f"at {host}" + (f" port {port}" if port else ""),
    }
    state = getattr(fault.orig, "sqlstate", None)
    if state == _NO_RIGHTS:
        return "{user} may not make or change tables in database {name}: let that user".format(**words)
    if state == _DISK_FULL:
        return "its disk is full"
    for mark, told in _SAID:
        if found := re.search(mark, str(fault.orig), re.IGNORECASE):
            named = [option for option in found.groupdict().values() if option]
            return told.format(**words, option=repr(named[0] if named else ""))
    return "no answer"


def _said(part: object, url: URL, option: str) -> str:
    """A part of the URL, or what its query says of the same, by PostgreSQL's name for it: that counts."""
    named = url.query.get(option) or part or ""
    return ", ".join(named) if isinstance(named, tuple) else str(named)
