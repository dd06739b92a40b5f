"""A figure that shows itself in a notebook, whether or not pyplot was ever used there. It needs matplotlib."""

from __future__ import annotations

import io
from typing import final

from matplotlib.figure import Figure


@final
class Picture(Figure):
    """What pdqs draws on. Notebooks know how to show figures of pyplot's only; this one says it of itself."""

    def _repr_png_(self) -> bytes:
        held = io.BytesIO()
        self.savefig(held, format="png")
        return held.getvalue()
