"""The guard for text that others wrote and that somebody will open in a spreadsheet."""

from __future__ import annotations

import re

_RUNS = ("=", "+", "-", "@", "\t", "\r", "\n")  # what a spreadsheet may take for the beginning of a formula
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_AFTER_A_CUT = re.compile(r'(;[ "]*)(?=[=+\-@])')


def harmless(text: str) -> str:
    """The text as a cell that no spreadsheet runs: an apostrophe before what would begin a formula.

    Numbers stay as they are, and so does a cell that is empty. Leading spaces hide nothing: some programs strip them.
    Where a comma stands before decimals, spreadsheets cut lines at semicolons: what comes after one begins a cell too.

    >>> [harmless(text) for text in ("=1+1", " @sum", "+49", "-0.5", "", "Ann", "Ann;=1")]
    ["'=1+1", "' @sum", '+49', '-0.5', '', 'Ann', "Ann;'=1"]
    """
    begins = text.lstrip(" ").startswith(_RUNS)
    parted = _AFTER_A_CUT.sub(r"\1'", text)
    return f"'{parted}" if begins and not _NUMBER.fullmatch(text) else parted
