"""What the paper claims, and what the results say of each claim: computed, never typed in.

A *point* is one population, kind of query and budget. A claim about most or all points *holds* from ``HOLDS`` of them,
holds *in part* from ``IN_PART`` of them, and does not hold below; each verdict comes with the number that says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from pdqs.clearing import clear
from pdqs.experiments.results import Results, Sample
from pdqs.experiments.setups import SHIFTS
from pdqs.presets import gpqm_linear
from pdqs.query import Count

HOLDS, IN_PART = 0.95, 0.5
FIVE = ("npqm", "gpqm-linear", "gpqm-exp", "gpqm-log", "fairquery")
MAIN = ("count", "median")
MIDDLE, LATE = 0.5, 0.9
FLAT = 0.05
"""A change of the mean error by less than this share counts as none."""


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """holds, holds in part, does not hold, or not run; and the number that says so."""

    verdict: str
    number: str


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper in our words, and how it is judged."""

    name: str
    text: str
    judge: Callable[[Results], Verdict]


NOT_RUN = Verdict("not run", "the cells that this claim needs are not among the results")

Point = tuple[str, str, str, float]


def points(results: Results, experiments: tuple[str, ...] = MAIN) -> Iterator[Point]:
    """Every point of these experiments."""
    for experiment in results.plan.experiments:
        if experiment.name in experiments:
            for population in experiment.populations:
                for kind in experiment.kinds:
                    for level in experiment.levels:
                        yield experiment.name, population, kind, level


def samples_at(results: Results, point: Point, mechanisms: tuple[str, ...]) -> dict[str, Sample]:
    """The mechanisms' rounds at a point; empty unless all were run."""
    experiment, population, kind, level = point
    found = {name: results.at(experiment, population, kind, name, level) for name in mechanisms}
    return {name: sample for name, sample in found.items() if sample is not None} if all(found.values()) else {}


def graded(share: float, number: str, *, holds: float = HOLDS, in_part: float = IN_PART) -> Verdict:
    """A verdict from a share of points.

    >>> graded(0.7, "70 %").verdict
    'holds in part'
    """
    if share >= holds:
        return Verdict("holds", number)
    return Verdict("holds in part" if share >= in_part else "does not hold", number)


@final
@dataclass(frozen=True, slots=True)
class Where:
    """Which points count: experiments and a span of budgets."""

    experiments: tuple[str, ...] = MAIN
    least: float = 0.0
    most: float = 1.0


def _share(
    results: Results, mechanisms: tuple[str, ...], wins: Callable[[dict[str, float]], bool], where: Where
) -> tuple[int, int]:
    """At how many points the mean errors satisfy ``wins``, and of how many."""
    met = total = 0
    for point in points(results, where.experiments):
        found = samples_at(results, point, mechanisms) if where.least <= point[3] <= where.most else {}
        if found:
            total += 1
            met += wins({name: sample.mean_error for name, sample in found.items()})
    return met, total


def _lowest(name: str) -> Callable[[dict[str, float]], bool]:
    return lambda errors: errors[name] <= min(errors.values())


def npqm_is_best(results: Results) -> Verdict:
    """NPQM has the lowest mean error of the five."""
    met, total = _share(results, FIVE, _lowest("npqm"), Where())
    if not total:
        return NOT_RUN
    number = f"lowest mean error of the five at {met} of {total} points"
    others = tuple("npqm-released" if name == "npqm" else name for name in FIVE)
    again, of = _share(results, others, _lowest("npqm-released"), Where())
    if of:
        number += f" (as released: {again} of {of})"
    return graded(met / total, number)


def linear_performs_well(results: Results) -> Verdict:
    """GPQM linear is among the best two of the five."""
    met, total = _share(results, FIVE, lambda errors: sorted(errors.values()).index(errors["gpqm-linear"]) < 2, Where())
    if not total:
        return NOT_RUN
    return graded(met / total, f"among the best two of the five at {met} of {total} points")


def better_than_fairquery(results: Results) -> Verdict:
    """The paper's four beat the benchmark at most points."""
    parts, met, total = [], 0, 0
    for name in FIVE[:-1]:
        won, of = _share(results, (name, "fairquery"), _lowest(name), Where())
        if of:
            parts.append(f"{name} at {won} of {of}")
            met, total = met + won, total + of
    if not total:
        return NOT_RUN
    return graded(met / total, f"lower error than FairQuery: {', '.join(parts)} points", holds=0.75)


def exp_and_log_lead_below_half(results: Results) -> Verdict:
    """exp and log beat FairQuery at most points below 0.5n."""
    met = total = 0
    for name in ("gpqm-exp", "gpqm-log"):
        won, of = _share(results, (name, "fairquery"), _lowest(name), Where(most=MIDDLE - 0.05))
        met, total = met + won, total + of
    if not total:
        return NOT_RUN
    return graded(met / total, f"lower error than FairQuery at {met} of {total} points below 0.5n", holds=0.75)


