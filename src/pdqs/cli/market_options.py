"""Options that commands on a market share, and the settings that they, the environment and a file come to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pdqs.market.settings import Settings

Database = Annotated[
    str | None,
    typer.Option(
        help="sqlite:///FILE or postgresql://...; by default PDQS_DATABASE_URL, or else a file in this directory."
    ),
]
Config = Annotated[str, typer.Option(help="A file of settings, in TOML; by default the one that PDQS_CONFIG names.")]


def settings_given(config: str, **given: object) -> Settings:
    """The settings: the file's, then the environment's, then what was given on the command line."""
    from pdqs.market.configuration import settings_from

    return settings_from(file=config, given={name: value for name, value in given.items() if value is not None})


def kept_in(url: str) -> str | None:
    """The file that a market is kept in, where it is one.

    >>> kept_in("postgresql://db/market") is None
    True
    >>> kept_in("sqlite+pysqlite:////srv/market.db")
    '/srv/market.db'
    """
    from pathlib import Path

    from pdqs.market.store.database_url import read_url

    parsed = read_url(url)
    return str(Path(str(parsed.database)).absolute()) if parsed.drivername == "sqlite" else None


def browsers(count: int, *, past: bool = False) -> str:
    """So many browsers, and the beginning of what they are.

    >>> browsers(1), browsers(2, past=True)
    ('1 browser is', '2 browsers were')
    """
    verbs = ("was", "were") if past else ("is", "are")
    return f"1 browser {verbs[0]}" if count == 1 else f"{count:,} browsers {verbs[1]}"
