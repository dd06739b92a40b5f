"""pdqs compare: a row a mechanism, in words, as JSON and in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .conftest import Pdqs


@pytest.fixture
def market(pdqs_command: Pdqs) -> str:  # noqa: ARG001  # it makes the empty folder
    rng = np.random.default_rng(8)
    rows = [
        f"o{i},{bid:.4f},{int(value)}"
        for i, (bid, value) in enumerate(zip(rng.random(80), rng.random(80) < 0.4, strict=True))
    ]
    Path("market.csv").write_text("owner,bid,value\n" + "\n".join(rows))
    return "market.csv"


def test_a_row_a_mechanism_in_the_order_asked(pdqs_command: Pdqs, market: str) -> None:
    words = ("compare", market, "sound", "honest", "rule:linear", "--budget", 20, "--rounds", 3, "--seed", 1)
    shown = pdqs_command(*words)
    assert shown.code == 0, shown.err
    assert [line.split()[0] for line in shown.out.splitlines()[1:5]] == ["mechanism", "sound", "honest", "rule:linear"]
    told = pdqs_command(*words, "--json", "--out", "rows.csv").data
    assert [row["mechanism"] for row in told["mechanisms"]] == ["sound", "honest", "rule:linear"]
    assert all(row["most_spent"] <= 20 for row in told["mechanisms"][:2])
    assert Path("rows.csv").read_text().count("\n") == 4


def test_unknown_mechanisms_are_refused_in_one_sentence(pdqs_command: Pdqs, market: str) -> None:
    ended = pdqs_command("compare", market, "hones", "--budget", 20)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "unknown preset 'hones'" in ended.err
    ended = pdqs_command("compare", market, "--preset", "honest", "--budget", 20)
    assert ended.err == "pdqs: name the mechanisms after the file, not with --preset\n"
