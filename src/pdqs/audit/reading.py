"""Terms read back from the JSON that :meth:`pdqs.Terms.canonical` writes, so that a file can be audited."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from pdqs import priors, rules
from pdqs.domain import Domain
from pdqs.errors import FileError, PdqsError, TermsError
from pdqs.query import Count, Histogram, Mean, Median, Quantile, Query
from pdqs.terms import Terms

_QUERIES: dict[str, Any] = {query.kind: query for query in (Count, Median, Quantile, Mean, Histogram)}
_PRIORS: dict[str, Any] = {prior.__name__: prior for prior in (priors.Uniform, priors.TruncatedNormal, priors.Fitted)}


def read_terms(path: Path) -> Terms:
    """The terms of a file, or one sentence that names the file and what is wrong in it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise FileError(f"cannot read {path}: {getattr(fault, 'strerror', None) or fault}") from None
    try:
        return terms_of(json.loads(text))
    except json.JSONDecodeError as fault:
        raise FileError(f"{path} is not JSON: {fault}") from None
    except PdqsError as fault:
        raise TermsError(f"{path}: {fault}") from None


def terms_of(plain: Any) -> Terms:
    """Terms from plain JSON values: the canonical form, or less of it where the usual figures will do.

    >>> terms_of({"query": "count", "budget": 20, "rule": "linear"}).rule_name
    'linear'
    """
    if not isinstance(plain, dict):
        raise TermsError(f"terms are a JSON object, got {type(plain).__name__}")
    if plain.get("is", "Terms") != "Terms":
        raise TermsError(f"this describes a {plain['is']}, not terms")
    given = {name: value for name, value in plain.items() if name != "is"}
    known = {field.name for field in dataclasses.fields(Terms)}
    if unknown := sorted(set(given) - known):
        raise TermsError(f"terms have no {unknown[0]!r}")
    if missing := sorted({"query", "budget"} - set(given)):
        raise TermsError(f"terms need a {missing[0]!r}")
    given["query"] = _query(given["query"])
    if "rule" in given:
        given["rule"] = _rule(given["rule"])
    if given.get("prior") is not None:
        given["prior"] = _made("prior", given["prior"], _PRIORS)
    if isinstance(given.get("bid_range"), list):
        given["bid_range"] = tuple(given["bid_range"])
    terms: Terms = _built("terms", Terms, given)
    return terms


def _query(plain: Any) -> Query:
    named = {"is": plain} if isinstance(plain, str) else plain
    if isinstance(named, dict) and isinstance(named.get("domain"), dict):
        named = {**named, "domain": _domain(named["domain"])}
    query: Query = _made("query", named, _QUERIES)
    return query


def _domain(plain: dict[str, Any]) -> Domain:
    kind = plain.get("kind", plain.get("is"))
    if kind == "binary":
        return Domain.binary()
    if kind == "categories":
        return Domain.categories(plain.get("labels", []))
    try:
        start, step, size = float(plain["start"]), float(plain["step"]), int(plain["size"])
    except (KeyError, TypeError, ValueError):
        raise TermsError("a domain is binary, categories with labels, or a grid with start, step and size") from None
    return Domain.grid(start, start + step * (size - 1), step)


def _rule(plain: Any) -> Any:
    """A name, or an object of one of our rules; a learned rule has its own file."""
    return plain if isinstance(plain, str) else _made("rule", plain, rules.NAMED)


def _made(what: str, plain: Any, kinds: dict[str, Any]) -> Any:
    if not isinstance(plain, dict) or not isinstance(plain.get("is"), str):
        raise TermsError(f'a {what} is an object such as {{"is": {sorted(kinds)[0]!r}}}, got {plain!r}')
    if plain["is"] not in kinds:
        raise TermsError(f"unknown {what} {plain['is']!r}: choose one of {', '.join(sorted(kinds))}")
    figures = {name: value for name, value in plain.items() if name != "is"}
    if isinstance(figures.get("prior"), dict):
        figures["prior"] = _made("prior", figures["prior"], _PRIORS)
    return _built(f"{what} {plain['is']}", kinds[plain["is"]], figures)


def _built(what: str, kind: Any, figures: dict[str, Any]) -> Any:
    """Call it, and put a wrong or missing figure in words."""
    held = {name: tuple(value) if isinstance(value, list) else value for name, value in figures.items()}
    try:
        return kind(**held)
    except TypeError as fault:
        raise TermsError(f"{what}: {str(fault).split('__init__() ')[-1]}") from None
