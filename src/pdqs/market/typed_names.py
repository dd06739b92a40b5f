"""Names of people and tokens as somebody types or pastes them: without what shows nothing, and told what is wrong."""

from __future__ import annotations

import re
import unicodedata

from pydantic import TypeAdapter, ValidationError

from pdqs.model.looks import seen
from pdqs.protocol.device_messages import MOST_LETTERS, Name

_NAME: TypeAdapter[str] = TypeAdapter(Name)
_PASTED = r"[\s\u00ad\u200b-\u200f\u2060\ufeff]+"
_SPACES = re.compile(" {2,}")
_ENDS = re.compile(f"^{_PASTED}|{_PASTED}$")


def typed_name(text: str) -> str:
    """A name in one spelling of its accents and spaces, without what shows nothing at its ends.

    Two people would look like one by any of these, and have no mark that tells them apart.

    >>> typed_name(" Ann\\N{ZERO WIDTH SPACE}"), typed_name("\\N{WORD JOINER}"), typed_name("Zoe\\u0308  Lee")
    ('Ann', '', 'Zoë Lee')
    """
    return _SPACES.sub(" ", unicodedata.normalize("NFC", _ENDS.sub("", text)))


def alike(name: str) -> str:
    """A name as far as it tells people or groups apart: large letters, spaces, and how an accent is kept do not.

    >>> alike("Ann  LEE") == alike("ann lee"), alike("Zo\u00eb") == alike("Zoe\u0308")
    (True, True)
    """
    return unicodedata.normalize("NFC", " ".join(name.split()).casefold())


def fault_of_name(name: str, what: str = "the name") -> str:
    """Why this can be nobody's name, or nothing: by the rule of the messages, and something of it must show.

    >>> fault_of_name("Ann"), fault_of_name("\\N{HANGUL FILLER}")
    ('', 'the name has no letter that shows: type it anew')
    """
    try:
        _NAME.validate_python(name)
    except ValidationError:
        if 1 <= len(name) <= MOST_LETTERS:
            return f"{what} holds a sign that is not shown, or that turns the direction of writing: type it anew"
        return f"a name has 1 to {MOST_LETTERS} letters"
    return "" if seen(name) else f"{what} has no letter that shows: type it anew"
