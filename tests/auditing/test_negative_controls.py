"""The measurement can fail: each promise is broken on purpose, and the audit must say which."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.auditing.bid_reading_rule import ReadsBids
from pdqs.auditing.budget import examine as examine_budget
from pdqs.auditing.markets import Market, adversarial, evenly_spread
from pdqs.auditing.mechanism import SHIPPED
from pdqs.auditing.privacy import examine as examine_privacy
from pdqs.auditing.rationality import examine as examine_rationality
from pdqs.auditing.truthfulness import examine as examine_truthfulness
from pdqs.rounds.terms import Terms

from . import broken

SOUND = pdqs.presets.sound(query=pdqs.Count(), budget=1.0)
ROBUST = pdqs.presets.robust(query=pdqs.Count(), budget=1.0)
LINEAR_OPEN = pdqs.presets.sound(query=pdqs.Count(), budget=40.0, rule="linear", clearing="open")
THREE_VALUES = pdqs.presets.sound(query=pdqs.Median(pdqs.Domain.grid(0, 2, 1)), budget=1.0)


def truthfulness(mechanism: Any, terms: Terms) -> Any:
    market = Market(name="four owners", bids=np.array([0.05, 0.1, 0.3, 0.93]), budget=1.0)
    return examine_truthfulness(mechanism, terms, [(market, np.array([1, 3]))])


def rationality(mechanism: Any, terms: Terms) -> Any:
    return examine_rationality(mechanism, terms, adversarial(terms, np.random.default_rng(3)))


def budget(mechanism: Any, terms: Terms) -> Any:
    own = evenly_spread(terms, 10, terms.budget)
    return examine_budget(mechanism, terms, [own], own, 20, np.random.default_rng(3))


def privacy(mechanism: Any, terms: Terms) -> Any:
    own = evenly_spread(terms, 10, terms.budget)
    return examine_privacy(mechanism, terms, mechanism.clear(own.bids, terms, 0), settings=2, draws=400_000)


@pytest.mark.parametrize("terms", [SOUND, ROBUST, LINEAR_OPEN], ids=["sound", "robust", "linear, open"])
def test_no_owner_of_a_truthful_mechanism_is_said_to_gain(terms: Terms) -> None:
    assert truthfulness(SHIPPED, terms).kept


@pytest.mark.parametrize(
    ("mechanism", "terms"),
    [(broken.FIRST_PRICE, SOUND), (broken.INTEGRAL_CUT_SHORT, LINEAR_OPEN), (broken.PEEKING_RUNG, ROBUST)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_payments_that_reward_a_lie_are_caught(mechanism: Any, terms: Terms) -> None:
    found = truthfulness(mechanism, terms)
    assert not found.kept
    assert found.worst.gain_micros > 100


def test_a_rule_that_reads_the_bids_it_prices_is_caught_as_untruthful() -> None:
    terms = pdqs.presets.npqm(query=pdqs.Count(), budget=2.0, rule=ReadsBids())
    assert not truthfulness(SHIPPED, terms).kept
    deaf = dataclasses.replace(terms, rule=ReadsBids(pull=0.0))
    assert truthfulness(SHIPPED, deaf).kept, "the same curve that does not listen is truthful"


def test_honest_owners_of_the_shipped_mechanism_never_lose() -> None:
    assert rationality(SHIPPED, SOUND).kept
    assert rationality(SHIPPED, SOUND).underpaid_share == 0


def test_payments_rounded_the_wrong_way_are_caught_by_a_millionth() -> None:
    found = rationality(broken.PAYMENTS_ROUNDED_DOWN, SOUND)
    assert not found.kept
    assert -1.0 <= found.worst_ex_ante_micros < 0


def test_a_budget_passed_is_caught_and_one_kept_is_not() -> None:
    assert budget(SHIPPED, SOUND).kept_ex_ante
    assert budget(SHIPPED, SOUND).kept_ex_post
    found = budget(broken.OVERSPENDING, SOUND)
    assert not found.kept_ex_ante
    assert found.chance == 1.0


@pytest.mark.parametrize("terms", [SOUND, THREE_VALUES], ids=["two values", "three values"])
def test_the_shipped_randomiser_is_as_private_as_it_says(terms: Terms) -> None:
    assert privacy(SHIPPED, terms).kept


@pytest.mark.parametrize(
    ("mechanism", "terms"),
    [
        (broken.TWO_PERCENT_MORE, SOUND),
        (broken.UNDERSTATED, SOUND),
        (broken.BONUS_FOR_THE_COIN, SOUND),
        (broken.Q_ROUNDED_UP, SOUND),
        (broken.LOPSIDED_DIE, THREE_VALUES),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_report_or_payment_that_says_more_than_stated_is_caught(mechanism: Any, terms: Terms) -> None:
    assert not privacy(mechanism, terms).kept


@pytest.mark.parametrize("mechanism", [broken.TWO_PERCENT_MORE, broken.UNDERSTATED], ids=lambda value: value.name)
def test_real_draws_alone_catch_an_eps_that_is_two_percent_off(mechanism: Any) -> None:
    found = privacy(mechanism, SOUND)
    assert any(each.drawn > each.stated for each in found.exposures)
    assert all(each.drawn <= each.report for each in found.exposures), "and they never claim more than the truth"


def test_the_whole_audit_names_the_promise_that_a_broken_part_breaks() -> None:
    terms = pdqs.presets.fairquery(query=pdqs.Count(), budget=1.0)
    for mechanism, broken_codes in (
        (SHIPPED, ["COV"]),
        (broken.BONUS_FOR_THE_COIN, ["LDP", "COV"]),
        (broken.TWO_PERCENT_MORE, ["LDP", "COV"]),
    ):
        report = pdqs.audit(terms, owners=10, effort="quick", mechanism=mechanism)
        assert [promise.code for promise in report.broken] == broken_codes


# Lotteries: every gain is one for the draws at hand.

HONEST = pdqs.presets.honest(query=pdqs.Count(), budget=1.0)


def lottery_truthfulness(mechanism: Any) -> Any:
    bids = np.array([0.05, 0.1, 0.3, 0.93, 0.6, 0.2])
    tried = [(Market(name=f"draws {i}", bids=bids, budget=1.5, draws=i), np.array([2, 3])) for i in range(3)]
    return examine_truthfulness(mechanism, HONEST, tried)


def test_no_owner_gains_under_a_lottery_whatever_the_draws() -> None:
    found = lottery_truthfulness(SHIPPED)
    assert found.kept
    assert found.cross_checks > 0


def test_draws_that_depend_on_bids_are_caught() -> None:
    found = lottery_truthfulness(broken.DRAWS_FROM_BIDS)
    assert not found.kept
    assert found.worst.gain_micros > 10_000


def test_a_lottery_is_rational_within_budget_and_private_for_the_draws_tried() -> None:
    markets = [
        dataclasses.replace(market, draws=i) for i, market in enumerate(adversarial(HONEST, np.random.default_rng(3)))
    ]
    assert examine_rationality(SHIPPED, HONEST, markets).kept
    found = examine_budget(SHIPPED, HONEST, markets, markets[0], 20, np.random.default_rng(3))
    assert found.kept_ex_ante
    assert found.kept_ex_post
    assert len(set(found.spends.tolist())) > 1, "each round is drawn anew"
    assert privacy(SHIPPED, HONEST).kept
    assert not privacy(broken.BONUS_FOR_THE_COIN, HONEST).kept
