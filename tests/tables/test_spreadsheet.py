"""Cells that a spreadsheet does not run."""

from __future__ import annotations

import pytest

from pdqs.tables.spreadsheet import harmless


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-1+1", "-x", "@sum(A1)", " =1", "\t=1", "\r=1", "--1"])
def test_what_begins_like_a_formula_is_text(text: str) -> None:
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "Ann", "a=b", "1", "-1", "+49", "-0.5", ".5", "-1e-7", "'quoted"])
def test_names_numbers_and_nothing_stay_as_they_are(text: str) -> None:
    assert harmless(text) == text
