"""The five promises of a mechanism, measured in a second or two (`pdqs audit` measures them in earnest).

IC   no lie gains: owners of a market of 60 bid otherwise, and are no better off than rounding makes them.
IR   nobody loses: every owner is paid at least her price for what the terms say she sells, on whole micro-units.
BF   the budget holds: what is offered, and what is paid in every round that was run. A contract that pays by the coin
     ("on-selection") promises it on average only, as the audit has it: what is offered, not what is paid.
LDP  the broker learns no more than stated: the payment does not show the coin, and the loss stated is the true one.
COV  the interval covers: not so few of the rounds' intervals hold the truth that chance cannot explain it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.auditing.bounds import upper_bound
from pdqs.auditing.coverage import PROMISED, holds
from pdqs.auditing.mechanism import SHIPPED
from pdqs.auditing.temptation import Temptation
from pdqs.clearing import clear
from pdqs.model.arrays import Floats
from pdqs.model.money import MICROS_PER_UNIT
from pdqs.model.names import ContractName
from pdqs.privacy.loss import epsilon
from pdqs.rounds.terms import Terms
from pdqs.trade import Trade

PROBED_OWNERS = 60
DRAWS = 1
"""The seed of the public draws of that small market: nobody may gain given them."""

FALSE_ALARM = 1e-3
"""The chance that an interval which covers 94 times in 100 is accused by one set of rounds."""

IN_WORDS = {
    "IC": "no lie gains",
    "IR": "nobody loses",
    "BF": "the budget holds",
    "LDP": "the broker learns no more than stated",
    "COV": "the interval covers",
}
"""What each promise says, to a newcomer."""

_ULPS = 2.0**-50


@final
@dataclass(frozen=True, slots=True)
class Promise:
    """Whether one promise was kept wherever we looked, and what was found; ``on_average`` if only so."""

    name: str
    kept: bool
    found: str
    on_average: bool = False

    def __str__(self) -> str:
        """Its name, as dashes if it was broken, in brackets if it was kept on average."""
        return (f"({self.name})" if self.on_average else self.name) if self.kept else "-" * len(self.name)


def measured(terms: Terms, rounds: Sequence[Trade], truth: float) -> tuple[Promise, ...]:
    """IC, IR, BF, LDP and COV of these terms, as far as these rounds and a few lies can tell."""
    return (
        truthful(terms, len(rounds[0].offers)),
        rational(rounds[0]),
        within_budget(rounds),
        private(rounds[0]),
        covering(rounds, truth),
    )


def truthful(terms: Terms, owners: int) -> Promise:
    """Lies told to a small market with the same money a head, and with too little for its last offers."""
    bids = np.linspace(*terms.bid_range, 2 * PROBED_OWNERS + 1)[1::2]
    usual = dataclasses.replace(terms, budget=terms.budget * PROBED_OWNERS / owners)
    # A stop can be gamed only where it bites, and money left over means that it did not.
    tight = dataclasses.replace(usual, budget=0.95 * clear(bids, usual, draws=DRAWS).spent)
    paying = [lie.gain_micros for market in (usual, tight) for lie in _temptations(bids, market) if lie.gains]
    if paying:
        return Promise("IC", False, f"a lie gains {max(paying) / MICROS_PER_UNIT:.3f}")
    return Promise("IC", True, "no lie tried gains anything")


def _temptations(bids: Floats, terms: Terms) -> Iterator[Temptation]:
    """What each of some lies brings, to owners who stand where a lie is likeliest to pay."""
    offers = clear(bids, terms, draws=DRAWS)
    winners = np.flatnonzero(offers.q > 0)
    margin = int(winners[-1]) if winners.size else 0
    low, high = terms.bid_range
    hair = 1e-6 * (high - low)
    suspects = {0, margin // 2, margin, min(margin + 1, bids.size - 1), min(margin + 6, bids.size - 1), bids.size - 1}
    for owner in sorted(suspects):
        price = float(bids[owner])
        for lie in (low, 0.5 * (low + price), bids[margin] - hair, bids[margin] + hair, 0.5 * (price + high)):
            yield SHIPPED.temptation(bids, owner, min(max(float(lie), low), high), terms, DRAWS)


def rational(done: Trade) -> Promise:
    """Every owner's price for her load, rounded up to micro-units, against what she is paid."""
    offers = done.offers
    costs = offers.bids * done.terms.setting.load(offers.q) * MICROS_PER_UNIT
    short = np.ceil(costs * (1.0 - _ULPS)).astype(np.int64) - offers.payment_micros
    losers = int(np.count_nonzero(short > 0))
    if losers:
        return Promise("IR", False, f"{losers:,} owners lose, the worst {short.max() / MICROS_PER_UNIT:.3f}")
    return Promise("IR", True, "no owner loses")


def within_budget(rounds: Sequence[Trade]) -> Promise:
    """What was offered and what was paid, against the budget."""
    over = sum(not done.payments.within_budget for done in rounds)
    offered = max(done.offers.spent_micros for done in rounds)
    most = max(offered, *(done.payments.total_micros for done in rounds))
    budget = rounds[0].terms.budget_micros
    found = f"within budget in all of {len(rounds)} rounds"
    if most > budget:
        found = f"over budget in {over} of {len(rounds)} rounds, by up to {most / budget - 1:.1%}"
    if rounds[0].terms.contract == ContractName.ON_SELECTION and offered <= budget:
        return Promise("BF", True, f"on average: {found}", on_average=True)
    return Promise("BF", most <= budget, found)


def private(done: Trade) -> Promise:
    """Whether an owner's payment depends on her coin, and whether the loss her offer states is the one she bears.

    A report *priced* at a smaller loss than it states, as FairQuery's are beyond two values, breaks IR, not LDP.
    """
    offers = done.offers
    bought = offers.q > 0
    if bool((done.payments.micros != offers.payment_micros)[bought].any()):
        return Promise("LDP", False, "the payment shows the coin: no epsilon holds")
    true = epsilon(offers.q, offers.question.kappa)
    worst = int(np.argmax(true - offers.epsilon))
    if true[worst] > offers.epsilon[worst] * (1.0 + 1e-9):
        return Promise("LDP", False, f"epsilon is {true[worst]:.2f} where {offers.epsilon[worst]:.2f} is stated")
    return Promise("LDP", True, f"epsilon at most {offers.epsilon.max():.2f}, whatever is paid")


def covering(rounds: Sequence[Trade], truth: float) -> Promise:
    """How many of the intervals given hold the truth, against the exact binomial bound."""
    given = [done.answer.interval for done in rounds if done.answer.value is not None]
    held = sum(holds(interval, truth) for interval in given)
    kept = not given or upper_bound(held, len(given), FALSE_ALARM) >= PROMISED
    return Promise("COV", kept, f"the interval held the truth in {held} of {len(given)} rounds")
