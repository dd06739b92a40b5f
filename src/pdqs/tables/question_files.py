"""The columns of an offers file that say which owner is asked what: her word, her stage, and her side.

``deal`` is the public word that deals her part of the question, ``stage`` her stage, and ``at_most`` the value that she
is asked about ("is it at most this?"), empty before her stage has come. Whole values and levels need none of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from pdqs.model.arrays import Floats, Integers
from pdqs.model.domain import Domain
from pdqs.model.errors import InputError, RowError
from pdqs.model.names import QuestionKind
from pdqs.privacy.loss import Q_UNITS
from pdqs.rounds.offers import Offers

COLUMNS: Mapping[str, tuple[str, ...]] = {
    QuestionKind.VALUE: (),
    QuestionKind.LEVEL: (),
    QuestionKind.SIDE: ("deal", "stage", "at_most"),
    QuestionKind.BUCKET: ("deal",),
}
"""The columns that each question needs."""


def question_columns(offers: Offers) -> dict[str, Sequence[object]]:
    """The columns of these offers' question."""
    held: dict[str, Sequence[object]] = {
        "deal": offers.deal.tolist(),
        "stage": offers.stage.tolist(),
        "at_most": at_most(offers),
    }
    return {name: held[name] for name in COLUMNS[offers.question.kind]}


def at_most(offers: Offers) -> list[object]:
    """The value that each owner is asked about; None where none is yet."""
    if not offers.domain.ordered:
        return [None] * len(offers)
    values = offers.domain.decode(np.maximum(offers.side, 0)).tolist()
    return [value if code >= 0 else None for value, code in zip(values, offers.side.tolist(), strict=True)]


def with_question(offers: Offers, columns: Mapping[str, Floats], sides: Sequence[object] | None) -> Offers:
    """The offers with what each owner is asked; ``columns`` are the numbers, ``sides`` the cells of ``at_most``."""
    kind = offers.question.kind
    if missing := [name for name in COLUMNS[kind] if name not in columns and not (name == "at_most" and sides)]:
        raise InputError(
            f"no column '{missing[0]}', which the offers of a {kind} question have: name the question that made"
            " these with --question"
        )
    if not COLUMNS[kind]:
        return offers
    deal = _whole(columns["deal"], "deal", 0, Q_UNITS - 1).astype(np.uint32)
    if kind != QuestionKind.SIDE:
        return dataclasses.replace(offers, deal=deal)
    stage = _whole(columns["stage"], "stage", 1, offers.question.stages)
    return dataclasses.replace(offers, deal=deal, stage=stage, side=_codes(sides or [], offers.domain))


def _whole(cells: Floats, name: str, least: int, most: int) -> Integers:
    good = (cells >= least) & (cells <= most) & (cells == np.floor(cells))
    if not good.all():
        row = int(np.argmin(good))
        raise RowError(row + 1, name, f"{cells[row]:.10g} is not a whole number from {least} to {most}")
    return cells.astype(np.int64)


def _codes(cells: Sequence[object], domain: Domain) -> Integers:
    first = domain.start
    known = np.array([cell is not None for cell in cells], dtype=bool)
    codes = domain.encode([first if cell is None else cell for cell in cells], column="at_most")
    if bool((last := known & (codes == domain.size - 1)).any()):
        raise RowError(int(np.argmax(last)) + 1, "at_most", "everyone is at most the last value: there is no such side")
    return np.where(known, codes, -1)
