"""Learned rules: the paper's NPQM as printed and as released, and a learned rule that is sound.

**NPQM.** ``train(NpqmConfig(owners=n, budgets=(...)))`` trains one model per budget, all together, and gives a tuple of
:class:`Trained`, in the order of the budgets::

    from pdqs import neural, presets

    config = neural.NpqmConfig(owners=2240, budgets=(224.0, 672.0), released=True, seed=1)
    trained = neural.train(config)                    # or train(config, bids): 50 vectors of 2240; or a numpy Generator
    trained[0].rule                                   # the rule to use; RuleError("NO ANSWER ...") if there is none
    trained[0].rules["largest"]                       # the other checkpoints of the release
    terms = presets.npqm(query=..., budget=224.0, rule=trained[0].rule)

``released=False`` is the paper's text, ``released=True`` its authors' code; ``options=Recipe(...)`` mixes the two.
``progress`` is called every 250 steps with a :class:`Moment`. The same config gives the same weights. Training needs
the extra ``neural`` (JAX); the rules it gives are NumPy only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pdqs.errors import MissingExtraError
from pdqs.neural.config import PRINTED, RELEASED, NpqmConfig, Recipe
from pdqs.neural.rules import Logistic, Nets, Npqm
from pdqs.types import Column

if TYPE_CHECKING:
    from pdqs.neural.training import Moment, Saved, Trained

__all__ = [
    "PRINTED",
    "RELEASED",
    "Logistic",
    "Moment",
    "Nets",
    "Npqm",
    "NpqmConfig",
    "Recipe",
    "Saved",
    "Trained",
    "train",
]

_NEED_JAX = {"Moment": "training", "Saved": "training", "Trained": "training"}


def _part(module: str) -> Any:
    """A module of this package that needs JAX, or one sentence when there is none."""
    import importlib

    try:
        return importlib.import_module(f"pdqs.neural.{module}")
    except ModuleNotFoundError as missing:
        if missing.name not in ("jax", "jaxlib", "optax"):
            raise
        raise MissingExtraError(
            f"training needs {missing.name}: install the extra, pip install 'pdqs[neural]'"
        ) from None


def __getattr__(name: str) -> Any:
    if name in _NEED_JAX:
        return getattr(_part(_NEED_JAX[name]), name)
    raise AttributeError(f"module 'pdqs.neural' has no attribute {name!r}")


def train(config: NpqmConfig, training_bids: Column | None = None, **more: Any) -> tuple[Trained, ...]:
    """Train NPQM: one model per budget of the config.

    ``training_bids`` are the config's ``vectors`` rows of ``owners`` bids each, or a numpy Generator to draw them
    uniform on the bid range; without them they are drawn from the config's seed. Keywords: ``progress`` (called with a
    Moment every 250 steps), ``save`` (called with a Saved, for going on later) and ``resume`` (a Saved).
    """
    trained: tuple[Trained, ...] = _part("training").train(config, training_bids, **more)
    return trained
