"""Fixtures that many tests share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "pdqs", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("pdqs")


@pytest.fixture
def rng() -> np.random.Generator:
    """Randomness that repeats."""
    return np.random.default_rng(20261115)
