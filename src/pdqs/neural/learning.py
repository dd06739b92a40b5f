r"""Learning a sound rule from past bids: JAX and Adam, float64.

Of past bids with empirical distribution F a curve q(b; s) buys, per owner, E[q^2] (or E[q eps], the paper's PPEM) for

.. math:: E[P] = \frac1n \sum_i \Big( b_i\, l(q(b_i)) + \int_{b_i}^{hi} l(q(x))\,dx \Big)
               = \sum_i \tfrac1n b_i\, l(q(b_i)) + \int F(x)\, l(q(x))\,dx :

averages and the distribution function, never a density. That is why no estimate of f is needed, where the optimal
rule's phi = b + F/f needs one: F is known to n^-1/2 whatever its shape, a density only to n^-1/3, and badly in gaps and
tails.

For each of a few budgets the scale s that spends it is held by Newton steps, and the curve moves up the gradient of
information less lambda times spending, with lambda = (dI/ds)/(dP/ds): the gradient of information at a fixed budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, final

import jax
import jax.numpy as jnp
import numpy as np
import optax  # type: ignore[import-untyped]  # it ships no types

from pdqs.model import columns
from pdqs.model.arrays import Column, Floats
from pdqs.model.errors import InputError
from pdqs.model.names import ContractName
from pdqs.neural.config import LearnConfig
from pdqs.neural.curves import Learned
from pdqs.pricing.rules import Optimal, Setting

Array = Any
CHUNK = 100
_SMOOTH = (
    0.06  # the response jumps where nothing more is bought; blurred by this much in ln m its gradient sees the jump
)


class Market(NamedTuple):
    """Past bids in cells: E[h(b)] = sum mass h, and E[P] = sum charge l(q)."""

    places: Array  # shares of the range
    mass: Array
    charge: Array  # bid times mass, and the cell's width times F
    knots: Array
    budgets: Array  # per owner
    log_m: Array  # the response link as a table: q against ln m
    response: Array


class Params(NamedTuple):
    """z at the first knot, and how far it falls to each next one (before softplus)."""

    top: Array
    falls: Array


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class LearningMoment:
    """Where learning stands: information (or PPEM) and spending per owner at each budget."""

    step: int
    steps: int
    gained: Floats
    spent: Floats


@dataclass(frozen=True)
class _Identity:
    """A prior whose virtual price is the number itself: it lays bare the optimal rule's response to m = phi / s."""

    def virtual_price(self, bids: Floats) -> Floats:
        return bids

    def quantile(self, shares: Floats) -> Floats:
        return shares


def learn(
    past_bids: Column, config: LearnConfig, *, progress: Callable[[LearningMoment], None] | None = None
) -> Learned:
    """A rule for ladders from bids of earlier rounds. The bids it will price must not be among them."""
    low, high = config.bid_range
    bids = columns.bids_in_range(past_bids, low, high, column="past bid")
    if bids.size < 10:
        raise InputError(f"learning needs at least 10 past bids, got {bids.size}")
    with jax.enable_x64(True):
        market = _market(bids, config)
        params, state, log_scales = _start(market, config)
        for done in range(0, config.steps, CHUNK):
            ahead = min(CHUNK, config.steps - done)
            (params, state, log_scales), lines = _advance(params, state, log_scales, market, config, ahead)
            if progress is not None:
                gained, spent = (np.asarray(line)[-1] for line in lines)
                progress(LearningMoment(step=done + ahead, steps=config.steps, gained=gained, spent=spent))
        heights = np.asarray(_heights(params)) + float(np.median(np.asarray(log_scales)))
    if not np.isfinite(heights).all():
        raise InputError("learning ran off to infinity: the past bids may all be the same")
    quantiles = np.quantile(bids, np.linspace(0.0, 1.0, 65))
    return Learned(
        knots=tuple(map(float, np.asarray(market.knots))),
        heights=tuple(map(float, np.minimum.accumulate(heights))),
        link=config.link,
        quantiles=tuple(map(float, quantiles)),
        setting=config.setting,
    )


def _market(bids: Floats, config: LearnConfig) -> Market:
    setting = config.setting
    shares = np.sort(setting.share(bids))
    even = np.linspace(0.0, 1.0, 513)
    edges = np.unique(np.concatenate([even, np.quantile(shares, even)]))
    counts, _ = np.histogram(shares, edges)
    mass = counts / bids.size
    below = np.cumsum(mass) - 0.5 * mass
    places = 0.5 * (edges[1:] + edges[:-1])
    width = (setting.high - setting.low) * np.diff(edges)
    charge = mass * (setting.low + (setting.high - setting.low) * places) + width * below
    log_m = np.linspace(-14.0, 6.0, 8001)
    tables = (places, mass, charge, _knots(shares, config), np.array(config.budgets))
    return Market(*map(jnp.asarray, (*tables, log_m, _blurred_response(log_m, setting))))


