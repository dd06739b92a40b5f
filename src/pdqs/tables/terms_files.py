"""Terms as a file: TOML for people, frozen by the hash it carries; the canonical JSON is read too.

    hash = "5d41..."        # of the canonical form; leave the line out in a file of your own
    budget = 500.0
    rule = "lottery"

    [query]
    is = "median"

    [query.domain]
    kind = "grid"
    start = 14.0
    step = 1.0
    size = 48

What is left out is as usual. A file whose terms no longer have the hash they were frozen under is refused.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pdqs.model.errors import PdqsError, TermsError
from pdqs.rounds.canonical import Kinds
from pdqs.rounds.terms import Terms
from pdqs.tables.delimited import label, read_bytes, text_of
from pdqs.tables.files import refuse_unknown_kind

KINDS = (".toml", ".json")

_FROZEN_UNDER = "hash"


def read_terms_file(path: Path, also: Kinds) -> Terms:
    """The terms of a file, or one sentence that names the file and what is wrong in it; ``also`` as `Terms.read`."""
    kind = refuse_unknown_kind(path, KINDS)
    text = text_of(read_bytes(path), path)
    try:
        return Terms.read(text, also) if kind == ".json" else _thawed(text, also)
    except tomllib.TOMLDecodeError as fault:
        raise TermsError(f"{label(path)}: this is not TOML: {fault}") from None
    except PdqsError as fault:
        raise TermsError(f"{label(path)}: {fault}") from None


def _thawed(text: str, also: Kinds) -> Terms:
    plain = tomllib.loads(text)
    frozen_under = plain.pop(_FROZEN_UNDER, None)
    terms = Terms.read(plain, also)
    if frozen_under not in (None, terms.hash):
        raise TermsError(
            f"frozen as {str(frozen_under)[:12]}..., these terms are {terms.hash[:12]}...: they were changed since;"
            f" leave the line {_FROZEN_UNDER!r} out if that is meant"
        )
    return terms


def frozen(terms: Terms) -> str:
    """The terms as TOML, under their hash.

    >>> from pdqs.model.query import Count
    >>> print(frozen(Terms(query=Count(), budget=20.0)).partition("bid_range")[2].splitlines()[0])
     = [0.0, 1.0]
    """
    plain = {name: value for name, value in json.loads(terms.canonical()).items() if name != "is"}
    lines = [
        "# The terms of one round of private data trading, as pdqs terms froze them.",
        *_lines(plain, "", terms.hash),
    ]
    return "\n".join(lines) + "\n"


def _lines(plain: Mapping[str, object], above: str, frozen_under: str | None = None) -> list[str]:
    """The lines of a table: its own values first, then the tables in it; what is null or empty is so by default."""
    lines = [] if frozen_under is None else [f"{_FROZEN_UNDER} = {_written(frozen_under)}"]
    own = {name: value for name, value in plain.items() if value is not None and not isinstance(value, dict)}
    lines += [f"{name} = {_written(value)}" for name, value in own.items() if value != []]
    for name, value in plain.items():
        if isinstance(value, dict):
            lines += ["", f"[{above}{name}]", *_lines(value, f"{above}{name}.")]
    return lines


def _written(value: object) -> str:
    """One value as TOML writes it.

    >>> _written(["a", 1.5, True, {"is": "inf"}])
    '["a", 1.5, true, {is = "inf"}]'
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_written(held)}" for name, held in value.items() if held is not None) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
