"""Of a market's statement no sum goes unseen, and no line makes up for two others."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from owner.node import BROWSER, mutant, twin
from pdqs.market.reversals import undoing
from pdqs.owner.client import OwnerClient
from pdqs.owner.receipt_checks import lines_of, paid_by
from pdqs.owner.statement import adds_up, payout_in_words, repeated, taken, unconfirmed
from pdqs.protocol.market_messages import EntryKind, Posting
from pdqs.protocol.problems import MarketError

DAY_MS = 86_400_000
KINDS: tuple[EntryKind, ...] = ("payout", "reversal", "deposit")
ROUNDS = ("rnd_" + "c" * 24, "rnd_" + "d" * 24)
Said = Sequence[tuple[str, int]]


def line(name: str, kind: EntryKind, amount: int, day: int = 1, round_id: str | None = None) -> Posting:
    fields = {
        "transaction_id": name,
        "kind": kind,
        "amount_micros": amount,
        "at_ms": day * DAY_MS,
        "round_id": round_id,
    }
    return Posting.model_validate({"account": "o", **fields})


def looked_at(lines: Sequence[Posting], received: Said = ()) -> dict[str, Any]:
    payouts = unconfirmed(lines, received)
    asked = [[each.transaction_id, payout_in_words(each)] for each in payouts]
    return {"repeated": repeated(lines), "taken": taken(lines), "payouts": asked}


def in_the_browser(statements: Sequence[tuple[Sequence[Posting], Said]], modules: Path = BROWSER) -> list[Any]:
    cases = [{"lines": [each.model_dump() for each in lines], "received": received} for lines, received in statements]
    return list(twin(modules, script="statement_twin.mjs", statements=cases)["found"])


def asked_about(lines: Sequence[Posting], received: Said = ()) -> list[str]:
    """The payouts that both devices ask about, by name."""
    here, [there] = looked_at(lines, received), in_the_browser([(lines, received)])
    assert here == {name: there[name] for name in here}
    return [name for name, _ in here["payouts"]]


def test_of_a_payout_that_was_undone_and_made_again_she_is_asked_about_the_later() -> None:
    first, second = line("payout:p_1", "payout", -40, 100), line("payout:p_2", "payout", -40, 300)
    undone = line(undoing("payout:p_1"), "reversal", 40, 400)
    assert asked_about([undone, second, first]) == ["payout:p_2"]
    assert asked_about([undone, second, first], [("payout:p_1", -40)]) == ["payout:p_2"]
    assert asked_about([undone, second, first], [("payout:p_2", -40)]) == []


def test_what_undoes_a_payout_without_naming_it_undoes_the_last_of_its_size_before() -> None:
    days = {"a": 100, "b": 200, "c": 400}
    payouts = [line(name, "payout", -40, day) for name, day in days.items()]
    assert asked_about([payouts[2], line("x", "reversal", 40, 300), payouts[1], payouts[0]]) == ["c", "a"]
    assert asked_about([payouts[2], line("x", "reversal", 41, 300), payouts[1], payouts[0]]) == ["c", "b", "a"]
    assert asked_about([payouts[2], line("x", "reversal", 40, 50)]) == ["c"]


def test_her_word_for_a_payout_is_for_one_line() -> None:
    months = [line("p", "payout", -40, 30 * month) for month in (3, 2, 1)]
    assert asked_about(months, [("p", -40)]) == ["p", "p"]
    assert [each.at_ms for each in unconfirmed(months, [("p", -40)])] == [90 * DAY_MS, 60 * DAY_MS]


def test_what_is_given_in_a_round_makes_up_for_nothing_outside_of_it() -> None:
    mine, other = ROUNDS
    lines = [
        line("d", "escrow", -40, round_id=mine),
        line("c", "reversal", 40, round_id=mine),
        line("b", "payout", -40),
        line("a", "settlement", 100, round_id=other),
    ]
    assert asked_about(lines) == ["b"]


def statements(count: int) -> list[tuple[list[Posting], list[tuple[str, int]]]]:
    """Statements of any kinds of lines, with few amounts, names and days, so that they meet."""
    draw, made = random.Random(8), list[tuple[list[Posting], list[tuple[str, int]]]]()
    for _ in range(count):
        lines = []
        for _ in range(draw.randint(1, 5)):
            name = undoing(f"t{draw.randint(0, 4)}") if draw.random() < 0.3 else f"t{draw.randint(0, 4)}"
            amount, about = draw.choice((-1, -1, 1, 1, -2)), draw.choice((None, None, None, *ROUNDS))
            lines.append(line(name, draw.choice(KINDS), amount, draw.randint(1, 4), about))
        made.append((sorted(lines, key=lambda each: -each.at_ms), []))
    return made


def unseen_micros(lines: Sequence[Posting], found: dict[str, Any]) -> int:
    """How much more is gone than she is told of, or asked about."""
    told = [*found["taken"], *(sentence for _, sentence in found["payouts"])]
    sums = [re.search(r"(?:took|paid out) ([\d.]+) ", sentence) for sentence in told]
    micros = sum(int(Decimal(each[1]) * 10**6) for each in sums if each)
    return -sum(each.amount_micros for each in lines) - micros


def test_nothing_is_taken_unseen_whatever_the_lines_are_called() -> None:
    drawn = statements(4000)
    there = in_the_browser(drawn)
    for (lines, received), browser in zip(drawn, there, strict=True):
        here = looked_at(lines, received)
        assert here == {name: browser[name] for name in here}
        assert unseen_micros(lines, here) <= 0


@dataclass(frozen=True)
class Mistake:
    """What a browser's device might do wrong."""

    was: str
    becomes: str