def _knots(shares: Floats, config: LearnConfig) -> Floats:
    """Half of them at quantiles of past bids, crowding toward the cheap ones, half evenly spread; 0 and 1 always."""
    if config.curve == "logistic":
        return np.array([0.0, 1.0])
    half = max(config.knots // 2, 2)
    spread = np.concatenate([np.quantile(shares, np.linspace(0, 1, half) ** 1.5), np.linspace(0.0, 1.0, half)])
    knots = np.unique(np.concatenate([[0.0], spread, [1.0]]))
    apart = np.concatenate([[True], np.diff(knots) > 1e-3 / config.knots])
    apart[-1] = True
    return np.unique(np.append(knots[apart], 1.0))


def _blurred_response(log_m: Floats, setting: Setting) -> Floats:
    q = Optimal(prior=_Identity(), setting=setting).q(np.exp(log_m), 1.0)
    reach = int(4 * _SMOOTH / (log_m[1] - log_m[0]))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * (log_m[1] - log_m[0]) / _SMOOTH) ** 2)
    return np.convolve(np.pad(q, reach, mode="edge"), kernel / kernel.sum(), mode="valid")


def _heights(params: Params) -> Array:
    return params.top - jnp.concatenate([jnp.zeros(1), jnp.cumsum(jax.nn.softplus(params.falls))])


def _bought(params: Params, log_scale: Array, market: Market, config: LearnConfig) -> tuple[Array, Array]:
    """What is aimed at and what is spent, per owner, at one scale."""
    y = jnp.interp(market.places, market.knots, _heights(params)) + log_scale
    if config.link == "sigmoid":
        q = config.setting.q_max * jax.nn.sigmoid(y)
    else:
        q = jnp.interp(-y, market.log_m, market.response)
    load = jnp.log1p(config.setting.domain_size * q / (1.0 - q))
    load = load if config.contract == ContractName.ON_REPORT else q * load
    gained = q * q if config.objective == "information" else load
    return jnp.vdot(market.mass, gained), jnp.vdot(market.charge, load)


def _held(params: Params, log_scale: Array, budget: Array, market: Market, config: LearnConfig) -> Array:
    """The scale after one Newton step toward spending the budget, never a jump of more than a factor e."""
    spent, rate = jax.value_and_grad(lambda t: _bought(params, t, market, config)[1])(log_scale)
    return log_scale + jnp.clip((budget - spent) / jnp.maximum(rate, 1e-9), -1.0, 1.0)


def _ascent(
    params: Params, log_scales: Array, market: Market, config: LearnConfig
) -> tuple[Array, tuple[Array, Array]]:
    """A function of the params whose gradient is that of ln(information) at fixed budgets, averaged over them."""

    def at(log_scale: Array) -> tuple[Array, Array, Array]:
        gained, spent = _bought(params, log_scale, market, config)
        frozen = jax.lax.stop_gradient(params)
        by_scale = jax.jacfwd(lambda t: jnp.stack(_bought(frozen, t, market, config)))(log_scale)
        price = jax.lax.stop_gradient(by_scale[0] / jnp.maximum(by_scale[1], 1e-9))
        return (gained - price * spent) / jax.lax.stop_gradient(gained), gained, spent

    aims, gained, spent = jax.vmap(at)(log_scales)
    return -aims.mean(), (gained, spent)


Now = tuple[Params, optax.OptState, Array]
"""The curve, what the optimiser remembers, and the logarithms of the scales."""


def _optimiser(config: LearnConfig) -> optax.GradientTransformation:
    return optax.adam(optax.cosine_decay_schedule(config.rate, config.steps, alpha=0.01))


def _start(market: Market, config: LearnConfig) -> Now:
    """A curve that falls by about 5 over the range, with the scales at which it spends each budget."""
    gaps = np.diff(np.asarray(market.knots))
    params = Params(jnp.asarray(0.0), jnp.asarray(np.log(np.expm1(np.maximum(5.0 * gaps, 1e-3)))))
    log_scales = jnp.zeros(len(config.budgets))
    hold = jax.jit(jax.vmap(partial(_held, market=market, config=config), in_axes=(None, 0, 0)))
    for _ in range(40):
        log_scales = hold(params, log_scales, market.budgets)
    return params, _optimiser(config).init(params), log_scales


@partial(jax.jit, static_argnames=("config", "steps"))
def _advance(
    params: Params, state: optax.OptState, log_scales: Array, market: Market, config: LearnConfig, steps: int
) -> tuple[Now, tuple[Array, Array]]:
    def body(now: Now, _: None) -> tuple[Now, tuple[Array, Array]]:
        params, state, log_scales = now
        hold = jax.vmap(partial(_held, market=market, config=config), in_axes=(None, 0, 0))
        for _twice in range(2):
            log_scales = hold(params, log_scales, market.budgets)
        slopes, figures = jax.grad(_ascent, has_aux=True)(params, log_scales, market, config)
        updates, state = _optimiser(config).update(slopes, state)
        return (optax.apply_updates(params, updates), state, log_scales), figures

    return jax.lax.scan(body, (params, state, log_scales), None, length=steps)
