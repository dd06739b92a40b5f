"""Learned rules: the paper's NPQM as printed and as released, and a learned rule that is sound.

**NPQM.** ``train(NpqmConfig(owners=n, budgets=(...)))`` trains one model per budget, all together, and gives a tuple of
:class:`Trained`, in the order of the budgets::

    from pdqs import neural, presets

    config = neural.NpqmConfig(owners=2240, budgets=(224.0, 672.0), released=True, seed=1)
    trained = neural.train(config)                    # or train(config, bids): 50 vectors of 2240; or a numpy Generator
    trained[0].rule                                   # the rule to use; RuleError("NO ANSWER ...") if there is none
    trained[0].rules["largest"]                       # the other checkpoints of the release
    terms = presets.npqm(query=..., budget=224.0, rule=trained[0].rule)

``released=False`` is the paper's text, ``released=True`` its authors' code, ``options=neural.MENDED`` the reading under
which most of what the paper says of NPQM holds; ``options=Recipe(...)`` mixes them.
``progress`` is called every 250 steps with a :class:`Moment`. The same config gives the same weights. Training needs
the extra ``neural`` (JAX); the rules it gives are NumPy only.

**Sound.** ``learn(past_bids)`` gives a :class:`Learned` rule that never reads the bids it prices: cleared by the ladder
it is truthful, rational and within budget for any number of owners and any budget::

    rule = neural.learn(past_bids)                    # for sum q^2; LearnConfig says what else it can be
    terms = pdqs.Terms(query=..., budget=500.0, rule=rule)

``save`` and ``load`` keep rules in files that are read without JAX.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from pdqs.model.arrays import Column
from pdqs.model.errors import MissingExtraError
from pdqs.neural.checkpoint import Checkpoint, load, load_training, save, save_training
from pdqs.neural.config import MENDED, PRINTED, RECIPES, RELEASED, LearnConfig, NpqmConfig, Recipe
from pdqs.neural.curves import Learned, LearnedPrice
from pdqs.neural.logistic_rule import Logistic
from pdqs.neural.npqm_rule import Nets, Npqm
from pdqs.rounds.canonical import Kinds

if TYPE_CHECKING:
    from pdqs.neural.training import Moment, Saved, Trained

__all__ = [
    "KINDS",
    "MENDED",
    "PRINTED",
    "RECIPES",
    "RELEASED",
    "Checkpoint",
    "LearnConfig",
    "Learned",
    "LearnedPrice",
    "Logistic",
    "Moment",
    "Nets",
    "Npqm",
    "NpqmConfig",
    "Recipe",
    "Saved",
    "Trained",
    "learn",
    "load",
    "load_training",
    "save",
    "save_training",
    "train",
]

KINDS: Kinds = {Learned.name: Learned, Logistic.name: Logistic, LearnedPrice.__name__: LearnedPrice}
"""What `Terms.read` can read of learned rules. NPQM is not among them: its form holds a digest in place of its weights,
which are read from their own file, with :func:`load`."""

_NEED_JAX = {"Moment": "training", "Saved": "training", "Trained": "training"}


def _part(module: str) -> ModuleType:
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


def train(config: NpqmConfig, training_bids: Column | None = None, **more: object) -> tuple[Trained, ...]:
    """Train NPQM: one model per budget of the config.

    ``training_bids`` are the config's ``vectors`` rows of ``owners`` bids each, or a numpy Generator to draw them
    uniform on the bid range; without them they are drawn from the config's seed. Keywords: ``progress`` (called with a
    Moment every 250 steps), ``save`` (called with a Saved, for going on later) and ``resume`` (a Saved).
    """
    trained: tuple[Trained, ...] = _part("training").train(config, training_bids, **more)
    return trained


def learn(past_bids: Column, config: LearnConfig | None = None, **more: object) -> Learned:
    """A sound rule from bids of earlier rounds. Keyword: ``progress``, called every 100 steps."""
    rule: Learned = _part("learning").learn(past_bids, config or LearnConfig(), **more)
    return rule
