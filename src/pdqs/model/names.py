"""The names of every choice there is, each with the words that people see.

Terms, messages, commands and pages read them from here, and a test says that each has code behind it.
A member is the text itself, so a choice may be given as a member or as a plain string, and is written as the string.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from pdqs.model.checks import shown
from pdqs.model.errors import PdqsError, TermsError


class Choice(StrEnum):
    """A name from a list that is complete, with its one line of help in ``words``."""

    words: str

    def __new__(cls, name: str, words: str = "") -> Choice:
        member = str.__new__(cls, name)
        member._value_ = name
        member.words = words
        return member


class ClearingName(Choice):
    """How bids become offers."""

    LADDER = "ladder", "leave-one-out: truthful and never over budget"
    GREEDY = "greedy", "the paper's GPQM: cheapest first, until the money is gone"
    FAIRQUERY = "fairquery", "one price for the first k (Ghosh and Roth 2011)"
    OPEN = "open", "a fixed curve, whatever it costs: how the paper runs NPQM"
    SINGLE_MINDED = "single-minded", "all or nothing, by proportional share of the budget"
    FALLAH = "fallah", "a curve fixed ahead from the prior: the budget is met on average"


class EstimatorName(Choice):
    """How reports become a figure."""

    WEIGHTED = "weighted", "each report by its q: least error when prices say nothing about answers"
    UNBIASED = "unbiased", "right whatever prices say, if everyone has a chance to be heard"
    SHRUNK = "shrunk", "the weighted one, pulled to the middle when little was bought"
    NAIVE = "naive", "the reports as they are, as the paper takes them"


class ContractName(Choice):
    """What an owner is paid for."""

    ON_REPORT = "on-report", "paid for the report, whatever the coin did"
    ON_SELECTION = "on-selection", "the paper's: paid only if the coin chose the truth"


class RuleName(Choice):
    """How the chance of truth falls with the bid."""

    OPTIMAL = "optimal", "the best precision for the money when prices say nothing about answers"
    ROBUST = "robust", "a report from everyone, for an answer that is right whatever prices say"
    LOTTERY = "lottery", "asks a few at random, at their best: right whatever prices say"
    FLAT = "flat", "the same chance of being asked for everyone, at the top price"
    LINEAR = "linear", "a straight line, 1 - b"
    EXPONENTIAL = "exponential", "exp(-c b)"
    LOGARITHMIC = "logarithmic", "a falling logarithm between q_min and q_max"
    QUADRATIC = "quadratic", "(1 - b) squared"
    STEP = "step", "one q for all who are bought"
    LAPLACE = "laplace", "the eps of Fallah et al., from the virtual price"


class QueryKind(Choice):
    """What the consumer asks for."""

    COUNT = "count", "How many say yes"
    MEDIAN = "median", "The median"
    QUANTILE = "quantile", "A quantile"
    MEAN = "mean", "The mean"
    HISTOGRAM = "histogram", "How many hold each value"


class QuestionKind(Choice):
    """What each owner is asked, for one and the same query."""

    VALUE = "value", "her value, whole"
    LEVEL = "level", "whether her value reaches a level drawn for her"
    SIDE = "side", "on which side of a value hers lies"
    BUCKET = "bucket", "in which of a few buckets drawn for her hers lies"
    AUTO = "auto", "whichever of these tells most for the money"


def listed(choices: Iterable[str]) -> str:
    """Names in a row, as a message gives them.

    >>> listed(ContractName)
    'on-report, on-selection'
    """
    return ", ".join(choices)


def help_for(choices: Iterable[Choice]) -> str:
    """Names with their words, for the help of a command.

    >>> help_for(ContractName)
    "on-report (paid for the report, whatever the coin did), on-selection (the paper's: paid only if ...)."
    """
    return ", ".join(f"{choice} ({choice.words})" for choice in choices) + "."


def chosen(what: str, value: object, choices: type[Choice], error: type[PdqsError] = TermsError) -> str:
    """The plain string of a choice that was given as a member or as a string; refused if there is no such choice.

    >>> chosen("clearing", ClearingName.OPEN, ClearingName)
    'open'
    >>> chosen("clearing", "magic", ClearingName)
    Traceback (most recent call last):
        ...
    pdqs.model.errors.TermsError: unknown clearing 'magic': choose one of ladder, greedy, fairquery, ...
    """
    if not isinstance(value, str) or value not in choices.__members__.values():
        raise error(f"unknown {what} {shown(value)}: choose one of {listed(choices)}")
    return choices(value).value
