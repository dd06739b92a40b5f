"""How answers are edited into lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .market import KEY, Edit, Json, Lie, Script, canonical, sign


def on(what: str, change: Callable[[Json], Any], *, when: Callable[[Script], bool] = lambda _: True) -> Edit:
    """Edit the body of one kind of answer, in place."""

    def edit(script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
        if told == what and status == 200 and when(script):
            change(body)
        return status, body

    return edit


def instead(what: str, status: int, body: Json, *, when: Callable[[Script], bool] = lambda _: True) -> Edit:
    """Another answer altogether."""

    def edit(script: Script, told: str, was: int, honest: Json) -> tuple[int, Json]:
        return (status, body) if told == what and when(script) else (was, honest)

    return edit


def both(*edits: Edit) -> Edit:
    """One edit after the other."""

    def edit(script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
        for each in edits:
            status, body = each(script, told, status, body)
        return status, body

    return edit


def lost(then: Edit) -> Edit:
    """What she sends arrives, and no answer to it comes back; what is told afterwards is edited."""

    def edit(script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
        return (502, {}) if told.startswith("PUT ") else then(script, told, status, body)

    return edit


def put(**fields: Any) -> Callable[[Json], None]:
    return lambda body: body.update(fields)


def signed(key: Any = KEY, **fields: Any) -> Callable[[Json], None]:
    """A receipt changed, and signed afterwards: the market stands by the lie."""
    return lambda body: body.update(sign({**body, **fields}, key))


def bid_on(script: Script) -> bool:
    return script.bid is not None


def shown(check: str, change: Callable[[Json], Any]) -> Lie:
    """The notice shows something else than the terms say."""
    return Lie(goal="bid", caught_by=frozenset({check}), edit=on("GET notice", change))


def written(check: str | set[str], prepare: Callable[[Script], Any], goal: str = "bid") -> Lie:
    """The frozen document itself is wrong, and hashed as it stands."""
    return Lie(goal=goal, caught_by=frozenset({check} if isinstance(check, str) else check), prepare=prepare)


def says(*path: str, value: Any) -> Callable[[Script], None]:
    """A field of the frozen document."""

    def prepare(script: Script) -> None:
        place = script.document
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value

    return prepare


def text_becomes(change: Callable[[str], str]) -> Callable[[Script], None]:
    def prepare(script: Script) -> None:
        script.terms = change(canonical(script.document))

    return prepare


def unhashed(script: Script) -> None:
    honest = script.hash
    script.terms = canonical(script.document).replace('"budget":100.0', '"budget":900.0')
    script.terms_hash = honest


def question(**fields: Any) -> Callable[[Json], None]:
    return lambda body: body["question"].update(fields)


def domain(**fields: Any) -> Callable[[Json], None]:
    return lambda body: body["question"]["domain"].update(fields)


def odd_words(text: str) -> Callable[[Script], None]:
    """The question in other words, in the document and beside it."""

    def prepare(script: Script) -> None:
        script.question["text"] = script.document["terms"]["query"]["text"] = text

    return prepare
