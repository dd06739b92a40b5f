"""Queries: what the consumer asks, and the question each owner answers for it.

The two are kept apart: an owner is asked a *question* (a value of a domain, or the bit of a predicate), and the query
says what is made of the answers. A staged protocol can ask other questions for the same query later.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Protocol, final, runtime_checkable

from pdqs.model.checks import number, text
from pdqs.model.domain import Domain
from pdqs.model.errors import TermsError
from pdqs.model.names import QueryKind, chosen
from pdqs.model.question import Question, keep_plain


@runtime_checkable
class Query(Protocol):
    """What the consumer wants to know."""

    kind: ClassVar[str]

    @property
    def question(self) -> Question: ...


@final
@dataclass(frozen=True, slots=True)
class Count:
    """How many owners answer 1 to a predicate. The owner randomises the *answer*, never the raw value.

    >>> Count("Have you been ill?").question.domain.size
    2
    """

    text: str = ""
    kind: ClassVar[str] = QueryKind.COUNT.value

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", text(self.text, "the text of a count"))

    @property
    def question(self) -> Question:
        return Question(domain=Domain.binary(), text=self.text)


@final
@dataclass(frozen=True, slots=True)
class Quantile:
    """The smallest value of an ordered domain that at least a share p of owners do not exceed."""

    domain: Domain
    p: float
    text: str = ""
    kind: ClassVar[str] = QueryKind.QUANTILE.value

    def __post_init__(self) -> None:
        keep_plain(self, "a quantile")
        _refuse_unordered(self.domain, "a quantile")
        object.__setattr__(self, "p", number(self.p, "the p of a quantile (0 < p < 1)"))
        if not 0 < self.p < 1:
            raise TermsError(f"a quantile needs 0 < p < 1, got {self.p}")

    @property
    def question(self) -> Question:
        return Question(domain=self.domain, text=self.text)


@final
@dataclass(frozen=True, slots=True)
class Median:
    """The quantile at one half."""

    domain: Domain
    text: str = ""
    kind: ClassVar[str] = QueryKind.MEDIAN.value
    p: ClassVar[float] = 0.5

    def __post_init__(self) -> None:
        keep_plain(self, "a median")
        _refuse_unordered(self.domain, "a median")

    @property
    def question(self) -> Question:
        return Question(domain=self.domain, text=self.text)


@final
@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of the owners' values, on a domain of numbers."""

    domain: Domain
    text: str = ""
    kind: ClassVar[str] = QueryKind.MEAN.value

    def __post_init__(self) -> None:
        keep_plain(self, "a mean")
        _refuse_unordered(self.domain, "a mean")

    @property
    def question(self) -> Question:
        return Question(domain=self.domain, text=self.text)


@final
@dataclass(frozen=True, slots=True)
class Histogram:
    """How many owners hold each value of the domain."""

    domain: Domain
    text: str = ""
    kind: ClassVar[str] = QueryKind.HISTOGRAM.value

    def __post_init__(self) -> None:
        keep_plain(self, "a histogram")

    @property
    def question(self) -> Question:
        return Question(domain=self.domain, text=self.text)


KINDS = (Count, Median, Quantile, Mean, Histogram)
"""Every query there is: an estimate is known for these and no others."""

AnyKind = type[Count] | type[Median] | type[Quantile] | type[Mean] | type[Histogram]
BY_KIND: Mapping[str, AnyKind] = MappingProxyType({query.kind: query for query in KINDS})


def query_of(kind: str, *, domain: Domain, p: float = 0.5, text: str = "") -> Query:
    """The query of that kind; what its kind has no use for (a count's domain, a mean's p) is left aside.

    >>> query_of("quantile", domain=Domain.grid(0, 9, 1), p=0.9).p
    0.9
    """
    maker = BY_KIND[chosen("query", kind, QueryKind)]
    given: dict[str, object] = {"domain": domain, "p": p, "text": text}
    made: Query = maker(**{field.name: given[field.name] for field in dataclasses.fields(maker)})  # type: ignore[arg-type]  # checked where it is made
    return made


def _refuse_unordered(domain: Domain, what: str) -> None:
    if not domain.ordered:
        raise TermsError(f"{what} needs an ordered domain of numbers; categories have no order (use Histogram)")
