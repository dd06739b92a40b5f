"""Cells that a spreadsheet does not run."""

from __future__ import annotations

import csv

import pytest

from pdqs.tables.delimited import joined
from pdqs.tables.spreadsheet import harmless


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-1+1", "-x", "@sum(A1)", " =1", "\t=1", "\r=1", "--1"])
def test_what_begins_like_a_formula_is_text(text: str) -> None:
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "Ann", "a=b", "1", "-1", "+49", "-0.5", ".5", "-1e-7", "'quoted"])
def test_names_numbers_and_nothing_stay_as_they_are(text: str) -> None:
    assert harmless(text) == text


@pytest.mark.parametrize("name", ["Ann;=1+1", "Ann; @sum", "a;+1;b; -2;c", "=1;=2", ";=1", 'Ann;"=1;b'])
def test_no_part_runs_where_a_spreadsheet_cuts_lines_at_semicolons(name: str) -> None:
    line = joined(["user_id", "name"], [["u_1", harmless(name)]]).splitlines()[1]
    cells = next(csv.reader([line], delimiter=";"))
    assert len(cells) > 1
    assert not [cell for cell in cells[1:] if cell.strip().startswith(("=", "+", "-", "@"))]
    assert harmless(name).replace("'", "") == name


def test_a_semicolon_before_anything_else_stays_as_it_is() -> None:
    assert harmless("tea; coffee;milk") == "tea; coffee;milk"
