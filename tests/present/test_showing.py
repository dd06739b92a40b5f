"""What a person sees who types a name: short, and what it is."""

from __future__ import annotations

import numpy as np
import pytest

import pdqs
from pdqs.model.domain import Domain


@pytest.mark.parametrize(
    "made",
    [
        "Domain.binary()",
        "Domain.grid(14, 61, 1)",
        "Domain.grid(0, 1, 0.25)",
        "Domain.categories(['a', 'b', 3])",
    ],
)
def test_a_domain_shows_how_it_is_made(made: str) -> None:
    assert repr(eval(made)) == made


def test_many_categories_are_not_all_shown() -> None:
    assert repr(Domain.categories([f"c{i}" for i in range(500)])).endswith("... 500 in all])")


def test_a_fitted_prior_is_one_short_line() -> None:
    assert len(repr(pdqs.priors.fit(np.random.default_rng(1).random(5000)))) < 80


def test_reports_show_how_often_each_value_came() -> None:
    reports = pdqs.received([1, None, 0, 1], Domain.binary())
    assert repr(reports).splitlines() == ["Reports: 3 of 4 arrived (0 or 1)", "  0  1 reports", "  1  2 reports"]
    assert "<td style='text-align:left'>2 reports</td>" in reports._repr_html_()
    assert repr(pdqs.received([1, 2], Domain.grid(0, 99, 1))) == "Reports: 2 of 2 arrived (0 to 99 by 1)"


def test_terms_show_what_a_round_promises() -> None:
    terms = pdqs.Terms(query=pdqs.Count(), budget=1500, prior=pdqs.priors.Uniform())
    lines = repr(terms).splitlines()
    assert lines[0] == "Terms: count for 1,500"
    assert ["rule", "lottery"] in [line.split() for line in lines]
    assert lines[-1].split(maxsplit=1) == ["prior", "Uniform(low=0.0, high=1.0)"]
    assert "<table>" in terms._repr_html_()
    assert "prior" not in repr(pdqs.Terms(query=pdqs.Count(), budget=1500))
