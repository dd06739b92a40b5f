"""Lies in rounds where everyone is asked, at a price that depends on her bid: no lot says who."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pdqs
from pdqs.privacy.draws import JITTER_WORD, committed_words

from .market import QUERY, Edit, Json, Lie, Script


def without_lots(script: Script) -> None:
    """Terms by whose rule everyone is asked."""
    script.document["terms"] = json.loads(pdqs.Terms(query=QUERY, budget=100.0, rule="optimal").canonical())


def offered(change: Callable[[Json], Any] = lambda _offer: None) -> Edit:
    """An offer as such a round makes it, changed."""

    def edit(script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
        if told == "GET offer" and status == 200:
            word = committed_words(script.seed, script.nonce, [script.names[script.place]], JITTER_WORD)
            body.update(draw=int(word[0]), chance_numerator=2**32, posted_micros=None)
            change(body)
        return status, body

    return edit


def chance(numerator: int) -> Lie:
    return Lie(
        goal="drawn",
        caught_by=frozenset({"whole chance"}),
        prepare=without_lots,
        edit=offered(lambda offer: offer.update(chance_numerator=numerator)),
    )


TRUTH = Lie(goal="nothing", prepare=without_lots, edit=offered())
WITHOUT_LOTS = {
    "a small chance where no lot says who is asked": chance(1),
    "hardly less than the whole chance where no lot says who is asked": chance(2**32 - 1),
}