@pytest.mark.parametrize(
    "mistake",
    [
        Mistake('kind === "reversal" && amount > 0 && round === null', 'kind === "reversal" && amount > 0'),
        Mistake("round !== null && sum(", f"round !== null && round !== '{ROUNDS[0]}' && sum("),
        Mistake('!["payout", "reversal"].includes(kind)', 'kind !== "payout"'),
    ],
    ids=["a line that counts twice", "a round that is not looked at", "an undoing that counts twice"],
)  # fmt: skip
def test_a_browser_that_lets_a_sum_go_by_is_seen(mistake: Mistake, tmp_path: Path) -> None:
    drawn = statements(4000)
    found = in_the_browser(drawn, mutant(tmp_path, "statement.mjs", mistake.was, mistake.becomes))
    assert any(unseen_micros(lines, each) > 0 for (lines, _), each in zip(drawn, found, strict=True))


@dataclass
class Counted:
    """A line of a statement that counts how often its round is read."""

    line: Posting
    read: int = 0

    def __getattr__(self, name: str) -> Any:
        self.read += name == "round_id"
        return getattr(self.line, name)


def test_a_line_of_a_long_statement_is_not_looked_at_once_for_each_round() -> None:
    lines = [line(f"t{place}", "settlement", 5, round_id=f"rnd_{place:024x}") for place in range(300)]
    counted: list[Any] = [Counted(each) for each in lines]
    taken(counted)
    assert sum(each.read for each in counted) <= 4 * len(lines)
    assert in_the_browser([(lines, [])])[0]["read"] <= 4 * len(lines)


MOST = 2**53 - 1
AMOUNTS: dict[str, tuple[list[int], bool]] = {
    "the most that is counted": ([MOST], True),
    "a micro-unit more": ([MOST, 1], False),
    "the same taken": ([-MOST, -1], False),
    "as much again taken": ([MOST, -MOST], False),
    "small sums between large ones that cancel out": ([*[10**15] * 90, *[7] * 100, *[-(10**15)] * 90], False),
    "what is still exact": ([*[10**15] * 4, *[7] * 100, *[-(10**15)] * 4], True),
}


def summed(lines: Sequence[Posting]) -> list[Any]:
    """What Python's device says of a statement that says it owes nothing, and what it finds paid in the first round."""
    items = [each.model_dump() for each in lines]
    told = httpx.MockTransport(lambda _: httpx.Response(200, json={"balance_micros": 0, "items": items, "next": None}))
    with OwnerClient("http://market.example", transport=told) as client:
        try:
            money = client.money()
        except MarketError as fault:
            sentence = f"{str(fault)[0].upper()}{str(fault)[1:]}."
            return [sentence, sentence]
    return [adds_up(money), paid_by(lines_of(ROUNDS[0], money.lines))]


def test_both_add_up_to_the_last_micro_unit_and_refuse_what_they_could_not(tmp_path: Path) -> None:
    statements = [
        [line(f"s{i}", "settlement", amount, round_id=ROUNDS[0]) for i, amount in enumerate(amounts)]
        for amounts, _ in AMOUNTS.values()
    ]
    here = [summed(lines) for lines in statements]
    asked = [{"balance": 0, "lines": [each.model_dump() for each in s], "round": ROUNDS[0]} for s in statements]
    assert twin(script="statement_twin.mjs", sums=asked)["sums"] == here
    exact = {name: paid == sum(AMOUNTS[name][0]) for name, (_, paid) in zip(AMOUNTS, here, strict=True)}
    assert exact == {name: is_counted for name, (_, is_counted) in AMOUNTS.items()}
    weak = mutant(tmp_path, "statement.mjs", "moved > MOST_COUNTED_MICROS", "false")
    assert twin(weak, script="statement_twin.mjs", sums=asked)["sums"] != here
