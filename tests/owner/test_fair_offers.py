"""A device never refuses an honest market: every offer that clearing makes passes its check, to the micro-unit."""

from __future__ import annotations

import numpy as np
import pytest

import pdqs
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.owner.price import in_words, is_fair, odds_in_words
from pdqs.owner.reading import MOST_EPSILON
from pdqs.privacy.loss import NANOS_PER_EPSILON, epsilon_nanos
from pdqs.privacy.randomiser import q_numerators

from .node import twin

AGES = pdqs.Median(pdqs.Domain.grid(14, 61, 1))


def cleared(bid_micros: np.ndarray, terms: pdqs.Terms) -> list[tuple[int, int, int]]:
    """Bid, numerator and payment of every owner who is asked for something."""
    offers = pdqs.clear(bid_micros / MICROS_PER_UNIT, terms)
    asked = offers.q > 0
    numerators = q_numerators(offers.q)[asked]
    return list(
        zip(bid_micros[asked].tolist(), numerators.tolist(), offers.payment_micros[asked].tolist(), strict=True)
    )


@pytest.mark.parametrize("rule", ["optimal", "robust", "linear", "exponential", "logarithmic", "quadratic", "step"])
@pytest.mark.parametrize("query", [pdqs.Count(), AGES], ids=["count", "median"])
def test_every_offer_of_every_rule_covers_its_owners_price_and_keeps_the_cap(
    rule: str, query: pdqs.Count | pdqs.Median, rng: np.random.Generator
) -> None:
    k = query.question.domain.size
    # Bids at the very top are paid their price and nothing over it: there rounding decides.
    bids = np.concatenate([rng.integers(0, 1_000_001, 600), [0, 1, 999_999, 1_000_000, 1_000_000, 37, 250_000]])
    for budget in (30.0, 300.0, 1e5):
        offers = cleared(bids, pdqs.presets.sound(query=query, budget=budget, rule=rule, question="value"))
        assert offers, "nothing was bought, so nothing was checked"
        assert [offer for offer in offers if not is_fair(offer[0], offer[1], k, offer[2])] == []
        assert max(epsilon_nanos(numerator, k) for _, numerator, _ in offers) <= 4 * NANOS_PER_EPSILON + 1


def test_a_market_that_prices_many_answers_as_if_they_were_two_is_caught(rng: np.random.Generator) -> None:
    bids = rng.integers(0, 1_000_001, 600)
    offers = cleared(bids, pdqs.presets.sound(query=AGES, budget=300.0, rule="linear", priced_as_binary=True))
    unfair = [offer for offer in offers if not is_fair(offer[0], offer[1], 48, offer[2])]
    assert len(unfair) > len(offers) / 10


def test_how_sure_anyone_could_become_at_most_is_a_figure_and_the_same_on_both_devices() -> None:
    """“At most more than 99:1” says nothing: beyond 99 in 100 the odds themselves are said, up to any market's cap."""
    said = {0.1: "52:48", 2.0: "88:12", 4.5: "99:1", 4.59: "99:1", 4.6: "100:1", 5.0: "149:1", 8.0: "2981:1"}
    said |= {MOST_EPSILON: "485165196:1", 50.0: "more than 99:1"}  # the last is a cap that she set herself
    assert {epsilon: odds_in_words(epsilon) for epsilon in said} == said
    assert twin(odds=list(said))["odds"] == list(said.values())


def test_a_report_that_is_nearly_always_true_is_not_said_to_be_always_so() -> None:
    said = in_words(int(0.9999 * 2**32), 2)
    assert "with chance more than 99.9 %, otherwise a random one" in said
    assert "at most 19999:1 sure between them (epsilon 9.9034)" in said
    assert "with chance 99.0 %, otherwise a random one" in (less := in_words(int(0.99 * 2**32), 2))
    assert "at most 99.5 % sure between them" in less
