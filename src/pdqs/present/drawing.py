"""What every picture is drawn with: the style, the colours, a page without a display, and how it is saved.

matplotlib is imported when a picture is asked for, and only its object-oriented part: no global state, no display.
Colours are Okabe and Ito's, told apart by colour-blind readers too; shape and position say the same again.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

from pdqs.model.errors import MissingExtraError
from pdqs.tables.atomic import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOGGER = logging.getLogger("pdqs.present")

KINDS = (".png", ".svg", ".pdf")

BLUE, ORANGE, GREEN, GREY, BLACK = "#0072B2", "#D55E00", "#009E73", "#8C8C8C", "#222222"

_STYLE: dict[Any, Any] = {
    "font.size": 11.0,
    "axes.titlesize": 12.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "svg.hashsalt": "pdqs",
}


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF by the ending of its name, whole or not at all; signs it lacks are noted."""
    with replacing(path) as temporary, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        figure.savefig(temporary, dpi=150)
    if any("missing from font" in str(each.message) for each in said):
        LOGGER.info("%s: the letters of some names are not in its font, and are drawn as boxes", path)


P = ParamSpec("P")


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw in the style above, which matplotlib reads as each piece is made."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        try:
            import matplotlib
        except ImportError:
            raise MissingExtraError("a picture needs matplotlib, the extra 'cli': pip install 'pdqs[cli]'") from None
        with matplotlib.rc_context(_STYLE):
            return draw(*args, **kwargs)

    return drawn


def page(width: float, height: float) -> Figure:
    """An empty figure of so many inches, with a canvas that needs no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    from pdqs.present.picture import Picture

    inches = 0.12  # of air around and between
    figure = Picture(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=inches, h_pad=inches))
    FigureCanvasAgg(figure)
    return figure


def blank(width: float, height: float, columns: int = 1, **more: Any) -> tuple[Figure, list[Axes]]:
    """A page with a row of axes."""
    figure = page(width, height)
    axes = figure.subplots(1, columns, squeeze=False, **more)
    return figure, list(axes[0])
