"""What owners are asked in a round: their devices answer this, and the query says what is made of the answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, final

from pdqs.model.checks import number, shown, text, whole
from pdqs.model.domain import Domain
from pdqs.model.errors import PdqsError, TermsError
from pdqs.model.names import QuestionKind, chosen

MOST_STAGES = 8


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What each owner of a round is asked: a text, the public domain of her value, and how much of it she tells.

    ``kind`` is `value`, `level`, `side` or `bucket` (:mod:`pdqs.model.questions` has the four as one device meets
    them); ``codes`` is kappa, the number of answers that a report is one of, left out for those of the kind itself (all
    values, two sides). Sides are asked in ``stages``, each about what the ones before leave open; in one stage they may
    be asked about a ``guess``, from one value to another. ``reason`` says why a question was chosen, if it was.

    >>> Question(domain=Domain.grid(14, 61, 1)).kappa, Question(domain=Domain.grid(14, 61, 1), kind="side").kappa
    (48, 2)
    """

    domain: Domain
    text: str = ""
    kind: str = QuestionKind.VALUE.value
    codes: int = 0
    stages: int = 1
    guess: tuple[float, float] | None = None
    reason: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        keep_plain(self, "a question")
        kind = chosen("question", self.kind, QuestionKind)
        if kind == QuestionKind.AUTO:
            raise TermsError("a question that is asked is value, level, side or bucket: 'auto' is for terms to choose")
        if kind in (QuestionKind.LEVEL, QuestionKind.SIDE) and not self.domain.ordered:
            raise TermsError(f"a {kind} question needs an ordered domain of numbers; categories have no order")
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "codes", _codes(kind, self.codes, self.domain.size))
        object.__setattr__(self, "stages", _stages(kind, self.stages))
        if self.guess is not None:
            object.__setattr__(self, "guess", self._plain_guess(self.guess))

    def _plain_guess(self, guess: tuple[float, float]) -> tuple[float, float]:
        if self.kind != QuestionKind.SIDE or self.stages != 1:
            raise TermsError("a guess is for a side question in one stage")
        try:
            low, high = (number(end, "an end of the guess") for end in guess)
            first, last = self.domain.encode([low, high], column="guess").tolist()
        except (TypeError, ValueError, PdqsError):
            raise TermsError(
                f"a guess is two values of the domain ({self.domain}), low and high, got {shown(guess)}"
            ) from None
        if first > last:
            raise TermsError(f"a guess goes from a low value to a high one, got {shown(guess)}")
        return low, high

    @property
    def kappa(self) -> int:
        """The number of answers, 0..kappa-1, that a report is one of: what eps is reckoned with."""
        return self.codes

    @property
    def answers(self) -> Domain:
        """What a report can be: a value, the number of a level, 1 for "at most" or 0, the number of a bucket."""
        match self.kind:
            case QuestionKind.LEVEL:
                gap = self.domain.step * (self.domain.size - 1) / (self.codes - 1)
                return Domain(kind="grid", start=self.domain.start, step=gap, size=self.codes)
            case QuestionKind.SIDE:
                return Domain.binary()
            case QuestionKind.BUCKET:
                return Domain(kind="grid", size=self.codes)
            case _:
                return self.domain

    @property
    def whole(self) -> bool:
        """Whether the value itself is asked for."""
        return self.kind == QuestionKind.VALUE

    def __str__(self) -> str:
        """In few words.

        >>> print(Question(domain=Domain.grid(0, 9, 1), kind="level", codes=3))
        level, one of 3 (0 to 9 by 4.5)
        """
        match self.kind:
            case QuestionKind.LEVEL:
                return f"level, one of {self.codes} ({self.answers})"
            case QuestionKind.SIDE:
                about = "" if self.guess is None else f", most about {self.guess[0]:g} to {self.guess[1]:g}"
                return f"side, at most a value or above it, in {self.stages} stage{'s' * (self.stages > 1)}{about}"
            case QuestionKind.BUCKET:
                return f"bucket, one of {self.codes} mixed for each owner"
            case _:
                return f"value, one of {self.codes:,}"


def _codes(kind: str, codes: int, size: int) -> int:
    """kappa: given for levels and buckets, else what the kind has."""
    plain = whole(codes, f"the number of answers to a {kind} question")
    if kind in (QuestionKind.LEVEL, QuestionKind.BUCKET):
        if not 2 <= plain <= size:
            raise TermsError(f"a {kind} question needs from 2 to {size:,} {kind}s here, got {plain:,}")
        return plain
    own = 2 if kind == QuestionKind.SIDE else size
    if plain not in (0, own):
        raise TermsError(f"a {kind} question has {own:,} answers here and takes no other number, got {plain:,}")
    return own


def _stages(kind: str, stages: int) -> int:
    plain = whole(stages, "stages")
    most = MOST_STAGES if kind == QuestionKind.SIDE else 1
    if not 1 <= plain <= most:
        why = f"from 1 to {most}" if most > 1 else f"1: only sides are asked in stages, not {kind}s"
        raise TermsError(f"the stages of a {kind} question must be {why}, got {plain:,}")
    return plain


class Asked(Protocol):
    """What has a domain and a text: a question, or a query about one."""

    @property
    def domain(self) -> Domain: ...

    @property
    def text(self) -> str: ...


def keep_plain(asked: Asked, what: str) -> None:
    """A domain that is one, and a text that is plain."""
    if not isinstance(asked.domain, Domain):
        raise TermsError(
            f"{what} needs a domain, such as Domain.grid(0, 9, 1), as its first argument, got {shown(asked.domain)}"
        )
    object.__setattr__(asked, "text", text(asked.text, f"the text of {what}"))
