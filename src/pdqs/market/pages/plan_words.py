"""What is wrong with the words of a plan, all of it at once, by the field and the line that it stands in."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import TypeAdapter, ValidationError

from pdqs.model.names import QueryKind
from pdqs.protocol.device_messages import MOST_LETTERS, MOST_TEXT, Attribute, Name, Text

_ATTRIBUTE: TypeAdapter[str] = TypeAdapter(Attribute)
_TEXT: TypeAdapter[str] = TypeAdapter(Text)
_NAME: TypeAdapter[str] = TypeAdapter(Name)
_UNSEEN = "holds a sign that is not shown, or that turns the direction of writing: type it anew, without copying."


def faults_of_words(fields: Mapping[str, str]) -> dict[str, str]:
    """Each fault under its field, in a sentence; none where there is none.

    >>> faults_of_words({"kind": "histogram", "text": "", "attribute": "Flu Shot", "purpose": "", "use": "",
    ...                  "labels": "tea\\n\\ntea"})["labels"]
    'Line 3 is the same as line 1.'
    """
    found = {}
    if fields["attribute"] and not _fits(_ATTRIBUTE, fields["attribute"]):
        found["attribute"] = "Use small letters, digits, dots and dashes, beginning with a letter."
    for name in ("text", "purpose", "use"):
        words = " ".join(fields[name].split())
        if len(words) > MOST_TEXT:
            found[name] = f"Write at most {MOST_TEXT} letters; these are {len(words):,}."
        elif not _fits(_TEXT, words):
            found[name] = f"This {_UNSEEN}"
    if fields["kind"] == QueryKind.HISTOGRAM:
        wrong = _fault_of_answers(fields["labels"])
        found |= {"labels": wrong} if wrong else {}
    return found


def _fault_of_answers(text: str) -> str:
    """All that is wrong with a list of answers, line by line as it was typed."""
    said: list[str] = []
    first: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        answer = " ".join(line.split())
        if not answer:
            continue
        if len(answer) > MOST_LETTERS:
            said.append(f"Line {number} has {len(answer):,} letters, and {MOST_LETTERS} are the most.")
        elif not _fits(_NAME, answer):
            said.append(f"Line {number} {_UNSEEN}")
        elif first.setdefault(answer, number) != number:
            said.append(f"Line {number} is the same as line {first[answer]}.")
    more = len(said) - _SHOWN
    return " ".join([*said[:_SHOWN], *([f"And so on, in {more} more."] if more > 0 else [])])


_SHOWN = 5


def _fits(kind: TypeAdapter[str], words: str) -> bool:
    try:
        kind.validate_python(words)
    except ValidationError:
        return False
    return True
