"""How much one answer may be, before it is read: a few bytes of JSON can become hundreds of times as many in memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import final

_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


def marks_in(content: bytes) -> int:
    """How many values a JSON text can have at most: the commas and opening brackets outside its texts.

    >>> marks_in(b'{"a": [1, 2], "b": "x, [y"}'), marks_in(b'"a,' + b'[' * 9)
    (4, 0)
    """
    bare = _TEXT.sub(b"", content)
    return sum(map(bare.count, (b",", b"[", b"{")))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What an answer may be at most: its bytes, and its marks (:func:`marks_in`)."""

    size: int
    marks: int | None = None
    """None for what is not read here."""

    def are_passed_by(self, content: bytes) -> bool:
        """Whether there are more parts to it than any answer has."""
        return self.marks is not None and len(content) > self.marks and marks_in(content) > self.marks


AMPLE = Bounds(size=64 * 1024 * 1024)
"""For records and exports, and for a caller whose own the market is."""
OWNERS = Bounds(size=4 * 1024 * 1024, marks=65_536)
"""For an owner's device. The longest answer to it is her round, with terms of 784 KiB, which are at most twice as long
as a text within a text, and their 10,000 answers twice beside them: 3.1 MB, and 20,000 marks."""
