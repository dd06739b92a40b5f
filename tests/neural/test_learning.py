"""The sound learned rule: as good as the optimal rule that knows the prior, better than the one that is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import pdqs
from pdqs import neural
from pdqs.model import priors
from pdqs.model.arrays import Floats
from pdqs.model.errors import InputError, RuleError, TermsError
from pdqs.pricing.rules import Optimal, Rule

SHARES = (0.1, 0.5, 0.9)


def information(rule: Rule, bids: Floats, share: float, contract: str = "on-report") -> float:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=share * bids.size, rule=rule, contract=contract)
    offers = pdqs.clear(bids, terms)
    assert offers.spent_micros <= terms.budget_micros
    return offers.information


@pytest.mark.parametrize("prior", [priors.Uniform(), priors.TruncatedNormal(0.5, 0.25)], ids=["uniform", "normal"])
def test_within_one_per_cent_of_the_optimal_rule_that_knows_the_prior(prior: priors.Prior) -> None:
    rng = np.random.default_rng(21)
    past, fresh = prior.quantile(rng.random(5000)), prior.quantile(rng.random(2000))
    rule = neural.learn(past)
    for share in SHARES:
        best = information(Optimal(prior=prior), fresh, share)
        assert 0.99 * best <= information(rule, fresh, share)


def test_the_papers_straight_line_is_not_within_one_per_cent() -> None:
    """The control: the same comparison can fail, and does for a curve too stiff for a jump."""
    rng = np.random.default_rng(21)
    config = neural.LearnConfig(curve="logistic", link="sigmoid", steps=500)
    rule, fresh = neural.learn(rng.random(5000), config), rng.random(2000)
    assert information(rule, fresh, 0.1) < 0.99 * information(Optimal(), fresh, 0.1)


def test_it_beats_the_optimal_rule_that_was_given_the_wrong_prior(learned: neural.Learned, bimodal: Floats) -> None:
    fresh = bimodal[4000:6000]
    assert information(learned, fresh, 0.5) > 1.03 * information(Optimal(), fresh, 0.5)


def test_one_rule_serves_any_number_of_owners_and_any_budget(learned: neural.Learned, bimodal: Floats) -> None:
    for owners, share in ((2, 0.3), (37, 0.01), (37, 3.0), (500, 0.2)):
        information(learned, bimodal[-owners:], share)  # asserts the budget


def test_trained_for_ppem_it_buys_more_of_it_than_trained_for_information() -> None:
    rng = np.random.default_rng(3)
    past, fresh = rng.random(3000), rng.random(1000)
    bought = {}
    for objective in ("information", "ppem"):
        config = neural.LearnConfig(objective=objective, link="sigmoid", contract="on-selection", steps=250)
        terms = pdqs.presets.sound(
            query=pdqs.Count(), budget=300.0, rule=neural.learn(past, config), contract="on-selection"
        )
        bought[objective] = float(terms.setting.load(pdqs.clear(fresh, terms).q).sum())
    assert bought["ppem"] > bought["information"]


def test_the_same_past_bids_give_the_same_rule_in_any_order() -> None:
    past = np.random.default_rng(5).random(200)
    config = neural.LearnConfig(steps=20)
    assert neural.learn(past, config) == neural.learn(past[::-1], config)


def test_a_learned_price_is_a_prior_for_other_rules(learned: neural.Learned) -> None:
    bids = np.linspace(0, 1, 50)
    assert Optimal(prior=learned.price, setting=learned.setting).q(bids, 0.7) == pytest.approx(learned.q(bids, 0.7))


@pytest.mark.parametrize(
    ("past", "sentence"),
    [
        ([0.5] * 9, "at least 10 past bids, got 9"),
        ([0.5, float("nan")] * 10, "row 2, column 'past bid': nan"),
        ([0.5] * 10 + [1.5], "row 11, column 'past bid': 1.5 is outside"),
    ],
)
def test_past_bids_that_cannot_be_learned_from_are_refused(past: list[float], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        neural.learn(past)


def test_configs_and_rules_that_contradict_themselves_are_refused() -> None:
    with pytest.raises(TermsError, match="needs link 'sigmoid'"):
        neural.LearnConfig(objective="ppem")
    with pytest.raises(TermsError, match="unknown curve 'cubic'"):
        neural.LearnConfig(curve="cubic")
    with pytest.raises(TermsError, match="above 0 and finite, got 0"):
        neural.LearnConfig(budgets=(0.0,))
    with pytest.raises(TermsError, match="buys everything there is"):
        neural.LearnConfig(budgets=(5.0,))
    with pytest.raises(RuleError, match="never rise"):
        neural.Learned(knots=(0.0, 1.0), heights=(0.0, 1.0))
    with pytest.raises(RuleError, match="rise from 0 to 1"):
        neural.Learned(knots=(0.1, 1.0), heights=(1.0, 0.0))
