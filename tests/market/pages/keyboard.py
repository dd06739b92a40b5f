"""Hands on a keyboard and nowhere else: whatever a test does here, someone without a mouse or a touch can do.

A control counts as reached when tabbing has come to it and the browser draws a ring around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator

_MOST = 300
_HERE = "(one) => one === document.activeElement"
_GROUP = "(one) => document.activeElement.type === 'radio' && document.activeElement.form === one.form"
_RING = "(one) => getComputedStyle(one).outlineStyle !== 'none' && parseFloat(getComputedStyle(one).outlineWidth) > 0"


def reach(target: Locator) -> None:
    """Tab to a control, all the way round if need be."""
    target.wait_for()
    for _ in range(_MOST):
        if target.evaluate(_HERE):
            assert target.evaluate(_RING), f"{target} has the focus, and nobody can see it"
            return
        target.page.keyboard.press("Tab")
    raise AssertionError(f"{target} cannot be reached by the keyboard")


def press(target: Locator) -> None:
    """Follow a link or press a button, and wait for what comes."""
    reach(target)
    target.page.keyboard.press("Enter")
    target.page.wait_for_load_state()


def fill(target: Locator, text: str) -> None:
    """Type into a field, in the place of what is there."""
    reach(target)
    target.page.keyboard.press("Control+A")
    target.page.keyboard.type(text)


def pick(target: Locator, word: str) -> None:
    """Choose from a list by typing the start of a word."""
    reach(target)
    target.page.keyboard.type(word)


def tick(target: Locator) -> None:
    """Tick a box that is not ticked."""
    if not target.is_checked():
        reach(target)
        target.page.keyboard.press("Space")


def choose(target: Locator) -> None:
    """Choose one of a group of radio buttons: tabbing leads into the group, arrows to the one."""
    target.wait_for()
    for _ in range(_MOST):
        if target.evaluate(_GROUP):
            break
        target.page.keyboard.press("Tab")
    for _ in range(_MOST):
        if target.evaluate(_HERE):
            target.page.keyboard.press("Space")
            assert target.is_checked()
            return
        target.page.keyboard.press("ArrowDown")
    raise AssertionError(f"{target} cannot be chosen by the keyboard")
