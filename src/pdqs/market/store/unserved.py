"""A market that nobody serves, for what must not be done beside a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pdqs.market.store.database import Store
from pdqs.market.store.leader import Leader
from pdqs.market.store.serving_lock import served_once
from pdqs.model.errors import FileError


@contextmanager
def kept_unserved(store: Store) -> Iterator[None]:
    """Have a market to oneself while the block lasts, as its only server would; one that is served is refused.

    Of SQLite the lock of the file is taken; of PostgreSQL the lead, which one of its servers always has.
    """
    url = store.engine.url
    leader = Leader(store)
    with served_once(url.render_as_string(hide_password=False), ""):
        try:
            if not leader.leads():
                raise FileError(f"the market in database {url.database!r} is being served: stop its servers first")
            yield
        finally:
            leader.resign()
