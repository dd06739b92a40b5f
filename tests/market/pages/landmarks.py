"""What every page has, and what none may have, as questions to the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

UNLABELLED = """
() => [...document.querySelectorAll(
    'input:not([type=hidden]), select, textarea, button, meter, progress, svg[role=img]')]
  .filter((e) => e.checkVisibility() && !e.labels?.length && !e.innerText?.trim())
  .filter((e) => !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby'))
  .map((e) => e.outerHTML.slice(0, 120))
"""
STRUCTURE = """
() => ({ h1: document.querySelectorAll('h1').length, main: document.querySelectorAll('main').length,
         header: document.querySelectorAll('body > header').length, lang: document.documentElement.lang,
         inline: document.querySelectorAll('[style], script:not([src]), style, [onclick]').length })
"""


def faults_of(page: Page) -> list[str]:
    """Fields without a name, landmarks that are missing or there twice, and code or style inside the page."""
    found = [f"no label: {one}" for one in page.evaluate(UNLABELLED)]
    structure = page.evaluate(STRUCTURE)
    if structure != {"h1": 1, "main": 1, "header": 1, "lang": "en", "inline": 0}:
        found.append(f"landmarks: {structure}")
    return found
