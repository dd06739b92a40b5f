"""What words look like to the person who reads them. The browser's twin: ``browser/account.mjs`` and ``checks.mjs``."""

from __future__ import annotations

import re
import unicodedata

_LOOKALIKES = str.maketrans(
    "01iıɑɡавгекмнопрстухьѕіјѵһԁԛԝαβγεζηικμνορτυχω",
    "olllagabrekmhonpctyxbsljvhdqwabyezhlkmvoptyxw",
)
"""Letters that look like Latin ones, small or large, and digits that look like letters; the browser has the same."""


def plain_words(text: str) -> str:
    """A question's text without case, spaces, signs and marks, look-alike letters as one, to tell whether it was asked.

    >>> plain_words("Do you  SMOKE ?") == plain_words("do you smoke")
    True
    >>> plain_words("Do y\N{CYRILLIC SMALL LETTER O}u smoke\u3164?") == plain_words("do you smoke")
    True
    """
    folded = unicodedata.normalize("NFKD", text).lower()
    return re.sub(r"[\W_\u115f\u1160]+", "", folded).translate(_LOOKALIKES)  # two letters of Hangul are invisible


FINEST = 1e-11
"""The least step of a grid, as a part of its largest number: twelve digits are shown, and values look different."""


def seen(label: str) -> str:
    """An answer as it looks: forms of a letter as one, what is invisible left out.

    >>> seen("e\N{COMBINING ACUTE ACCENT}") == seen("\N{LATIN SMALL LETTER E WITH ACUTE}\N{ZERO WIDTH SPACE} ")
    True
    """
    shown = re.sub(_UNSEEN, "", unicodedata.normalize("NFKC", label))
    return " ".join("".join(_as_latin(c) for c in shown if unicodedata.category(c) != "Cf").split())


def _as_latin(letter: str) -> str:
    """A letter of another script that looks like a Latin one as that; digits and Latin letters as they are."""
    small = letter.lower()
    return letter if letter.isascii() or len(small) != 1 else chr(_LOOKALIKES.get(ord(small), ord(letter)))


_UNSEEN = "[\u034f\u115f\u1160\u180b-\u180d\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]"
"""What shows nothing and is no space: letters of Hangul, a pattern of Braille, marks that join or choose forms."""
