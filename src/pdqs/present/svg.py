"""Pictures inside a page: elements written with everything escaped here, and a plotting library's made fit for a page.

Text and attributes are escaped where an element is made, and nowhere else: what is :class:`Svg` is markup already,
any other string is not.
"""

from __future__ import annotations

import re
from html import escape
from typing import final

__all__ = ["Svg", "element", "inlined", "picture"]


@final
class Svg(str):
    """Markup that is safe to put in a page as it stands. What is joined to it is a plain string again."""

    __slots__ = ()

    def __html__(self) -> str:
        """The word by which template engines know markup from text."""
        return str(self)


def element(tag: str, *inside: str, **attributes: str | float) -> Svg:
    """One element. ``class_`` stands for class and ``text_anchor`` for text-anchor; numbers are kept to a tenth.

    >>> element("text", "a < b", x=3.14159, y=20.0, text_anchor="end", class_="strong")
    '<text x="3.1" y="20" text-anchor="end" class="strong">a &lt; b</text>'
    >>> element("g", element("circle", r=2), class_='"')
    '<g class="&quot;"><circle r="2"/></g>'
    """
    named = "".join(f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"' for name, value in attributes.items())
    body = "".join(part if isinstance(part, Svg) else escape(part) for part in inside)
    return Svg(f"<{tag}{named}>{body}</{tag}>" if inside else f"<{tag}{named}/>")


def picture(name: str, width: float, height: float, *body: Svg, title: str, text: str, class_: str) -> Svg:
    """A picture with a title, and a description for those who do not see it; ``name`` is its own on its page.

    >>> picture("dot", 8, 8, element("circle", r=2), title="A dot", text="One dot.", class_="chart")[:75]
    '<svg class="chart" viewBox="0 0 8 8" role="img" aria-labelledby="dot-title"'
    """
    return element(
        "svg",
        element("title", title, id=f"{name}-title"),
        element("desc", text, id=f"{name}-text"),
        *body,
        class_=class_,
        viewBox=f"0 0 {_value(width)} {_value(height)}",
        role="img",
        aria_labelledby=f"{name}-title",
        aria_describedby=f"{name}-text",
    )


def inlined(file: str, *, name: str, label: str) -> Svg:
    """An SVG file of a plotting library as an element of a page: no prologue, nothing about its maker, and its inner
    names made its own by ``name``, for pictures share a page and a glyph must not be taken from a neighbour.

    >>> inlined('<?xml?><svg width="4"><metadata>me</metadata><use xlink:href="#a"/></svg>', name="p", label="Q & A")
    '<svg role="img" aria-label="Q &amp; A" width="4"><use xlink:href="#p-a"/></svg>'
    """
    drawn = re.sub(r"<metadata>.*?</metadata>", "", file[file.index("<svg ") :], flags=re.DOTALL)
    named = re.sub(r'(\bid="|\bhref="#|url\(#)', lambda found: f"{found.group(1)}{_value(name)}-", drawn)
    return Svg(f'<svg role="img" aria-label="{_value(label)}" {named.removeprefix("<svg ")}')


def _value(value: str | float) -> str:
    """An attribute's value: text escaped, a number to a tenth.

    >>> _value(12.0), _value(0.25), _value(-0.04), _value("'")
    ('12', '0.2', '0', '&#x27;')
    """
    return escape(value) if isinstance(value, str) else f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")
