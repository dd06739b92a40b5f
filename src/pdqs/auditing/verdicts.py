"""What terms promise, whether it was kept, and the sentences that say what was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from pdqs.auditing.budget import Budget
from pdqs.auditing.coverage import JUDGED, Coverage, PatternFinding
from pdqs.auditing.false_names import FalseNames
from pdqs.auditing.markets import Market
from pdqs.auditing.poisoning import Poisoning
from pdqs.auditing.privacy import Privacy
from pdqs.auditing.rationality import Rationality
from pdqs.auditing.truthfulness import Truthfulness
from pdqs.present.text import in_digits
from pdqs.rounds.terms import Terms

MOST_BIDS_SHOWN = 30

UNPROMISED = (
    "noise pays the same: an owner who sends noise is paid like an honest one, and no mechanism can tell;"
    " interval_if_dishonest says what still holds",
    "a bid is seen: the broker reads it, and it may tell something of the value; eps is that of the report",
    "a second name pays: enrolment must be checked outside the mechanism",
)
"""What no mechanism promises, said wherever promises are listed (section 11 of docs/theory)."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What terms promise. Anything measured beyond it is a figure, not a verdict."""

    truthful: bool
    rational: bool
    budget_ex_ante: bool
    budget_ex_post: bool
    private: bool
    covers: bool


def claims(terms: Terms) -> Claims:
    """The promises of some terms.

    ======================================  =====  =====  ================  ===============  =====  =====
    terms                                   IC     IR     BF for the bids   BF coin by coin  LDP    COV
    ======================================  =====  =====  ================  ===============  =====  =====
    ladder or greedy, on-report             yes    yes    yes               yes              yes    yes
    ladder or greedy, on-selection          yes    yes    yes               no               yes    yes
    fairquery                               yes    yes    yes               yes              yes    yes
    open, as the paper runs NPQM            yes    yes    yes               no               yes    yes
    open, otherwise                         yes    yes    no                no               yes    yes
    single-minded                           yes    yes    yes               yes              yes    yes
    fallah                                  yes    yes    no                no               yes    yes
    ======================================  =====  =====  ================  ===============  =====  =====

    The paper claims IC, IR and LDP of each of its mechanisms and BF of the *expected* payments. LDP is a promise
    about all that the broker sees, the payment included. ``open`` on terms of one's own buys whatever comes, and says
    so; ``fallah`` promises the budget on average, if bids follow the prior. Whoever prints a 95 % interval promises
    that it covers (COV): it does not say "if prices tell nothing", so it is judged where they do.

    >>> import pdqs
    >>> claims(pdqs.Terms(query=pdqs.Count(), budget=1.0, rule="linear", clearing="open")).budget_ex_ante
    False
    """
    as_printed = not terms.contract_terms.hides_coin and terms.priced_as_binary
    return Claims(
        truthful=True,
        rational=True,
        budget_ex_ante=terms.clearing_facts.keeps_budget or as_printed,
        budget_ex_post=terms.keeps_budget,
        private=True,
        covers=True,
    )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """One promise: whether the terms make it, whether it was kept, and what was measured, in one sentence."""

    code: str
    title: str
    claimed: bool
    kept: bool
    measured: str
    short: str
    on_average_only: bool = False

    @property
    def verdict(self) -> str:
        """``kept``, ``on average`` (kept as promised, and no more was promised), ``BROKEN``, or ``not promised``."""
        if self.kept:
            return "on average" if self.on_average_only else "kept"
        return "BROKEN" if self.claimed else "not promised"


def truthful_promise(found: Truthfulness, claimed: Claims) -> Promise:
    tried = f"{found.misreports:,} lies of {found.owners:,} owners in {len(found.by_market)} markets"
    own = found.by_market[0]
    if found.kept:
        measured = f"{tried}: the best gains {max(found.worst.gain_micros, 0.0):.2f} millionths, all of it rounding"
        short = f"{max(found.worst.gain_micros, 0.0):.1f} millionths"
    else:
        gain = "gains" if found.gainers == 1 else "gain"
        measured = (
            f"{tried}: {found.gainers:,} {gain} ({own.gainers} of the {own.owners} tried of {own.market}), at most"
            f" {found.worst.gain_micros / 1e6:.4g} ({in_digits(100 * found.worst_share, 2)}% of the mean payment)"
        )
        short = f"{found.gainers} of {found.owners} gain"
    return Promise(
        code="IC", title="truthful", claimed=claimed.truthful, kept=found.kept, measured=measured, short=short
    )


def rational_promise(found: Rationality, claimed: Claims) -> Promise:
    worst = min(found.worst_ex_ante_micros, found.worst_ex_post_micros)
    measured = f"{found.owners:,} honest owners: "
    measured += "nobody is paid below her price" if found.kept else f"{found.worst_case} loses {-worst / 1e6:.6f}"
    if found.underpaid_share:
        measured += f"; {found.underpaid_share:.0%} of those bought get less than price times eps"
    short = "no loss" if found.kept else f"loses {-worst / 1e6:.3g}"
    return Promise(
        code="IR", title="rational", claimed=claimed.rational, kept=found.kept, measured=measured, short=short
    )


