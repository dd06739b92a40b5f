"""The canonical form of terms, written and read: JSON with sorted keys that every party writes to the same byte.

Equal terms have one form and different terms have two, so that its hash stands for them. A value of ours is an object
that says what it ``is`` and lists its fields; numbers are plain JSON numbers. A rule or prior from outside must be a
frozen dataclass of things that can be written (it says its ``class`` besides): one whose figures did not show in the
form would let two markets pass for one.

Reading gives back the same terms. Rules that live in other files (learned ones) are read where their kinds are given.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pdqs.model import priors
from pdqs.model.checks import shown
from pdqs.model.domain import Domain
from pdqs.model.errors import PdqsError, TermsError
from pdqs.model.names import QuestionKind
from pdqs.model.query import BY_KIND, Query
from pdqs.model.question import Question
from pdqs.pricing import rules

Kinds = Mapping[str, Callable[..., object]]
"""Makers of values by the name that their form says they are."""

PRIORS: Kinds = {prior.__name__: prior for prior in (priors.Uniform, priors.TruncatedNormal, priors.Fitted)}
_PRIVATE = "setting"  # what a rule is told of its market: the terms say it already


@runtime_checkable
class Digested(Protocol):
    """Something too large to write out, such as weights, that is told apart by the SHA-256 of its bytes."""

    @property
    def digest(self) -> str: ...


def written(plain: Mapping[str, object]) -> str:
    """An object of plain values as text: sorted keys, no spaces.

    >>> written({"b": 1.0, "a": [True, None]})
    '{"a":[true,null],"b":1.0}'
    """
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def plain_terms(terms: object) -> dict[str, object]:
    """Terms (a dataclass whose own numbers are plain already) as plain values."""
    assert dataclasses.is_dataclass(terms)
    held = {f.name: _plain_field(terms, f.name) for f in dataclasses.fields(terms)}
    left_out = {"stages"} | ({"question"} if held["question"] is None else set())
    return {"is": type(terms).__name__} | {name: value for name, value in held.items() if name not in left_out}


def _plain_field(terms: object, name: str) -> object:
    value = getattr(terms, name)
    if name in ("rule", "prior") and value is not None and not isinstance(value, str):
        return plain_of(value, name)
    if name == "query":
        return _plain_query(value)
    if name == "question":
        return _plain_question(value)
    return list(value) if isinstance(value, tuple) else value


def _plain_query(query: Query) -> dict[str, object]:
    fields = {f.name: getattr(query, f.name) for f in dataclasses.fields(query)}  # type: ignore[arg-type]  # all are
    if isinstance(domain := fields.get("domain"), Domain):
        fields["domain"] = plain_domain(domain)
    return {"is": query.kind} | fields


def _plain_question(question: Question) -> dict[str, object] | None:
    """A question but for the domain and text, which the query tells; nothing for whole values, so that what was
    promised before there were others is the same promise still."""
    if question.whole:
        return None
    guess = {} if question.guess is None else {"guess": list(question.guess)}
    return {"is": question.kind, "codes": question.codes, "stages": question.stages} | guess


def plain_domain(domain: Domain) -> dict[str, object]:
    """A domain, whose numbers and labels are plain already, as plain values."""
    held = {f.name: getattr(domain, f.name) for f in dataclasses.fields(domain)}
    return {"is": domain.kind} | held | {"labels": list(domain.labels)}


def plain_of(value: object, what: str, error: type[PdqsError] = TermsError) -> object:
    """A rule or prior, or part of one, as plain values; refused where a figure of it cannot be written.

    >>> plain_of(rules.Exponential(2), "rule")
    {'is': 'exponential', 'c': 2.0}
    >>> plain_of(len, "rule")
    Traceback (most recent call last):
        ...
    pdqs.model.errors.TermsError: rule cannot be part of terms: a builtin_function_or_method cannot be written ...
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, np.bool_ | np.number | int | float):
        return _plain_number(value, what, error)
    if isinstance(value, tuple):
        return [plain_of(item, what, error) for item in value]
    if dataclasses.is_dataclass(value) and is_frozen(value):
        fields = (f.name for f in dataclasses.fields(value) if f.name != _PRIVATE)
        return _said(value) | {name: plain_of(getattr(value, name), f"{what}.{name}", error) for name in fields}
    if not isinstance(value, type) and isinstance(value, Digested):
        return {"is": type(value).__name__, "digest": value.digest}
    raise error(
        f"{what} cannot be part of terms: {shown(value)} cannot be written down;"
        " make it a frozen dataclass of numbers, texts and tuples"
    )


def is_frozen(value: object) -> bool:
    """Whether this is a frozen dataclass: its own class, not one below it that adds what is not a field."""
    parameters = vars(type(value)).get("__dataclass_params__")
    return parameters is not None and bool(parameters.frozen)


