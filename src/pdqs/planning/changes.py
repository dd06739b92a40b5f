"""Terms to hold beside a plan's: another cap, another rule, a coarser grid."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from pdqs.model.arrays import Floats
from pdqs.model.domain import Domain
from pdqs.model.errors import PdqsError
from pdqs.model.names import EstimatorName, RuleName
from pdqs.model.query import Median, Quantile, query_of
from pdqs.planning.asking import other_questions
from pdqs.planning.guesses import coarser
from pdqs.rounds.terms import Terms

SHARP_EPSILON_MAX = 4.0
GENTLE_EPSILON_MAX = 2.0


@final
@dataclass(frozen=True, eq=False)
class Change:
    """Other terms, in words, and the share of each of their values."""

    name: str
    terms: Terms
    shares: Floats


def changed_terms(terms: Terms, shares: Floats) -> list[Change]:
    """A lower and a higher cap, the other kind of rule, other questions, and a grid of half as many values."""
    found = [*_caps(terms, shares), *_other_rule(terms, shares)]
    found += [Change(words, other, shares) for words, other in other_questions(terms)]
    domain = terms.domain
    if domain.kind == "grid" and domain.size > 2:
        twice = Domain(kind="grid", start=domain.start, step=2 * domain.step, size=(domain.size + 1) // 2)
        p = terms.query.p if isinstance(terms.query, Median | Quantile) else 0.5
        query = query_of(terms.query.kind, domain=twice, p=p, text=terms.asking.text)
        other = dataclasses.replace(terms, query=query)
        found.append(Change(f"a coarser grid, by {twice.step:g}", other, coarser(shares)))
    return found


def _caps(terms: Terms, shares: Floats) -> Iterator[Change]:
    for name, cap in (("lower", terms.epsilon_max / 2.0), ("higher", terms.epsilon_max * 2.0)):
        with contextlib.suppress(PdqsError):  # a cap too low to buy anything, or too high to hide anything
            yield Change(f"{name} epsilon_max, {cap:g}", dataclasses.replace(terms, epsilon_max=cap), shares)


def _other_rule(terms: Terms, shares: Floats) -> Iterator[Change]:
    optimal = terms.rule == RuleName.OPTIMAL
    with contextlib.suppress(PdqsError):  # a way of clearing that the other rule cannot do with
        if optimal:
            cap = min(terms.epsilon_max, GENTLE_EPSILON_MAX)
            other = dataclasses.replace(terms, rule=RuleName.LOTTERY, estimator=EstimatorName.UNBIASED, epsilon_max=cap)
            yield Change(f"rule lottery, epsilon_max {cap:g} (right whatever prices say)", other, shares)
        else:
            cap = max(terms.epsilon_max, SHARP_EPSILON_MAX)
            other = dataclasses.replace(terms, rule=RuleName.OPTIMAL, estimator=EstimatorName.WEIGHTED, epsilon_max=cap)
            yield Change(f"rule optimal, epsilon_max {cap:g} (right only if prices say nothing)", other, shares)
