"""Fixtures of the market's tests: each runs on SQLite, and where it matters on PostgreSQL too."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from market.town import Town, found_town, new_database, postgres_server

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server that lives as long as the tests."""
    pytest.importorskip("pgserver", reason="PostgreSQL tests need the package pgserver")
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))  # where pgserver keeps its lock
    with postgres_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/market.db"
    return new_database(request.getfixturevalue("postgres"), f"test_{next(_numbers)}")


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    """A town on SQLite."""
    made = found_town(f"sqlite:///{tmp_path}/market.db")
    yield made
    made.market.store.close()


@pytest.fixture
def either_town(database_url: str) -> Iterator[Town]:
    """A town on SQLite, and again on PostgreSQL."""
    made = found_town(database_url)
    yield made
    made.market.store.close()


@pytest.fixture
def far_town(postgres: str) -> Iterator[Town]:
    """A town on PostgreSQL alone, whose database is a trip away."""
    made = found_town(new_database(postgres, f"test_{next(_numbers)}"))
    yield made
    made.market.store.close()
