"""What can go wrong through the caller's doing, as one tree.

::

    PdqsError
    ├── InputError          a row of data: names the row (counted from 1) and the column
    ├── TermsError          what a round promises does not hold together
    │   ├── DomainError     a value domain that cannot be asked about
    │   └── RuleError       a rule that is not a family of falling curves
    ├── EstimateError       the reports cannot answer this query with this estimator
    ├── PlanError           no budget buys the precision asked for
    ├── FileError           a file that cannot be read or written as asked
    └── MissingExtraError   an optional part of pdqs is not installed

A fault of pdqs itself is an ``AssertionError``, never one of these.
"""

from __future__ import annotations


class PdqsError(Exception):
    """The root: everything a caller can mend."""


class InputError(PdqsError):
    """Bad data. The message names the row (from 1) and the column."""


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
