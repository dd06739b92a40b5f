"""What is asked before a simulation puts invented people and money into a running market."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pdqs.cli.owner_typed import address_of
from pdqs.market import simulated_guests as guests
from pdqs.model.errors import InputError

if TYPE_CHECKING:
    from pdqs.market.client import MarketClient


def taken_apart(link: str) -> tuple[str, str]:
    """The address and the code of a one-time link; what is none is not said back, for there may be a code in it.

    >>> taken_apart("http://127.0.0.1:8000/enter#abc")
    ('http://127.0.0.1:8000', 'abc')
    """
    typed, found, code = link.strip().partition("/enter#")
    if not found or not code:
        raise InputError("--link must look like http://127.0.0.1:8000/enter#..., as pdqs serve --link prints it")
    return address_of(typed), code


def refuse_among_people(operator: MarketClient) -> None:
    """Refuse a market with real people in it, and say that the link, by which that was found out, is used up."""
    try:
        guests.refuse_among_people(operator)
    except InputError as fault:
        raise InputError(f"{fault}. The link is used up: pdqs market operator makes a fresh code") from None


def agreed(address: str, owners: int, budget: float) -> bool:
    """Whether whoever is at the terminal wants it; where nobody is, it is refused."""
    does = (
        f"This lets {owners:,} simulated owners and a simulated consumer into the market at {address}, and enters a"
        f" deposit of {budget:,.2f} that nobody has made."
    )
    if not sys.stdin.isatty():
        raise InputError(f"nobody is here to be asked, so nothing was done. {does} --yes does it")
    # Not to standard output: that is for what was found.
    print(f"{does} Go on? [y/N]: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    print("Nobody was let in, and nothing was entered.", file=sys.stderr)
    return False
