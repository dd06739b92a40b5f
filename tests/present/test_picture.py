"""Pictures in notebooks."""

from __future__ import annotations

import numpy as np
import pytest

import pdqs


def test_a_picture_shows_itself_where_pyplot_was_never_used() -> None:
    formatters = pytest.importorskip("IPython.core.formatters", reason="IPython comes with the extra docs")
    rng = np.random.default_rng(7)
    terms = pdqs.Terms(query=pdqs.Count(), budget=60.0)
    picture = pdqs.trade(rng.random(200) < 0.3, rng.random(200), terms, rng).answer.figure()
    shown, _ = formatters.DisplayFormatter().format(picture)
    assert shown["image/png"].startswith(b"\x89PNG")
