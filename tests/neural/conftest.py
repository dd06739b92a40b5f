"""Small trainings, done once."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pdqs
from pdqs import neural
from pdqs.auditing.mechanism import SHIPPED
from pdqs.auditing.temptation import Deal, tempted
from pdqs.model.arrays import Floats
from pdqs.model.money import MICROS_PER_UNIT

OWNERS, BUDGET = 24, 16.0


@pytest.fixture(scope="session")
def printed_config() -> neural.NpqmConfig:
    """As printed but for larger strides: a gradient per owner reaches the nets through 24 bids here, not 2240."""
    strides = dataclasses.replace(neural.PRINTED, rate=0.2, last_rate=0.04, multiplier_rate=0.05)
    return neural.NpqmConfig(owners=OWNERS, budgets=(BUDGET, 20.0), vectors=6, steps=300, seed=2, options=strides)


@pytest.fixture(scope="session")
def printed(printed_config: neural.NpqmConfig) -> tuple[neural.Trained, ...]:
    return neural.train(printed_config)


@pytest.fixture(scope="session")
def released_config() -> neural.NpqmConfig:
    return neural.NpqmConfig(owners=OWNERS, budgets=(BUDGET,), vectors=6, steps=300, seed=2, released=True)


@pytest.fixture(scope="session")
def released(released_config: neural.NpqmConfig) -> neural.Trained:
    return neural.train(released_config)[0]


@pytest.fixture(scope="session")
def bimodal() -> Floats:
    """Bids in two heaps with a gap between them, where a density is hard to come by."""
    rng = np.random.default_rng(11)
    cheap = rng.random(8000) < 0.5
    noise = rng.standard_normal(8000)
    return np.clip(np.where(cheap, 0.15 + 0.04 * noise, 0.75 + 0.05 * noise), 0.0, 1.0)


@pytest.fixture(scope="session")
def learned(bimodal: Floats) -> neural.Learned:
    return neural.learn(bimodal[:4000], neural.LearnConfig(steps=500))


def best_lie(bids: Floats, owner: int, terms: pdqs.Terms, lies: Floats) -> float:
    """The most an owner gains, in money, by stating one of these bids instead of her price; markets cleared whole."""

    def deal(stated: float) -> Deal:
        return SHIPPED.deal_in_full(np.where(np.arange(bids.size) == owner, stated, bids), owner, terms)

    price = float(bids[owner])
    honest = deal(price)
    return max(tempted(honest, deal(float(lie)), price, terms.setting).gain_micros for lie in lies) / MICROS_PER_UNIT