def budget_promise(found: Budget, claimed: Claims) -> Promise:
    kept = found.kept_ex_ante and (found.kept_ex_post or not claimed.budget_ex_post)
    low, high = found.chance_interval
    if found.kept_ex_ante:
        measured = f"{found.markets} markets: at most {found.worst_share:.4%} of a budget promised"
    else:
        measured = f"{found.passed} of {found.markets} markets over budget, by up to {found.worst_share - 1:.1%}"
    if found.kept_ex_post:
        measured += f"; none of {found.rounds:,} rounds cost more"
    else:
        measured += f"; {found.chance:.0%} of rounds cost more ({low:.0%} to {high:.0%})"
    short = "always" if found.kept_ex_post and found.kept_ex_ante else f"{found.chance:.0%} over"
    if not found.kept_ex_ante:
        short = f"{found.passed} of {found.markets} over"
    return Promise(
        code="BF",
        title="within budget",
        claimed=claimed.budget_ex_ante,
        kept=kept,
        measured=measured,
        short=short,
        on_average_only=not (found.kept_ex_post and claimed.budget_ex_post),
    )


def privacy_promise(found: Privacy, claimed: Claims, *, by_lot: bool) -> Promise:
    worst = found.worst
    if worst is None:
        measured = short = "nothing was bought, so nothing is lost"
    elif found.kept:
        most = max(found.exposures, key=lambda each: each.stated)
        measured = f"report and payment together lose eps {most.joint:.4f} where {most.stated:.4f} is stated"
        measured += f", exactly; draws alone prove {most.drawn:.2f}"
        if by_lot:
            measured += "; who is asked is drawn in public and before any value is read"
        short = "as stated"
    elif math.isinf(worst.joint):
        measured = f"a report alone loses eps {worst.report:.4g}, but the payment tells the broker the coin: infinite"
        short = "pay tells coin"
    else:
        measured = f"eps {max(worst.joint, worst.drawn):.6g} is lost where {worst.stated:.6g} is stated"
        short = f"eps +{max(worst.joint, worst.drawn) / worst.stated - 1:.1%}"
    return Promise(
        code="LDP", title="private", claimed=claimed.private, kept=found.kept, measured=measured, short=short
    )


def coverage_promise(found: Coverage, claimed: Claims) -> Promise:
    worst = found.worst
    rounds = worst.rounds
    if not any(each.answered for each in found.found):
        measured = short = "no answer was given, so none was wrong"
    else:
        each = "; ".join(f"{JUDGED[one.pattern]} {_held(one)}" for one in found.found)
        measured = f"{rounds:,} rounds of {found.owners:,} owners each: {each}"
        short = f"{worst.share:.0%} at worst"
    return Promise(code="COV", title="covers", claimed=claimed.covers, kept=found.kept, measured=measured, short=short)


def _held(one: PatternFinding) -> str:
    """The share of the intervals given that held, and its own interval."""
    if not one.answered:
        return "(no answer)"
    low, high = one.interval
    told = "" if one.answered == one.rounds else f", {one.rounds - one.answered} without an answer"
    return f"{one.share:.1%} ({low:.1%} to {high:.1%}{told})"


def describe_names(found: FalseNames) -> str:
    """The gain of several names as a sentence."""
    share = found.most_micros / max(found.mean_payment_micros, 1.0)
    if found.most_micros <= 1.0:
        return f"none of {found.owners} owners gains by enrolling {found.names} times"
    return (
        f"an owner at price {found.price:.4g} gains {found.most_micros / 1e6:.4g}"
        f" ({in_digits(100 * share, 2)}% of the mean payment) by enrolling {found.names} times"
    )


def describe_liars(found: Poisoning) -> str:
    """The pull of some liars as a sentence."""
    told = f"{found.liars} of them move the answer by {abs(found.shift):.4g} where ± {found.half_width:.4g} is printed"
    if not found.answered:
        return f"no answer was given in {found.rounds} rounds, so there was nothing to move"
    held = f"the interval holds in {found.held}, the one for {found.share:.0%} dishonest in {found.held_widened}"
    return f"{told} ({found.attack}); {held} of {found.answered} rounds"


def describe_market(market: Market) -> str:
    """A market that can be typed again: its bids if they are few, and its budget."""
    drawn = f", draws={market.draws}" if market.draws else ""
    if len(market) > MOST_BIDS_SHOWN:
        return f"{market.name}, budget {market.budget:g}{drawn}"
    return f"bids ({', '.join(f'{bid:.6g}' for bid in market.bids)}), budget {market.budget:g}{drawn}"
