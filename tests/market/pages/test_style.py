"""The style sheet: every colour of text can be read on what it stands on, in light and in dark (WCAG 2, level AA)."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

SHEET = (files("pdqs.market.pages") / "static" / "style.css").read_text(encoding="utf-8")

TEXT = [  # text on its ground: at least 4.5 to 1
    ("ink", "paper"),
    ("ink", "card"),
    ("soft", "paper"),
    ("soft", "card"),
    ("brand", "paper"),
    ("brand", "card"),
    ("brand", "brand-soft"),
    ("ink", "brand-soft"),
    ("on-brand", "brand"),
    ("on-brand", "brand-strong"),
    ("good", "good-soft"),
    ("bad", "bad-soft"),
    ("bad", "card"),
    ("ink", "warn-soft"),
]
EDGES = [("field", "card"), ("brand", "card"), ("bad", "card")]  # borders that say where a field is: at least 3 to 1


def palettes() -> dict[str, dict[str, str]]:
    light, dark = re.findall(r":root \{(.*?)\}", SHEET, re.S)[:2]
    read = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block)) for block in (light, dark)]
    return {"light": read[0], "dark": {**read[0], **read[1]}}


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_black_on_white_has_the_contrast_that_the_standard_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") < 4.5 < contrast("#767676", "#ffffff"), "the well-known edge"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_fields_stand_out_from_their_ground(scheme: str) -> None:
    colours = palettes()[scheme]
    faint = {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in TEXT + EDGES}
    assert {pair: found for pair, found in faint.items() if found < (4.5 if pair in TEXT else 3.0)} == {}


def test_nothing_is_fetched_from_elsewhere() -> None:
    assert "url(" not in SHEET
    assert "@import" not in SHEET
