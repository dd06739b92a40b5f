"""What is no column of owners, and what belongs to no owner, gets one sentence."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.model import priors
from pdqs.model.errors import PdqsError
from pdqs.rounds.reports import received

untyped: Any = pdqs
BINARY = pdqs.Domain.binary()
TERMS = pdqs.Terms(query=pdqs.Count(), budget=2.0)
SOUND = pdqs.presets.sound(query=pdqs.Count(), budget=2.0)
BIDS = [0.1, 0.2, 0.3]
MASKED: Any = np.ma.masked_array([0.1, 0.2, 0.3], mask=[False, True, False])
HIDDEN: Any = np.ma.masked_array([1, 2, 3], mask=[False, True, False])
OFFERS = pdqs.clear(BIDS, SOUND)
DISORDER = "has no order, so nobody knows whose each value is: pass a list"


def generator() -> np.random.Generator:
    return np.random.default_rng(1)


def any_of(kind: Any) -> Any:
    """The kind as a caller without a type checker sees it."""
    return kind


CALLS = {
    "reports None": (lambda: any_of(received)(None, BINARY), "column 'value': expected a column, got None"),
    "reports a number": (lambda: any_of(received)(5, BINARY), "column 'value': expected a column, got 5"),
    "reports a set": (lambda: any_of(received)({0, 1}, BINARY), f"column 'value': a set {DISORDER}"),
    "bids a set": (lambda: untyped.clear({0.1, 0.2}, TERMS), f"column 'bid': a set {DISORDER}"),
    "bids a frozenset": (lambda: untyped.clear(frozenset(BIDS), SOUND), f"column 'bid': a frozenset {DISORDER}"),
    "bids a dict": (lambda: untyped.clear({0.1: 1, 0.2: 2}, TERMS), f"column 'bid': a dict {DISORDER}"),
    "bids masked": (lambda: untyped.clear(MASKED, TERMS), "row 2, column 'bid': the value is masked"),
    "values a set": (lambda: untyped.randomise({0, 1}, OFFERS, generator()), f"column 'value': a set {DISORDER}"),
    "values masked": (
        lambda: untyped.randomise(HIDDEN, OFFERS, generator()),
        "row 2, column 'value': the value is masked",
    ),
    "owners a set": (lambda: untyped.clear(BIDS, TERMS, owners={1, 2, 3}), f"column 'owner': a set {DISORDER}"),
    "owners masked": (lambda: untyped.clear(BIDS, TERMS, owners=HIDDEN), "row 2, column 'owner': the value is masked"),
    "owners twice": (
        lambda: pdqs.clear(BIDS, TERMS, owners=["a", "b", "a"]),
        "row 3, column 'owner': 'a' is the id of row 1 too",
    ),
    "owners twice, with a generator": (
        lambda: pdqs.clear(BIDS, SOUND, owners=[7, 7, 8], draws=generator()),
        "row 2, column 'owner': '7' is the id of row 1 too",
    ),
    "too few owners, with words": (
        lambda: pdqs.clear(BIDS, TERMS, owners=["a", "b"], draws=[1, 2, 3]),
        "column 'owner': 2 ids for 3 bids",
    ),
    "too few owners, no draws needed": (
        lambda: pdqs.clear(BIDS, pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=2.0), owners=["a", "b"]),
        "column 'owner': 2 ids for 3 bids",
    ),
    "draws masked": (lambda: untyped.clear(BIDS, TERMS, draws=HIDDEN), "row 2, column 'draw': the value is masked"),
    "draws of another length": (lambda: pdqs.clear(BIDS, TERMS, draws=[1, 2]), "column 'draw': 2 draws for 3 bids"),
    "draws of another length on the ladder": (
        lambda: pdqs.clear(BIDS, SOUND, draws=[1, 2]),
        "column 'draw': 2 draws for 3 bids",
    ),
    "a prior from text": (lambda: any_of(priors.Uniform)("a", 1.0), "a prior's low must be a number, got 'a'"),
    "a prior to nowhere": (lambda: any_of(priors.Uniform)(0.0, None), "a prior's high must be a number, got None"),
    "a mean that is text": (
        lambda: any_of(priors.TruncatedNormal)("a", 1.0, 0.0, 1.0),
        "a normal prior's mean must be a number, got 'a'",
    ),
    "an sd that is text": (
        lambda: any_of(priors.TruncatedNormal)(0.3, "b", 0.0, 1.0),
        "a normal prior's sd must be a number, got 'b'",
    ),
    "nothing can be bought under such a cap": (
        lambda: pdqs.clear(BIDS, pdqs.Terms(query=pdqs.Count(), budget=2.0, epsilon_max=1e-9)),
        "epsilon_max 1e-09 is too low to buy anything: a report among 2 values needs at least 3.1e-05 to tell anything",
    ),
}


@pytest.mark.parametrize(("call", "says"), CALLS.values(), ids=CALLS)
def test_it_is_refused_in_a_sentence(call: Any, says: str) -> None:
    with pytest.raises(PdqsError) as refused:
        call()
    assert str(refused.value) == says


@pytest.mark.parametrize("share", ["x", None, True, [0.05], float("nan")])
def test_a_share_of_cheats_is_a_number(share: Any) -> None:
    rng = generator()
    done = pdqs.trade(rng.random(300) < 0.4, rng.random(300), pdqs.Terms(query=pdqs.Count(), budget=90.0), rng)
    with pytest.raises(PdqsError, match=r"the share of dishonest owners must be a (finite )?number, got"):
        done.answer.interval_if_dishonest(share)


def test_a_report_from_an_owner_without_a_chance_is_refused() -> None:
    rng, terms = generator(), pdqs.Terms(query=pdqs.Count(), budget=60.0)
    offers = pdqs.clear(rng.random(300), terms, draws=1)
    reports = pdqs.randomise(rng.random(300) < 0.3, offers, rng)
    row = int(np.flatnonzero(offers.asked)[2])
    without = dataclasses.replace(offers, chance=np.where(np.arange(300) == row, 0.0, offers.chance))
    with pytest.raises(PdqsError, match=f"^row {row + 1}: a report from an owner whose chance of being asked is 0$"):
        pdqs.answer(reports, without, terms)


def test_ids_that_only_look_alike_are_two_owners() -> None:
    """The negative control: numbers and their texts, and ids in any order, pass."""
    assert len(pdqs.clear(BIDS, TERMS, owners=["a", "A", "a "])) == 3
    assert len(pdqs.clear(BIDS, TERMS, owners=np.array([3, 1, 2]))) == 3
