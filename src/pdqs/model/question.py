"""What one owner is asked: her device answers this, and the query says what is made of the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

from pdqs.model.checks import shown, text
from pdqs.model.domain import Domain
from pdqs.model.errors import TermsError


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What one owner is asked: a text, and the public domain her report comes from."""

    domain: Domain
    text: str = ""

    def __post_init__(self) -> None:
        keep_plain(self, "a question")


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
