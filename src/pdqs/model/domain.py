"""Public value domains: what an owner may report.

A domain is finite and known to everyone before any bid. Inside the system a value is its code 0..k-1; outside it is
what the domain holds (a category's label, a number of the grid).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import final

import numpy as np

from pdqs.model import columns
from pdqs.model.arrays import Column, Floats, Integers, Values, cells
from pdqs.model.checks import number, shown, text, whole
from pdqs.model.errors import DomainError, RowError
from pdqs.model.figures import in_full

LARGEST_DOMAIN = 2**31
KINDS = ("binary", "categories", "grid")

_TRUTHS = {**dict.fromkeys(("yes", "y", "true", "t"), 1.0), **dict.fromkeys(("no", "n", "false", "f"), 0.0)}


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Domain:
    """A finite public domain. Make one with :meth:`binary`, :meth:`categories` or :meth:`grid`.

    >>> Domain.binary().size, Domain.grid(14, 61, 1).size, Domain.categories(["a", "b", "c"]).size
    (2, 48, 3)
    """

    kind: str
    labels: tuple[Hashable, ...] = ()
    start: float = 0.0
    step: float = 1.0
    size: int = 2

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise DomainError(f"a domain is one of {', '.join(KINDS)}, got {shown(self.kind)}")
        plain = {
            "labels": _plain_labels(self.labels),
            "start": number(self.start, "the start of a grid", DomainError),
            "step": number(self.step, "the step of a grid", DomainError),
            "size": whole(self.size, "the size of a domain", DomainError),
        }
        for name, value in plain.items():
            object.__setattr__(self, name, value)
        self._refuse_contradictions()

    def _refuse_contradictions(self) -> None:
        if self.size < 2:
            raise DomainError(f"a domain needs at least 2 values, got {max(self.size, 0)}")
        if self.size > LARGEST_DOMAIN:
            raise DomainError(f"a domain of {self.size:.3g} values is too large: at most {LARGEST_DOMAIN:,}")
        if self.step <= 0:
            raise DomainError(f"a grid needs a step above 0, got {self.step}")
        if len(self.labels) != (self.size if self.kind == "categories" else 0):
            raise DomainError(f"a domain of {self.size} {self.kind} values cannot have {len(self.labels)} labels")
        if self.kind != "grid" and (self.start, self.step) != (0.0, 1.0):
            raise DomainError(f"only a grid has a start and a step, not {self.kind} values")
        if self.kind == "binary" and self.size != 2:
            raise DomainError(f"a binary domain has 2 values, got {self.size}")

    @staticmethod
    def binary() -> Domain:
        """The answers 0 and 1 to a predicate; True and False are taken too, and yes, y, true, t, no, n, false, f."""
        return Domain(kind="binary")

    @staticmethod
    def categories(labels: Sequence[Hashable]) -> Domain:
        """Labels (texts or numbers) without an order of their own, at least two and all different.

        >>> Domain.categories("abc")
        Traceback (most recent call last):
            ...
        pdqs.model.errors.DomainError: categories need a list of labels, got 'abc'
        """
        given = _plain_labels(labels)
        if len(given) < 2:
            raise DomainError(f"a domain needs at least 2 categories, got {len(given)}")
        return Domain(kind="categories", labels=given, size=len(given))

    @staticmethod
    def grid(start: float, stop: float, step: float) -> Domain:
        """The numbers start, start + step, ..., stop (stop included)."""
        start, stop, step = (
            number(x, f"the {name} of a grid", DomainError)
            for x, name in ((start, "start"), (stop, "stop"), (step, "step"))
        )
        if step <= 0:
            raise DomainError(f"a grid needs a step above 0, got {step}")
        if stop < start:
            raise DomainError(f"a grid needs a stop above its start, got {start:g} to {stop:g}")
        steps = (stop - start) / step
        if steps > LARGEST_DOMAIN:
            raise DomainError(f"a grid of {steps:.3g} values is too large: at most {LARGEST_DOMAIN:,}")
        if abs(steps - round(steps)) > 1e-6:
            raise DomainError(f"stop={stop} is not a whole number of steps of {step} after start={start}")
        return Domain(kind="grid", start=start, step=step, size=round(steps) + 1)

    @property
    def ordered(self) -> bool:
        """Whether "at most" means something: grids and binary answers, not categories."""
        return self.kind != "categories"

    @property
    def numbers(self) -> Floats:
        """The values as numbers, for means and quantiles."""
        if not self.ordered:
            raise DomainError("categories have no order and no mean: use Histogram, or a grid of numbers")
        return self.start + self.step * np.arange(self.size, dtype=np.float64)

    @property
    def span(self) -> float:
        """How far the last value of a domain of numbers is from the first.

        >>> Domain.grid(14, 61, 1).span
        47.0
        """
        return self.step * (self.size - 1)

    def encode(self, values: Column, *, column: str = "value") -> Integers:
        """Codes 0..k-1 of a column of values; refuses what is not in the domain, naming the row.

        >>> Domain.grid(10, 30, 10).encode([30, 10]).tolist(), Domain.binary().encode(["Yes", "n"]).tolist()
        ([2, 0], [1, 0])
        """
        columns.refuse_disorder(values, column=column)
        if self.kind == "categories":
            return self._encode_labels(values, column)
        if isinstance(values, np.ndarray) and values.dtype.kind in "bui" and self.step == 1 and self.start % 1 == 0:
            whole = values.astype(np.int64) - int(self.start)
            if not whole.size or (whole.min() >= 0 and whole.max() < self.size):
                return whole
        numbers = self._numbers(values, column)
        position = (numbers - self.start) / self.step
        codes = np.rint(position)
        with np.errstate(invalid="ignore"):  # an infinity less itself: not good, and not a warning
            good = (np.abs(position - codes) <= 1e-6) & (codes >= 0) & (codes < self.size)
        if not good.all():
            row = int(np.argmin(good))
            raise RowError(row + 1, column, f"{numbers[row]:.12g} is not in the domain ({self})")
        return codes.astype(np.int64)

    def _numbers(self, values: Column, column: str) -> Floats:
        """A column as numbers; for a binary domain words are too."""
        try:
            return columns.numbers(values, column=column)
        except RowError:
            if self.kind != "binary":
                raise
        held = [_TRUTHS.get(cell.strip().lower(), cell) if isinstance(cell, str) else cell for cell in cells(values)]
        try:
            return columns.numbers(held, column=column)
        except RowError as fault:
            said = f"{shown(held[fault.row - 1])} is no answer to a yes-or-no question: write 1 or 0, or yes or no"
            raise RowError(fault.row, column, said) from None

    def decode(self, codes: Integers) -> Values:
        """The values that the codes stand for.

        >>> Domain.categories(["no", "yes"]).decode(np.array([1, 0])).tolist()
        ['yes', 'no']
        """
        if self.kind == "categories":
            labels = np.empty(self.size, dtype=object)
            labels[:] = self.labels
            return labels[codes]
        numbers = self.start + self.step * np.asarray(codes, dtype=np.float64)
        whole = float(self.start).is_integer() and float(self.step).is_integer()
        return numbers.astype(np.int64) if whole else numbers

    def _encode_labels(self, values: Column, column: str) -> Integers:
        code_of = {label: code for code, label in enumerate(self.labels)}
        column_values = cells(values)
        codes = np.empty(len(column_values), dtype=np.int64)
        for row, value in enumerate(column_values):
            try:
                codes[row] = code_of[value]
            except (KeyError, TypeError):
                raise RowError(row + 1, column, f"{value!r} is not in the domain ({self})") from None
        return codes

    def __repr__(self) -> str:
        """As it was made; of many categories, the first.

        >>> Domain.grid(14, 61, 1), Domain.categories(["a", "b"]), Domain.binary()
        (Domain.grid(14, 61, 1), Domain.categories(['a', 'b']), Domain.binary())
        """
        if self.kind == "grid":
            ends = self.start, self.start + self.step * (self.size - 1), self.step
            return f"Domain.grid({', '.join(map(in_full, ends))})"
        return "Domain.binary()" if self.kind == "binary" else f"Domain.categories([{self}])"

    def _repr_html_(self) -> str:
        """For a notebook."""
        return f"<div><strong>{self.size:,} values</strong> {escape(str(self))}</div>"

    def __str__(self) -> str:
        """In few words: of many categories, the first.

        >>> print(Domain.grid(1999999.5, 2000000.5, 0.5))
        1999999.5 to 2000000.5 by 0.5
        """
        if self.kind == "binary":
            return "0 or 1"
        if self.kind == "categories":
            shown = ", ".join(repr(label) for label in self.labels[:5])
            return shown + (f", ... {self.size} in all" if self.size > 5 else "")
        stop = self.start + self.step * (self.size - 1)
        return f"{in_full(self.start)} to {in_full(stop)} by {in_full(self.step)}"


def _plain_labels(labels: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Labels as plain texts and numbers; those that are equal (1, 1.0 and True) become one and the same."""
    if isinstance(labels, str | bytes | set | frozenset) or not isinstance(labels, Iterable):
        raise DomainError(f"categories need a list of labels, got {shown(labels)}")
    plain: dict[Hashable, int] = {}
    for position, given in enumerate(labels, start=1):
        label = _plain_label(given, position)
        if label in plain:
            raise DomainError(f"category {position} repeats {label!r}")
        plain[label] = position
    return tuple(plain)


def _plain_label(label: Hashable, position: int) -> Hashable:
    if isinstance(label, str):
        return text(label, f"category {position}", DomainError)
    if isinstance(label, bool | int | np.bool_ | np.integer):
        return int(label)
    if not isinstance(label, float | np.floating):
        raise DomainError(f"category {position} must be a text or a number, got {shown(label)}")
    plain = number(label, f"category {position}", DomainError)
    return int(plain) if plain.is_integer() else plain
