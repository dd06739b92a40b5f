"""What can go wrong through the caller's doing, as one tree.

::

    PdqsError
    ├── InputError          data that cannot be used: names the column
    │   └── RowError        ... and the row, counted from 1
    ├── TermsError          what a round promises does not hold together
    │   ├── DomainError     a value domain that cannot be asked about
    │   └── RuleError       a rule that is not a family of falling curves
    ├── EstimateError       the reports cannot answer this query with this estimator
    ├── PlanError           no budget buys the precision asked for
    ├── FileError           a file that cannot be read or written as asked
    └── MissingExtraError   an optional part of pdqs is not installed

A fault of pdqs itself is an ``AssertionError``, never one of these. Where it would break a promise about money or
privacy it is an ``InvariantError``, which is raised under ``python -O`` too.
"""

from __future__ import annotations


class PdqsError(Exception):
    """The root: everything a caller can mend."""


class InputError(PdqsError):
    """Bad data. The message names the row (from 1) and the column."""


class RowError(InputError):
    """One bad row of a column. A batch of a longer column counts its rows from 1; ``moved`` puts that right.

    >>> str(RowError(2, "bid", "nan is not a finite number").moved(1000))
    "row 1002, column 'bid': nan is not a finite number"
    """

    def __init__(self, row: int, column: str, fault: str) -> None:
        super().__init__(row, column, fault)
        self.row, self.column, self.fault = row, column, fault

    def __str__(self) -> str:
        return f"row {self.row}, column {self.column!r}: {self.fault}"

    def moved(self, rows: int) -> RowError:
        """The same fault with ``rows`` rows before the batch."""
        return RowError(self.row + rows, self.column, self.fault)


class TermsError(PdqsError):
    """The terms of a round contradict themselves or ask for what cannot be had."""


class DomainError(TermsError):
    """A public domain that is empty, has one value, or repeats one."""


class RuleError(TermsError):
    """A rule that rises with the bid, falls with the scale, or leaves [0, 1]."""


class EstimateError(PdqsError):
    """The reports at hand cannot be turned into the answer asked for."""


class PlanError(PdqsError):
    """No budget reaches the precision asked for under these terms."""


class FileError(PdqsError):
    """A file could not be read or written as asked."""


class MissingExtraError(PdqsError):
    """An optional part of pdqs is not installed; the message says which to install."""


class InvariantError(AssertionError):
    """A promise about money or privacy was about to be broken by pdqs itself; nothing was done.

    Its message may be shown to an operator, so it never quotes a bid, a value or a report.
    """


def ensure(kept: bool, broken: str) -> None:
    """Raise when an invariant of money or privacy does not hold. Unlike ``assert`` this is never compiled away.

    >>> ensure(2 + 2 == 5, "the sum is off")
    Traceback (most recent call last):
    ...
    pdqs.model.errors.InvariantError: the sum is off
    """
    if not kept:
        raise InvariantError(broken)
