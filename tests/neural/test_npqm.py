"""NPQM as printed and as released: what it keeps, and that it is caught where it keeps nothing."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pdqs
from pdqs import neural
from pdqs.model.arrays import Floats
from pdqs.model.errors import InputError, RuleError, TermsError
from pdqs.neural.training import _bids

from .conftest import BUDGET, OWNERS, best_lie

LIES = (np.arange(16) + 0.5) / 16


def npqm_terms(rule: neural.Npqm, budget: float = BUDGET) -> pdqs.Terms:
    return pdqs.presets.npqm(query=pdqs.Count(), budget=budget, rule=rule)


def test_the_curve_is_the_papers_formula_read_off_the_whole_bid_vector(printed: tuple[neural.Trained, ...]) -> None:
    nets, bids = printed[0].rule.nets, np.random.default_rng(1).random(OWNERS)
    reached = nets.first @ bids + nets.first_bias
    layers = [np.maximum(reached[8 * i : 8 * i + 8], 0) @ nets.last[i] + nets.last_bias[i] for i in range(3)]
    z = abs(layers[1]) * (-abs(layers[0]) * bids + reached[-1]) + layers[2]
    q = pdqs.clear(bids, npqm_terms(printed[0].rule)).q
    assert q == pytest.approx(1 / (1 + np.exp(-z)), abs=2**-31)


def test_as_printed_the_training_vectors_together_keep_the_budget(
    printed: tuple[neural.Trained, ...], printed_config: neural.NpqmConfig
) -> None:
    for trained in printed:
        terms = npqm_terms(trained.rule, trained.budget)
        spent = [pdqs.clear(bids, terms).spent for bids in _bids(printed_config, None)]
        assert np.mean(spent) <= trained.budget * (1 + 1e-6)
        assert np.mean(spent) > 0.5 * trained.budget  # it bought something


def test_as_printed_fresh_bids_break_the_budget(printed: tuple[neural.Trained, ...]) -> None:
    """Seen on most fresh vectors; that none of 40 overspends would need a chance below 1e-6 at a rate of 30 %."""
    rng, terms = np.random.default_rng(3), npqm_terms(printed[0].rule)
    over = [pdqs.clear(rng.random(OWNERS), terms).spent > BUDGET for _ in range(40)]
    assert any(over)


def test_as_printed_some_owner_gains_by_lying(printed: tuple[neural.Trained, ...]) -> None:
    bids, terms = np.random.default_rng(4).random(OWNERS), npqm_terms(printed[0].rule)
    assert max(best_lie(bids, owner, terms, LIES) for owner in range(OWNERS)) > 1e-4  # a hundred micro-units


def test_the_sound_rule_passes_the_same_two_tests(learned: neural.Learned) -> None:
    rng, terms = np.random.default_rng(3), pdqs.presets.sound(query=pdqs.Count(), budget=BUDGET, rule=learned)
    assert all(pdqs.clear(rng.random(OWNERS), terms).spent_micros <= terms.budget_micros for _ in range(12))
    bids = rng.random(OWNERS)
    assert max(best_lie(bids, owner, terms, LIES[::3]) for owner in (1, 9, 20)) <= 1.05e-6


def test_cleared_by_the_ladder_even_an_npqm_rule_is_truthful(printed: tuple[neural.Trained, ...]) -> None:
    """The ladder uses the curve for the mean training vector, which no bid can move."""
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=BUDGET, rule=printed[0].rule, contract="on-selection")
    bids = np.random.default_rng(4).random(OWNERS)
    assert pdqs.clear(bids, terms).spent <= BUDGET
    assert max(best_lie(bids, owner, terms, LIES) for owner in (0, 19)) <= 1.05e-6


def test_no_feasible_step_is_no_answer() -> None:
    config = neural.NpqmConfig(owners=OWNERS, budgets=(1e-3,), vectors=2, steps=3)
    (trained,) = neural.train(config)
    with pytest.raises(RuleError, match=r"NO ANSWER: no step of the training was within the budget of 0\.001"):
        _ = trained.rule


def test_collapse_and_infeasibility_are_warned_of_while_training() -> None:
    moments: list[neural.Moment] = []
    config = neural.NpqmConfig(owners=OWNERS, budgets=(1e-3,), vectors=2, steps=3)
    neural.train(config, progress=moments.append)
    assert moments[-1].warnings == ("budget 0.001: no step so far was within budget",)
    from pdqs.neural.training import _warnings

    assert "collapsed" in _warnings(0.0005, np.array([1.0, -np.inf, -np.inf, -np.inf]))[0]
    assert not _warnings(0.4, np.array([1.0, -np.inf, -np.inf, -np.inf]))


def test_the_release_keeps_three_checkpoints_from_loose_to_strict(released: neural.Trained) -> None:
    assert set(released.rules) == {"largest", "mean", "every"}
    assert released.rule is released.rules["every"]


def test_the_released_every_checkpoint_overspends_no_training_vector(
    released: neural.Trained, released_config: neural.NpqmConfig
) -> None:
    """Its own payment, along the joint path, against its own budget, 1.2 times the consumer's."""
    from pdqs.neural import reference

    nets = released.rule.nets
    weights = reference.Weights(nets.first, nets.first_bias, nets.last, nets.last_bias)
    shares = np.sort(_bids(released_config, None), axis=1)
    recipe, path = released_config.recipe, reference.gauss(16)
    spent = reference.gradient(weights, shares, np.zeros(6), BUDGET, recipe, path)[2]
    assert (spent <= 1.2 * BUDGET + 1e-6).all()


