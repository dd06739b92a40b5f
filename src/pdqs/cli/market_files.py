"""The files of owners that commands read: what their columns are called, and how their values are taken."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import typer

if TYPE_CHECKING:
    from pdqs.model.arrays import Column
    from pdqs.model.domain import Domain
    from pdqs.tables.files import Table

Owner = Annotated[str, typer.Option(metavar="NAME", help="What the column of owners is called.")]
Bid = Annotated[str, typer.Option(metavar="NAME", help="What the column of bids is called.")]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BidColumns:
    """How to read a file of bids."""

    owner_column: Owner = "owner"
    bid_column: Bid = "bid"

    @property
    def names(self) -> dict[str, str]:
        """What each column is called."""
        return {"owner": self.owner_column, "bid": self.bid_column}

    def read(self, path: Path) -> Table:
        """Owners and bids; values, if they are there, are left alone."""
        from pdqs.tables.files import read_table

        return read_table(path, ("owner", "bid"), unread=("value",), names=self.names)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MarketColumns:
    """How to read a file of bids and values."""

    owner_column: Owner = "owner"
    bid_column: Bid = "bid"
    value_column: Annotated[str, typer.Option(metavar="NAME", help="What the column of values is called.")] = "value"
    round_to_grid: Annotated[
        bool, typer.Option("--round-to-grid", help="Take each value for the nearest of the domain's numbers.")
    ] = False

    @property
    def names(self) -> dict[str, str]:
        """What each column is called."""
        return {"owner": self.owner_column, "bid": self.bid_column, "value": self.value_column}

    def read(self, path: Path) -> Table:
        """Owners, bids and values."""
        from pdqs.tables.files import read_table

        return read_table(path, ("owner", "bid", "value"), names=self.names)

    def values(self, table: Table, domain: Domain) -> Column:
        """The values as the domain spells them, or the nearest that it holds."""
        return table.rounded(domain) if self.round_to_grid else table.values(domain)