def exp_and_log_lead_shrinks(results: Results) -> Verdict:
    """The lead of exp and log over FairQuery is smaller above 0.5n than below."""

    def lead(where: Where) -> float:
        logs = [
            math.log(found["fairquery"].mean_error / found[name].mean_error)
            for name in ("gpqm-exp", "gpqm-log")
            for point in points(results)
            if where.least <= point[3] <= where.most and (found := samples_at(results, point, (name, "fairquery")))
        ]
        return math.exp(float(np.mean(logs))) if logs else math.nan

    below, above = lead(Where(most=MIDDLE - 0.05)), lead(Where(least=MIDDLE + 0.05))
    if math.isnan(below + above):
        return NOT_RUN
    number = f"FairQuery's error over theirs, geometric mean: {below:.3f} below 0.5n, {above:.3f} above"
    return Verdict("holds" if above < below else "does not hold", number)


def _change(results: Results, mechanism: str) -> list[float]:
    """error(0.9n) / error(0.5n) of each population and kind."""
    ratios = []
    for experiment, population, kind, level in points(results):
        if level == LATE:
            late = results.at(experiment, population, kind, mechanism, LATE)
            middle = results.at(experiment, population, kind, mechanism, MIDDLE)
            if late is not None and middle is not None:
                ratios.append(late.mean_error / max(middle.mean_error, 1e-12))
    return ratios


def _improves(mechanism: str) -> Callable[[Results], Verdict]:
    def judge(results: Results) -> Verdict:
        ratios = _change(results, mechanism)
        if not ratios:
            return NOT_RUN
        falls = sum(ratio < 1.0 - FLAT for ratio in ratios)
        middle = float(np.median(ratios))
        number = (
            f"error at 0.9n over error at 0.5n: median {middle:.3f};"
            f" it falls by more than 5 % in {falls} of {len(ratios)} cases"
        )
        return graded(falls / len(ratios), number)

    return judge


def others_are_flat(results: Results) -> Verdict:
    """exp, log and FairQuery gain nothing past 0.5n."""
    changes = {name: _change(results, name) for name in ("gpqm-exp", "gpqm-log", "fairquery")}
    every = [ratio for ratios in changes.values() for ratio in ratios]
    if not every:
        return NOT_RUN
    flat = sum(ratio > 1.0 - FLAT for ratio in every)
    medians = ", ".join(f"{name} {float(np.median(ratios)):.3f}" for name, ratios in changes.items() if ratios)
    number = f"error at 0.9n over error at 0.5n, medians: {medians}; no gain of 5 % in {flat} of {len(every)} cases"
    return graded(flat / len(every), number)


def npqm_reaches_the_truth(results: Results) -> Verdict:
    """With a sufficient budget NPQM is near the truth: a count within 10 %, a median within 5 % of the domain."""
    near, total, worst = 0, 0, 0.0
    for point in points(results):
        found = samples_at(results, point, ("npqm",)) if point[3] == LATE else {}
        if found:
            share = found["npqm"].mean_error
            if point[2] == "median":
                share /= 0.5 * _width(point[1])  # 5 % of the domain's width weighs as 10 % of a count
            near, total, worst = near + (share <= 0.10), total + 1, max(worst, share if point[2] == "count" else 0.0)
    if not total:
        return NOT_RUN
    number = f"near the truth at 0.9n in {near} of {total} cases; worst count error {worst:.3g} times the truth"
    return graded(near / total, number)


def _width(population: str) -> float:
    from pdqs import populations

    numbers = populations.load(population).median_domain.numbers
    return float(numbers[-1] - numbers[0])


def npqm_survives_shifts(results: Results) -> Verdict:
    """NPQM beats FairQuery in the set-ups where bids are normal or training and test differ."""
    met, total = _share(results, ("npqm", "fairquery"), _lowest("npqm"), Where(experiments=SHIFTS))
    if not total:
        return NOT_RUN
    return graded(met / total, f"lower error than FairQuery at {met} of {total} points of set-ups 2 to 4")


def overruns_are_rare(results: Results) -> Verdict:
    """NPQM seldom pays more than the budget."""
    spent, paid, total = 0, 0, 0
    for point in points(results):
        found = samples_at(results, point, ("npqm",))
        if found:
            sample = found["npqm"]
            spent += int((sample["spent"] > sample["budget"]).sum())
            paid += int((sample["paid"] > sample["budget"]).sum())
            total += sample.error.size
    if not total:
        return NOT_RUN
    number = (
        f"expected payments pass the budget in {spent / total:.1%} of {total:,} queries,"
        f" payments made in {paid / total:.1%}"
    )
    return graded(1.0 - paid / total, number, holds=0.95, in_part=0.80)