def test_released_nets_read_bids_in_order_so_names_do_not_matter(
    released: neural.Trained, printed: tuple[neural.Trained, ...]
) -> None:
    rng = np.random.default_rng(6)
    bids, order = rng.random(OWNERS), rng.permutation(OWNERS)
    sorting, plain = npqm_terms(released.rule), npqm_terms(printed[0].rule)
    assert (pdqs.clear(bids, sorting).q[order] == pdqs.clear(bids[order], sorting).q).all()
    assert not np.allclose(pdqs.clear(bids, plain).q[order], pdqs.clear(bids[order], plain).q)


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(printed_config: neural.NpqmConfig) -> None:
    short = dataclasses.replace(printed_config, steps=20, budgets=(20.0, 30.0))
    once, again = (neural.train(short)[1].rules["accepted"] for _ in range(2))
    other = neural.train(dataclasses.replace(short, seed=3))[1].rules["accepted"]
    assert once == again
    assert hash(once) == hash(again)
    assert once != other


def test_budgets_trained_together_are_as_if_trained_alone(printed_config: neural.NpqmConfig) -> None:
    short = dataclasses.replace(printed_config, steps=20, budgets=(20.0, 30.0))
    together = neural.train(short)[1].rules["accepted"]
    (alone,) = neural.train(dataclasses.replace(short, budgets=(30.0,)))
    assert together.nets.first == pytest.approx(alone.rule.nets.first, rel=1e-9, abs=1e-12)


def test_a_training_gone_on_with_ends_where_an_unbroken_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    from pdqs.neural import training

    monkeypatch.setattr(training, "CHUNK", 20)
    config = neural.NpqmConfig(owners=OWNERS, budgets=(12.0,), vectors=3, steps=60, released=True)
    held: list[neural.Saved] = []
    whole = neural.train(config, save=held.append)[0]
    rest = neural.train(config, resume=held[1])[0]
    assert rest.rules == whole.rules
    assert (rest.trace == whole.trace).all()
    with pytest.raises(InputError, match="of another config"):
        neural.train(dataclasses.replace(config, seed=9), resume=held[1])


def test_a_net_refuses_bids_of_another_number(printed: tuple[neural.Trained, ...]) -> None:
    with pytest.raises(InputError, match="trained for 24 owners and cannot read 10 bids"):
        pdqs.clear(np.full(10, 0.5), npqm_terms(printed[0].rule))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"budgets": (0.0,)}, "a budget to train for must be above 0 and finite, got 0.0"),
        ({"budgets": ()}, "at least one budget"),
        ({"owners": 1}, "owners must be a whole number of at least 2"),
        ({"bid_range": (1.0, 1.0)}, "bid_range needs 0 <= low < high"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(TermsError, match=sentence):
        neural.NpqmConfig(**{"owners": 5, "budgets": (1.0,), **fields})  # type: ignore[arg-type]


def test_nan_in_training_bids_is_refused_with_its_place() -> None:
    bids: Floats = np.full((2, 5), 0.5)
    bids[1, 3] = np.nan
    with pytest.raises(InputError, match="row 4, column 'training vector 2': nan is not a finite number"):
        neural.train(neural.NpqmConfig(owners=5, budgets=(1.0,), vectors=2), bids)
    with pytest.raises(InputError, match="must be 3 vectors of 5, got 1 of"):
        neural.train(neural.NpqmConfig(owners=5, budgets=(1.0,), vectors=3), [[0.5] * 5])


def test_a_bid_range_is_a_change_of_units(printed_config: neural.NpqmConfig) -> None:
    """Ten times the bids and ten times the money is the same market."""
    still = dataclasses.replace(neural.PRINTED, multiplier_rate=0.0)
    short = dataclasses.replace(printed_config, steps=20, budgets=(20.0, 30.0), options=still)
    bids = _bids(short, None)
    tenfold = dataclasses.replace(
        short,
        bid_range=(0.0, 10.0),
        budgets=(200.0, 300.0),
        options=dataclasses.replace(short.recipe, multiplier_start=0.1),
    )
    plain, scaled = neural.train(short, bids)[1], neural.train(tenfold, 10 * bids)[1]
    assert plain.rule.typical == pytest.approx(scaled.rule.typical, rel=1e-9)