def _plain_number(value: object, what: str, error: type[PdqsError]) -> object:
    """2, 2.0 and np.float32(2) are one number, and one text; infinities are objects, for JSON has none."""
    exact = value.item() if isinstance(value, np.generic) else value
    if isinstance(exact, bool):
        return exact
    if not isinstance(exact, int | float) or math.isnan(exact):
        raise error(f"{what} cannot be part of terms: {shown(value)} cannot be written down")
    if isinstance(exact, float) and math.isinf(exact):
        return {"is": str(exact)}
    return float(exact) + 0.0 if abs(exact) <= 2**53 or isinstance(exact, float) else int(exact)


def _said(value: object) -> dict[str, str]:
    """What a value is: its name, and its class where it is not ours, for anyone may call a rule linear."""
    kind = type(value)
    name = rules.name_of(value) if isinstance(value, rules.Rule) else kind.__name__
    ours = kind.__module__.partition(".")[0] == "pdqs"
    return {"is": name} if ours else {"is": name, "class": f"{kind.__module__}.{kind.__qualname__}"}


def read_fields(plain: object, known: Collection[str], also: Kinds) -> dict[str, Any]:
    """The fields of terms from plain JSON values: the canonical form, or less of it where the usual figures will do.

    ``known`` are the fields there are; ``also`` holds kinds of rules and priors beside the core's own.

    >>> read_fields({"query": "count", "budget": 20, "rule": "linear"}, {"query", "budget", "rule"}, {})
    {'query': Count(text=''), 'budget': 20, 'rule': 'linear', 'question': 'value'}
    """
    if not isinstance(plain, dict):
        raise TermsError(f"terms are a JSON object, got {type(plain).__name__}")
    if plain.get("is", "Terms") != "Terms":
        raise TermsError(f"this describes a {plain['is']}, not terms")
    given = {name: value for name, value in plain.items() if name != "is"}
    if unknown := sorted(set(given) - set(known)):
        raise TermsError(f"terms have no {unknown[0]!r}")
    if missing := sorted({"query", "budget"} - set(given)):
        raise TermsError(f"terms need a {missing[0]!r}")
    given["query"] = _query(given["query"])
    if not isinstance(given.get("rule", ""), str):
        given["rule"] = _made("rule", given["rule"], {**rules.NAMED, **also}, also)
    if given.get("prior") is not None:
        given["prior"] = _made("prior", given["prior"], {**PRIORS, **also}, also)
    given["question"] = _question(given.get("question", QuestionKind.VALUE.value), given["query"])
    if isinstance(given.get("bid_range"), list):
        given["bid_range"] = tuple(given["bid_range"])
    return given


def _query(plain: object) -> object:
    named = {"is": plain} if isinstance(plain, str) else plain
    if isinstance(named, dict) and isinstance(named.get("domain"), dict):
        named = {**named, "domain": _domain(named["domain"])}
    return _made("query", named, BY_KIND, {})


def _question(plain: object, query: Query) -> object:
    """A name stands for itself; terms that say nothing of a question ask for whole values."""
    if not isinstance(plain, dict):
        return plain
    known = {"is", "codes", "stages", "guess"}
    if unknown := sorted(set(plain) - known):
        raise TermsError(f"a question has no {unknown[0]!r}")
    figures: dict[str, Any] = {name: plain[name] for name in known - {"is", "guess"} if name in plain}
    guess = plain.get("guess")
    return dataclasses.replace(
        query.question, kind=str(plain.get("is")), guess=tuple(guess) if isinstance(guess, list) else guess, **figures
    )


def _domain(plain: dict[str, Any]) -> Domain:
    kind = plain.get("kind", plain.get("is"))
    if kind == "binary":
        return Domain.binary()
    if kind == "categories":
        return Domain.categories(plain.get("labels", []))
    if missing := [name for name in ("start", "step", "size") if name not in plain]:
        raise TermsError(
            f"a domain is binary, categories with labels, or a grid with start, step and size: no {missing[0]}"
        )
    return Domain(kind="grid", start=plain["start"], step=plain["step"], size=plain["size"])


def _made(what: str, plain: object, kinds: Kinds, also: Kinds) -> object:
    if not isinstance(plain, dict) or not isinstance(plain.get("is"), str):
        raise TermsError(f'a {what} is an object such as {{"is": {sorted(kinds)[0]!r}}}, got {shown(plain)}')
    if "class" in plain:
        raise TermsError(f"{what} {plain['is']!r} is {plain['class']}, which is not one of ours and cannot be read")
    if plain["is"] not in kinds:
        raise TermsError(f"unknown {what} {plain['is']!r}: choose one of {', '.join(sorted(kinds))}")
    figures = {name: _figure(value, also) for name, value in plain.items() if name != "is"}
    try:
        return kinds[plain["is"]](**figures)
    except TypeError as fault:
        raise TermsError(f"{what} {plain['is']}: {str(fault).split('__init__() ')[-1]}") from None


def _figure(value: object, also: Kinds) -> object:
    """One field of a query, rule or prior."""
    if isinstance(value, list):
        return tuple(_figure(item, also) for item in value)
    if isinstance(value, dict) and value.get("is") in ("inf", "-inf"):
        return float(value["is"])
    if isinstance(value, dict):
        return _made("prior", value, {**PRIORS, **also}, also)
    return value
