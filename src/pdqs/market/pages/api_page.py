"""``/docs``: every route of the API, from its own description (OpenAPI 3.1), as a page without a script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

from fastapi import APIRouter, Request, Response

from pdqs.market.pages.error_pages import PageRoute
from pdqs.market.pages.render import page
from pdqs.market.pages.session import session_or_none

router = APIRouter(route_class=PageRoute, include_in_schema=False)

Described = Mapping[str, object]
"""A part of the description: JSON with names."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A parameter of a route or a field of a message: what it is called and what it may be."""

    name: str
    kind: str
    needed: bool
    meaning: str = ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One route: what is asked, what goes with it, and what comes back."""

    tag: str
    method: str
    path: str
    meaning: str
    parameters: tuple[Named, ...]
    body: str
    answer: str

    @property
    def anchor(self) -> str:
        """Where it stands on the page."""
        return f"{self.method.lower()}{self.path.replace('/', '-').translate({123: None, 125: None})}"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MessageKind:
    """A message: what it is for, and its fields."""

    name: str
    meaning: str
    fields: tuple[Named, ...]


@router.get("/docs")
def every_route(request: Request) -> Response:
    """The routes by what they are about, then the messages."""
    request.state.session = session_or_none(request) if request.app.state.readiness.is_ready else None
    told = request.app.openapi()
    found = list(operations(told))
    tags = list(dict.fromkeys(one.tag for one in found))
    grouped = {tag: [one for one in found if one.tag == tag] for tag in tags}
    return page(request, "api.html", grouped=grouped, messages=list(messages(told)), written=told["openapi"])


def operations(told: Described) -> Iterator[Operation]:
    """Every route of a description."""
    for path, methods in _part(told, "paths").items():
        for method, about in _parts(methods).items():
            yield Operation(
                tag=str(_list(about, "tags")[0]),
                method=method.upper(),
                path=path,
                meaning=str(about.get("description", about.get("summary", ""))),
                parameters=tuple(map(_parameter, map(_named, _list(about, "parameters")))),
                body=_content(_part(about, "requestBody")),
                answer=_content(_part(_part(about, "responses"), "200")),
            )


def messages(told: Described) -> Iterator[MessageKind]:
    """Every message of a description."""
    for name, schema in _parts(_part(_part(told, "components"), "schemas")).items():
        needed = set(_list(schema, "required"))
        fields = tuple(
            Named(name=field, kind=kind_of(about), needed=field in needed, meaning=str(about.get("description", "")))
            for field, about in _parts(_part(schema, "properties")).items()
        )
        if fields:
            yield MessageKind(name=name, meaning=str(schema.get("description", "")), fields=fields)


def kind_of(schema: Described) -> str:
    """What a value may be, in words.

    >>> kind_of({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]})
    'integer (at least 0) or null'
    >>> kind_of({"type": "array", "items": {"$ref": "#/components/schemas/User"}})
    'list of User'
    """
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "const" in schema or "enum" in schema:
        return ", ".join(map(str, _list(schema, "enum") or [schema.get("const")]))
    choices = _list(schema, "anyOf") or _list(schema, "oneOf")
    if choices:
        return " or ".join(kind_of(_named(one)) for one in choices)
    if schema.get("type") == "array":
        return f"list of {kind_of(_part(schema, 'items')) or 'anything'}"
    bounds = [f"{words} {schema[name]}" for name, words in _BOUNDS.items() if name in schema]
    return str(schema.get("type", "")) + (f" ({', '.join(bounds)})" if bounds else "")


_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "minLength": "length from",
    "maxLength": "length to",
    "pattern": "like",
}


def _parameter(about: Described) -> Named:
    place = {"path": "in the path", "query": "in the query", "header": "a header"}[str(about["in"])]
    kind = f"{kind_of(_part(about, 'schema'))}, {place}"
    needed, meaning = about.get("required") is True, str(about.get("description", ""))
    return Named(name=str(about["name"]), kind=kind, needed=needed, meaning=meaning)


def _content(about: Described) -> str:
    for media, held in _parts(_part(about, "content")).items():
        return kind_of(_part(held, "schema")) or media
    return ""


def _part(about: Described, name: str) -> Described:
    return _named(about.get(name, {}))


def _parts(about: object) -> dict[str, Described]:
    return {name: _named(held) for name, held in _named(about).items()}


def _named(held: object) -> Described:
    assert isinstance(held, dict)
    return held


def _list(about: Described, name: str) -> list[object]:
    held = about.get(name, [])
    assert isinstance(held, list)
    return held
