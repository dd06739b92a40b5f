"""Fixtures that many tests share."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pdqs.owner.bundle import PageServer

_TOLERANT = [HealthCheck.too_slow, HealthCheck.data_too_large]

# "ci" draws the same examples on every run, so that a verdict can be repeated; it is the default everywhere.
# "random" draws fresh ones (`make test-random`, at night); a failure prints how to repeat it.
settings.register_profile("ci", deadline=None, derandomize=True, suppress_health_check=_TOLERANT)
settings.register_profile("random", deadline=None, derandomize=False, print_blob=True, suppress_health_check=_TOLERANT)
settings.load_profile("ci")  # pytest's own option --hypothesis-profile comes later, and wins


def pytest_collection_finish() -> None:
    """Set aside what thousands of collected tests are made of: it stays to the end, and to look through it for garbage
    again and again took a fifth of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def rng() -> np.random.Generator:
    """Randomness that repeats."""
    return np.random.default_rng(20261115)


@pytest.fixture
def device_page() -> Iterator[PageServer]:
    """The owner's browser device, served from her own machine."""
    from pdqs.owner.bundle import PageServer

    with PageServer(0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
