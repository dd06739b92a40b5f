"""Whether a question was asked before, whatever its spelling.

The browser's twin: ``browser/words.mjs``, which has :mod:`pdqs.model.looks` as well.
"""

from __future__ import annotations

import re
import unicodedata

from pdqs.model.looks import LOOKALIKES

_LAST = str.maketrans("01iı|uvʙʜ", "ollllynbh")
"""Signs that pass for one another when a text is read and not compared, and small letters whose large ones are taken
for others than they are themselves."""
_GROUPS = LOOKALIKES.split()
_LOWERED = {each.lower(): group[0].lower() for group in _GROUPS for each in group[1:] if len(each.lower()) == 1}
_PLAIN = str.maketrans({**_LOWERED, **{each: group[0].lower() for group in _GROUPS for each in group[1:]}})


def plain_words(text: str) -> str:
    """A question's text without case, spaces, signs and marks, look-alike letters as one, to tell whether it was asked.

    >>> plain_words("Do you  SMOKE ?") == plain_words("do you smoke")
    True
    >>> plain_words("Do y\N{CYRILLIC SMALL LETTER O}u smoke\u3164?") == plain_words("do you smoke")
    True
    """
    folded = unicodedata.normalize("NFKD", text).lower()
    letters = re.sub(r"[\W_\u115f\u1160]+", "", folded)  # two letters of Hangul are invisible
    return letters.translate(_PLAIN).translate(_LAST)
