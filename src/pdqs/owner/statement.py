"""The market's statement of her money as a whole: whether it adds up, and what it takes that no round accounts for.

What became of a report's own money is in :mod:`pdqs.owner.settling`. The rest is held to this: the lines come to what
the market says it owes; no two have one name; nothing is taken but as a payout, or in a round that paid her as much;
and of payouts, which no device can see arrive, she is told until she says that she got them. No line counts twice: what
is given in a round makes up for what is taken in that round, and for nothing else. The browser's twin:
``browser/statement.mjs``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import final

from pdqs.model.money import exact_money
from pdqs.present.times import day_text
from pdqs.protocol.market_messages import Posting


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """What the market says it owes her, and the lines of its statement, newest first."""

    balance_micros: int
    lines: Sequence[Posting]


def adds_up(money: Money, owed_micros: Iterable[int] = ()) -> list[str]:
    """A sentence for each sum that is said to be owed and is not what the lines come to."""
    total = _sum(money.lines)
    others = sorted({money.balance_micros, *owed_micros} - {total})
    return [
        f"The market says that it owes you {exact_money(said)}, and the lines of its statement come to"
        f" {exact_money(total)}."
        for said in others
    ]


def repeated(lines: Sequence[Posting]) -> list[str]:
    """A sentence where lines have the name of another one: a market enters nothing twice under one name."""
    known: set[str] = set()
    again = []
    for line in lines:
        if line.transaction_id in known:
            again.append(line)
        known.add(line.transaction_id)
    if not again:
        return []
    what = "a line of its statement has" if len(again) == 1 else f"{len(again)} lines of its statement have"
    return [
        f"The market lists the same payment more than once: {what} the name of another line, the last on"
        f" {_last_day(again)} (it calls it {_kinds(again)})."
    ]


def taken(lines: Sequence[Posting]) -> list[str]:
    """Sentences on money that was taken with no round named, or in a round beyond what that round paid her. What she
    was promised for a report and did not keep is told with the report, so that no sum is told twice."""
    rounds: dict[str, list[Posting]] = defaultdict(list)
    for line in lines:
        rounds[line.round_id or ""].append(line)
    unnamed = _unnamed(rounds.pop("", []))
    beyond = [_beyond(name, own) for name, own in sorted(rounds.items()) if _sum(own) < 0]
    return [*([_in_words(_sum(unnamed), unnamed, "without naming a round")] if unnamed else []), *beyond]


def unconfirmed(lines: Sequence[Posting], received: Iterable[tuple[str, int]]) -> list[Posting]:
    """Payouts that were not undone, and that she has not said she got, newest first; she says so of each by itself."""
    return _without(_standing(lines), _as_entered, received)


def payout_in_words(line: Posting) -> str:
    """What the market says of a payout, and what only she can know."""
    paid = exact_money(-line.amount_micros)
    return f"The market says that it paid out {paid} on {day_text(line.at_ms)}: did you get it?"


def _beyond(round_id: str, own: Sequence[Posting]) -> str:
    less = [line for line in own if line.amount_micros < 0]
    return _in_words(_sum(own), less, f"in round {round_id} beyond what it paid you there")


def _unnamed(bare: Sequence[Posting]) -> list[Posting]:
    """Of lines that name no round, what is taken and is no payout, less what was given in the same way: an entry and
    its undoing. What undoes a payout is looked at with payouts."""
    given = [line for line in bare if line.amount_micros > 0 and line.kind not in ("payout", "reversal")]
    less = [line for line in bare if line.amount_micros < 0 and line.kind != "payout"]
    return _without(less, lambda line: -line.amount_micros, (line.amount_micros for line in given))


def _standing(lines: Sequence[Posting]) -> list[Posting]:
    """Payouts that were not undone: a reversal undoes the one that it names, else the last of its size before it."""
    payouts = [line for line in lines if line.kind == "payout" and line.amount_micros < 0]
    undoings = [line for line in lines if line.kind == "reversal" and line.amount_micros > 0 and line.round_id is None]
    nameless = _without(undoings, _as_entered, map(_undone_by, payouts))
    unnamed = _without(payouts, _undone_by, map(_as_entered, undoings))
    open_by_size: dict[int, list[Posting]] = defaultdict(list)
    for line in sorted([*unnamed[::-1], *nameless[::-1]], key=lambda line: (line.at_ms, line.kind == "reversal")):
        same = open_by_size[abs(line.amount_micros)]
        if line.kind == "payout":
            same.append(line)
        elif same:
            same.pop()
    left = {id(line) for same in open_by_size.values() for line in same}
    return [line for line in unnamed if id(line) in left]


def _as_entered(line: Posting) -> tuple[str, int]:
    return line.transaction_id, line.amount_micros


def _undone_by(payout: Posting) -> tuple[str, int]:
    """Name and amount of the entry that undoes a payout."""
    return f"reversal:{payout.transaction_id}", -payout.amount_micros


def _without(
    lines: Sequence[Posting], name_of: Callable[[Posting], Hashable], others: Iterable[Hashable]
) -> list[Posting]:
    """The lines whose name is not among those of others, one for one; of several of one name the oldest goes first."""
    left = Counter(others)
    kept = []
    for line in reversed(lines):
        name = name_of(line)
        if left[name]:
            left[name] -= 1
        else:
            kept.append(line)
    return kept[::-1]


def _in_words(sum_micros: int, lines: Sequence[Posting], how: str) -> str:
    """That a sum (below nought) was taken by these lines."""
    when = f"on {_last_day(lines)}" if len(lines) == 1 else f"by {len(lines)} lines, the last on {_last_day(lines)},"
    return f"The market took {exact_money(-sum_micros)} from you {when} {how} (it calls it {_kinds(lines)})."


def _sum(lines: Iterable[Posting]) -> int:
    return sum(line.amount_micros for line in lines)


def _last_day(lines: Iterable[Posting]) -> str:
    return day_text(max(line.at_ms for line in lines))


def _kinds(lines: Iterable[Posting]) -> str:
    return " and ".join(sorted({line.kind for line in lines}))
