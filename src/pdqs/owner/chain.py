"""The links of an account's chain that were checked before: an entry is hashed and read once, however often it is met.

Nothing is taken on trust for that. Every row is compared with the one that was hashed, letter by letter, with the hash
before it; a row that is not the same is hashed anew, and refused where it does not fit. The browser's twin is in
``browser/account.mjs``.
"""

from __future__ import annotations

import json
from typing import final

from pdqs.owner.account import Fields, chained
from pdqs.owner.addresses import one_address
from pdqs.owner.entry_shapes import fault_of_entry
from pdqs.owner.errors import LedgerError


@final
class Chain:
    """What one holder of a file has checked so far."""

    def __init__(self) -> None:
        self._checked: dict[str, tuple[str, str, Fields]] = {}

    def entry(self, before: str, text: str, found: str) -> Fields | None:
        """What an entry says, if ``found`` is the hash of it and of all ``before``; nothing where it is not."""
        known = self._checked.get(found)
        if known is None or known[:2] != (before, text):
            if chained(before, text) != found:
                return None
            known = self._checked[found] = (before, text, _read(text))
        return known[2]


def _read(text: str) -> Fields:
    try:
        fields: Fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = {}
    if wrong := fault_of_entry(fields):
        raise LedgerError(f"the device's ledger holds an entry that is none ({wrong}): nothing is drawn")
    if isinstance(fields.get("market"), str):
        fields["market"] = one_address(fields["market"])  # which is as it was written in what is stored and hashed
    return fields
