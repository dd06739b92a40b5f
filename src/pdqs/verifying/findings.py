"""What each check of a record found, in words: held, does not agree (what, and for whom), or not checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, final

from pdqs.model.money import exact_money
from pdqs.privacy.loss import Q_UNITS
from pdqs.verifying.record import RecordLine

Verdict = Literal["held", "does not agree", "not checked"]

_MOST_NAMED = 3


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check. ``owners`` are the pseudonyms for whom it does not agree, where it is about single owners."""

    name: str
    verdict: Verdict
    told: str
    owners: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """For people, on one line."""
        return f"{self.verdict}: {self.told}"


def judged(name: str, held: bool, good: str, bad: str) -> Finding:
    """A check of one thing."""
    return Finding(name=name, verdict="held" if held else "does not agree", told=good if held else bad)


def skipped(name: str, why: str) -> Finding:
    """A check that could not be made: another did not hold, or the record leaves out what it needs."""
    return Finding(name=name, verdict="not checked", told=why)


def _money(figure: int | None) -> str:
    return "none" if figure is None else exact_money(figure)


def _chance(figure: int | None) -> str:
    return "none" if figure is None else f"{figure / Q_UNITS:.10f}"


_COLUMNS: dict[str, tuple[str, Callable[[RecordLine], int | None], Callable[[int | None], str]]] = {
    "chance": ("chance of being asked", lambda line: line.chance_numerator, _chance),
    "q": ("chance of truth", lambda line: line.q_numerator, _chance),
    "posted": ("price posted", lambda line: line.posted_micros, _money),
    "payment": ("payment offered", lambda line: line.payment_micros, _money),
    "paid": ("payment", lambda line: line.paid_micros, _money),
    "stage": ("stage", lambda line: line.stage, str),
    "side": ("side asked about", lambda line: line.side, lambda code: "none" if code is None else f"number {code}"),
}
"""The figures of a row that are made again: what they are called, where they stand, and how people read them."""


def compared(
    name: str, columns: Sequence[str], recorded: Sequence[RecordLine], made: Sequence[RecordLine], good: str
) -> Finding:
    """Hold some columns of a record against those made again, owner by owner."""
    wrong: dict[str, str] = {}
    for says, again in zip(recorded, made, strict=True):
        for what, figure_of, shown in (_COLUMNS[column] for column in columns):
            ours, theirs = figure_of(again), figure_of(says)
            if ours != theirs:
                wrong.setdefault(says.pseudonym, f"{what} {shown(theirs)} in the record, {shown(ours)} made again")
    if not wrong:
        return Finding(name=name, verdict="held", told=good)
    return blamed(name, wrong)


def blamed(name: str, wrong: dict[str, str]) -> Finding:
    """A check that does not agree for these owners, with what is wrong for each."""
    told = [f"for {owner[:12]}... {what}" for owner, what in list(wrong.items())[:_MOST_NAMED]]
    more = len(wrong) - len(told)
    said = "; ".join([*told, *([f"and for {more:,} more"] if more else [])])
    return Finding(name=name, verdict="does not agree", told=said, owners=tuple(wrong))


def wrong_in(lines: Sequence[RecordLine], fault: Callable[[RecordLine], str]) -> dict[str, str]:
    """What is wrong with whose row; ``fault`` says it of one, and nothing where nothing is."""
    found = {line.pseudonym: fault(line) for line in lines}
    return {owner: told for owner, told in found.items() if told}