def gpqm_keeps_the_budget(results: Results) -> Verdict:
    """GPQM never spends more than the budget: true of expected payments; whoever is chosen is paid P/q."""
    spent, paid, total = 0, 0, 0
    for point in points(results):
        for sample in samples_at(results, point, ("gpqm-linear", "gpqm-exp", "gpqm-log")).values():
            spent += int((sample["spent"] > sample["budget"]).sum())
            paid += int((sample["paid"] > sample["budget"]).sum())
            total += sample.error.size
    if not total:
        return NOT_RUN
    number = f"expected payments pass the budget in {spent} of {total:,} queries, payments made in {paid / total:.1%}"
    if spent:
        return Verdict("does not hold", number)
    return Verdict("holds in part" if paid else "holds", number)


def gpqm_is_truthful(results: Results) -> Verdict:
    """In a small market (bids (i + 1/2)/200, budget 20), count the owners whom a lie makes better off."""
    del results  # the mechanism itself is asked, not the run
    honest = (np.arange(200) + 0.5) / 200
    terms = gpqm_linear(query=Count(), budget=20.0)
    offers = clear(honest, terms)
    load = terms.setting.load
    utility = offers.payment - honest * load(offers.q)
    stop = honest[offers.q > 0].max()
    gains = np.zeros(honest.size)
    for owner, price in enumerate(honest):
        for lie in (stop, 0.9 * stop, 0.5 * stop, min(price + 0.01, 1.0)):
            bids = honest.copy()
            bids[owner] = lie
            told = clear(bids, terms)
            gains[owner] = max(gains[owner], told.payment[owner] - price * float(load(told.q[owner])) - utility[owner])
    liars = int((gains > 1e-5).sum())
    number = (
        f"of 200 owners {liars} gain by lying, the most {gains.max():.2f}, where the mean payment of the"
        f" {offers.bought} bought is {offers.spent / offers.bought:.2f}"
    )
    return Verdict("does not hold" if liars else "holds", number)


def privacy_is_as_printed(results: Results) -> Verdict:
    """eps = ln((1 + q)/(1 - q)) is what a report costs: true of two values only."""
    ratios: dict[str, list[float]] = {"count": [], "median": []}
    for point in points(results):
        found = samples_at(results, point, ("gpqm-linear",))
        if found:
            sample = found["gpqm-linear"]
            ratios[point[2]].append(float(sample["epsilon"].mean() / sample["epsilon_claimed"].mean()))
    if not ratios["count"] or not ratios["median"]:
        return NOT_RUN
    count, median = float(np.mean(ratios["count"])), float(np.mean(ratios["median"]))
    number = f"true mean eps over the printed one (GPQM linear): {count:.3f} on counts, {median:.3f} on medians"
    kept = (count < 1.0 + 1e-6, median < 1.0 + 1e-6)
    return Verdict("holds" if all(kept) else "holds in part" if any(kept) else "does not hold", number)


CLAIMS = (
    Claim("npqm-best", "NPQM is the most accurate of the five on count and median queries", npqm_is_best),
    Claim("linear-well", "GPQM linear also performs well", linear_performs_well),
    Claim("beats-fq", "In most experiments the paper's mechanisms beat FairQuery", better_than_fairquery),
    Claim(
        "exp-log-below",
        "Below 0.5n, GPQM exp and log beat FairQuery in most experiments",
        exp_and_log_lead_below_half,
    ),
    Claim("exp-log-above", "Above 0.5n that advantage becomes less noticeable", exp_and_log_lead_shrinks),
    Claim("npqm-improves", "NPQM keeps improving as the budget grows", _improves("npqm")),
    Claim("linear-improves", "GPQM linear keeps improving as the budget grows", _improves("gpqm-linear")),
    Claim("npqm-truth", "With a sufficient budget NPQM approximates the ground truth", npqm_reaches_the_truth),
    Claim("others-flat", "GPQM exp, log and FairQuery do not improve past 0.5n", others_are_flat),
    Claim("shifts", "NPQM also performs well when training and test bids differ", npqm_survives_shifts),
    Claim("overruns", "NPQM's budget overruns are rare", overruns_are_rare),
    Claim("gpqm-budget", "GPQM stays within the budget by construction", gpqm_keeps_the_budget),
    Claim("gpqm-truthful", "GPQM is truthful (incentive compatible)", gpqm_is_truthful),
    Claim("epsilon", "A report at q costs eps = ln((1 + q)/(1 - q)), whatever the query", privacy_is_as_printed),
)


def judge(results: Results) -> list[tuple[Claim, Verdict]]:
    """Every claim with its verdict."""
    return [(claim, claim.judge(results)) for claim in CLAIMS]
