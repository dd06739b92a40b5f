"""What is wrong with how a command was called, in words.

Typer parses options with pydantic, whose sentences speak of strings and parsing to people who typed a word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable


@runtime_checkable
class UsageFault(Protocol):
    """Typer keeps its usage errors in a module that moves between versions; what they have in common is this."""

    def format_message(self) -> str: ...


@runtime_checkable
class _Invalid(Protocol):
    """Pydantic's error: what was wrong with each input, the input among it."""

    def errors(self) -> list[Mapping[str, object]]: ...


def _whole_number(typed: object) -> str:
    bare = str(typed).replace(",", "")
    return f"{typed!r} is not a whole number" + (f" (write {bare})" if bare != typed and bare.isdigit() else "")


def _number(typed: object) -> str:
    bare = str(typed).strip().lstrip("$€£¥").replace(",", "")
    plain = bare != typed and bare.replace(".", "", 1).isdigit()
    return f"{typed!r} is not a number" + (" (write digits and a decimal point alone)" if plain else "")


_WORDS: dict[str, Callable[[object], str]] = {
    "float_parsing": _number,
    "int_parsing": _whole_number,
    "int_from_float": _whole_number,
    "bool_parsing": lambda typed: f"{typed!r} is neither yes nor no",
}

_BOUNDS = {
    "greater_than_equal": "at least",
    "greater_than": "above",
    "less_than_equal": "at most",
    "less_than": "below",
}


def usage_words(fault: UsageFault, word: str) -> str:
    """One sentence: what was wrong, and where to read on."""
    said = _nearest(fault.format_message().rstrip("."))
    cause = getattr(fault, "__cause__", None)
    found = cause.errors() if isinstance(cause, _Invalid) else []
    if found:
        said = said.replace(str(found[0]["msg"]), _in_words(found[0]))
    where = getattr(getattr(fault, "ctx", None), "command_path", None) or f"pdqs {word}"  # with the word after it
    return f"{said} Try {where} --help" if said.endswith("?") else f"{said}: try {where} --help"


def _nearest(said: str) -> str:
    """A list of options that were perhaps meant as a question about the most alike.

    >>> _nearest("No such option: --ot (Possible options: --budget, --out)")
    'No such option: --ot. Did you mean --out?'
    """
    import difflib

    before, listed, options = said.partition(" (Possible options: ")
    close = difflib.get_close_matches(before.rpartition(" ")[2], options.rstrip(")").split(", "), n=1, cutoff=0.0)
    return f"{before}. Did you mean {close[0]}?" if listed and close else said


def _in_words(found: Mapping[str, object]) -> str:
    kind, typed = str(found["type"]), found.get("input")
    if kind in _WORDS:
        return _WORDS[kind](typed)
    context = found.get("ctx")
    if kind in _BOUNDS and isinstance(context, Mapping):
        bound = next(iter(context.values()))
        return f"{typed} is not {_BOUNDS[kind]} {bound}"
    return str(found["msg"])
