"""What the paper claims, and what the results say of each claim: computed, never typed in.

:mod:`pdqs.experiments.verdicts` says when a claim holds, holds in part or does not.
"""

from __future__ import annotations

import math

import numpy as np

from pdqs.clearing import clear
from pdqs.experiments import populations
from pdqs.experiments.results import Results
from pdqs.experiments.setups import SHIFTS
from pdqs.experiments.verdicts import (
    FIVE,
    LATE,
    MIDDLE,
    NOT_RUN,
    Claim,
    Verdict,
    Where,
    both_forms,
    graded,
    lowest,
    points,
    samples_at,
    share_of,
)
from pdqs.model.query import Count
from pdqs.rounds.presets import gpqm_linear

FLAT = 0.05
"""A change of the mean error by less than this share counts as none."""


def _five_with(npqm: str) -> tuple[str, ...]:
    return (npqm, *FIVE[1:])


def npqm_is_best(results: Results, npqm: str) -> Verdict:
    """NPQM has the lowest mean error of the five."""
    met, total = share_of(results, _five_with(npqm), lowest(npqm), Where())
    if not total:
        return NOT_RUN
    return graded(met / total, f"lowest mean error of the five at {met} of {total} points")


def linear_performs_well(results: Results, npqm: str) -> Verdict:
    """GPQM linear is among the best two of the five."""

    def among_best_two(errors: dict[str, float]) -> bool:
        return sorted(errors.values()).index(errors["gpqm-linear"]) < 2

    met, total = share_of(results, _five_with(npqm), among_best_two, Where())
    if not total:
        return NOT_RUN
    return graded(met / total, f"among the best two of the five at {met} of {total} points")


def better_than_fairquery(results: Results) -> Verdict:
    """The paper's four beat the benchmark at most points."""
    parts, met, total = [], 0, 0
    for name in FIVE[:-1]:
        won, of = share_of(results, (name, "fairquery"), lowest(name), Where())
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
        won, of = share_of(results, (name, "fairquery"), lowest(name), Where(most=MIDDLE - 0.05))
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


def improves(results: Results, mechanism: str) -> Verdict:
    """The error falls on from 0.5n to 0.9n."""
    ratios = _change(results, mechanism)
    if not ratios:
        return NOT_RUN
    falls = sum(ratio < 1.0 - FLAT for ratio in ratios)
    number = (
        f"error at 0.9n over error at 0.5n: median {float(np.median(ratios)):.3f};"
        f" it falls by more than 5 % in {falls} of {len(ratios)} cases"
    )
    return graded(falls / len(ratios), number)


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


def reaches_the_truth(results: Results, npqm: str) -> Verdict:
    """With a sufficient budget the answer is near the truth: a count within 10 %, a median within 5 % of the domain."""
    near, total, worst = 0, 0, 0.0
    for point in points(results):
        found = samples_at(results, point, (npqm,)) if point[3] == LATE else {}
        if found:
            error, is_count = found[npqm].mean_error, point[2] == "count"
            near += error <= (0.10 if is_count else 0.05 * _width(point[1]))
            total += 1
            worst = max(worst, error if is_count else 0.0)
    if not total:
        return NOT_RUN
    number = f"near the truth at 0.9n in {near} of {total} cases; worst count error {worst:.3g} times the truth"
    return graded(near / total, number)


def _width(population: str) -> float:
    numbers = populations.load(population).median_domain.numbers
    return float(numbers[-1] - numbers[0])


def npqm_survives_shifts(results: Results) -> Verdict:
    """NPQM beats FairQuery in the set-ups where bids are normal or training and test differ."""
    met, total = share_of(results, ("npqm", "fairquery"), lowest("npqm"), Where(experiments=SHIFTS))
    if not total:
        return NOT_RUN
    return graded(met / total, f"lower error than FairQuery at {met} of {total} points of set-ups 2 to 4")


def overruns_are_rare(results: Results, npqm: str) -> Verdict:
    """NPQM seldom pays more than the budget."""
    spent, paid, total = 0, 0, 0
    for point in points(results):
        for sample in samples_at(results, point, (npqm,)).values():
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
    Claim("npqm-best", "NPQM is the most accurate of the five on count and median queries", both_forms(npqm_is_best)),
    Claim("linear-well", "GPQM linear also performs well", both_forms(linear_performs_well)),
    Claim("beats-fq", "In most experiments the paper's mechanisms beat FairQuery", better_than_fairquery),
    Claim(
        "exp-log-below",
        "Below 0.5n, GPQM exp and log beat FairQuery in most experiments",
        exp_and_log_lead_below_half,
    ),
    Claim("exp-log-above", "Above 0.5n that advantage becomes less noticeable", exp_and_log_lead_shrinks),
    Claim("npqm-improves", "NPQM keeps improving as the budget grows", both_forms(improves)),
    Claim(
        "linear-improves",
        "GPQM linear keeps improving as the budget grows",
        lambda results: improves(results, "gpqm-linear"),
    ),
    Claim("npqm-truth", "With a sufficient budget NPQM approximates the ground truth", both_forms(reaches_the_truth)),
    Claim("others-flat", "GPQM exp, log and FairQuery do not improve past 0.5n", others_are_flat),
    Claim("shifts", "NPQM also performs well when training and test bids differ", npqm_survives_shifts),
    Claim("overruns", "NPQM's budget overruns are rare", both_forms(overruns_are_rare)),
    Claim("gpqm-budget", "GPQM stays within the budget by construction", gpqm_keeps_the_budget),
    Claim("gpqm-truthful", "GPQM is truthful (incentive compatible)", gpqm_is_truthful),
    Claim("epsilon", "A report at q costs eps = ln((1 + q)/(1 - q)), whatever the query", privacy_is_as_printed),
)


def judge(results: Results) -> list[tuple[Claim, Verdict]]:
    """Every claim with its verdict."""
    return [(claim, claim.judge(results)) for claim in CLAIMS]
