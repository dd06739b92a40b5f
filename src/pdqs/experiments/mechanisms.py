"""The mechanisms that are compared: the paper's five, and the sound forms at the same budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from pdqs.model.errors import InputError
from pdqs.model.names import ContractName
from pdqs.model.query import Query
from pdqs.pricing.rules import Rule
from pdqs.rounds import presets
from pdqs.rounds.terms import Terms

COEFFICIENTS = (0.0, 10.0)
"""The paper draws the coefficient c of exp and log uniform on this range, anew for every query."""


SINGLE_MINDED_EPSILON = 2.0
"""What every owner of the single-minded baseline sells, or nothing."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Offerings:
    """What a mechanism may need to write its terms: the query, the budget, a drawn c, a learned rule."""

    query: Query
    budget: float
    c: float
    rule: Rule | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """A way of running a round. ``ours`` tells the sound forms from the paper's; ``learned`` names a training."""

    name: str
    label: str
    terms: Callable[[Offerings], Terms]
    ours: bool = False
    draws_c: bool = False
    learned: str = ""
    milliseconds: float = 4.0
    """About what a query costs: only the time left is reckoned from it."""


def _linear(at: Offerings) -> Terms:
    return presets.gpqm_linear(query=at.query, budget=at.budget)


def _exponential(at: Offerings) -> Terms:
    return presets.gpqm_exponential(query=at.query, budget=at.budget, c=at.c)


def _logarithmic(at: Offerings) -> Terms:
    return presets.gpqm_logarithmic(query=at.query, budget=at.budget, c=at.c, released=True)


def _logarithmic_as_printed(at: Offerings) -> Terms:
    return presets.gpqm_logarithmic(query=at.query, budget=at.budget, c=at.c)


def _fairquery(at: Offerings) -> Terms:
    return presets.fairquery(query=at.query, budget=at.budget)


def _npqm(at: Offerings) -> Terms:
    assert at.rule is not None, "a learned mechanism comes with its rule"
    return presets.npqm(query=at.query, budget=at.budget, rule=at.rule)


def _sound(at: Offerings) -> Terms:
    return presets.sound(query=at.query, budget=at.budget)


def _sound_on_selection(at: Offerings) -> Terms:
    return presets.sound(query=at.query, budget=at.budget, contract=ContractName.ON_SELECTION)


def _single_minded(at: Offerings) -> Terms:
    return presets.single_minded(query=at.query, budget=at.budget, epsilon=SINGLE_MINDED_EPSILON)


def _fallah_local(at: Offerings) -> Terms:
    return presets.fallah_local(query=at.query, budget=at.budget)


def _honest(at: Offerings) -> Terms:
    return presets.honest(query=at.query, budget=at.budget)


def _robust(at: Offerings) -> Terms:
    return presets.robust(query=at.query, budget=at.budget)


MECHANISMS = {
    mechanism.name: mechanism
    for mechanism in (
        Mechanism(name="npqm", label="NPQM (text)", terms=_npqm, learned="printed"),
        Mechanism(name="npqm-released", label="NPQM (released)", terms=_npqm, learned="released"),
        Mechanism(name="npqm-mended", label="NPQM (mended)", terms=_npqm, learned="mended"),
        Mechanism(name="gpqm-linear", label="GPQM linear", terms=_linear),
        Mechanism(name="gpqm-exp", label="GPQM exp", terms=_exponential, draws_c=True),
        Mechanism(name="gpqm-log", label="GPQM log", terms=_logarithmic, draws_c=True),
        Mechanism(name="gpqm-log-text", label="GPQM log (no clip)", terms=_logarithmic_as_printed, draws_c=True),
        Mechanism(name="fairquery", label="FairQuery", terms=_fairquery, milliseconds=2.0),
        Mechanism(name="single-minded", label="Single-minded (Zhang)", terms=_single_minded, milliseconds=2.0),
        Mechanism(name="fallah-local", label="Fallah, local", terms=_fallah_local),
        Mechanism(
            name="sound-selection",
            label="Sound, paper's contract",
            terms=_sound_on_selection,
            ours=True,
            milliseconds=40.0,
        ),
        Mechanism(name="sound", label="Sound, honest contract", terms=_sound, ours=True, milliseconds=40.0),
        Mechanism(name="honest", label="Honest lottery", terms=_honest, ours=True, milliseconds=40.0),
        Mechanism(name="robust", label="Robust, unbiased", terms=_robust, ours=True, milliseconds=40.0),
    )
}


def mechanism_named(name: str) -> Mechanism:
    """The mechanism of that name.

    >>> mechanism_named("gpqm-linear").label
    'GPQM linear'
    """
    try:
        return MECHANISMS[name]
    except KeyError:
        raise InputError(f"unknown mechanism {name!r}: choose one of {', '.join(MECHANISMS)}") from None
