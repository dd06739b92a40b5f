"""Of more bids without an offer than are asked about in a day, each has its turn: none is hidden behind the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from pdqs.owner.dropped import in_turn

from .node import BROWSER, mutant, twin

DAY, START, AT_ONCE = 86_400_000, 1_800_000_000_000, 20
MANY = (0, 1, 19, 20, 21, 39, 40, 57, 400)
CASES = [(many, START + day * DAY) for many in MANY for day in range(-(-max(many, 1) // AT_ONCE))]


def in_the_browser(modules: Path = BROWSER) -> list[list[int]]:
    return list(twin(modules, script="turns_twin.mjs", cases=CASES)["found"])


def seen(found: list[list[int]]) -> dict[int, set[int]]:
    """Of so many, which had their turn once that many days are over."""
    turns: dict[int, set[int]] = {many: set() for many in MANY}
    for (many, _), looked in zip(CASES, found, strict=True):
        turns[many].update(looked)
    return turns


def test_every_bid_has_its_turn_within_as_many_days_as_are_needed() -> None:
    found = [in_turn(range(many), now) for many, now in CASES]
    assert seen(found) == {many: set(range(many)) for many in MANY}
    assert max(len(looked) for looked in found) == AT_ONCE
    assert in_turn(range(400), START) == in_turn(range(400), START + DAY - START % DAY - 1), "the same all day"


def test_the_browser_takes_the_same_in_turn(tmp_path: Path) -> None:
    assert in_the_browser() == [in_turn(range(many), now) for many, now in CASES]
    stuck = mutant(tmp_path, "dropped.mjs", "Math.floor(nowMs / DAY_MS)", "0")
    with pytest.raises(AssertionError):
        assert seen(in_the_browser(stuck)) == {many: set(range(many)) for many in MANY}
