"""The paper's claims about accuracy, each a function from results to a verdict with its number.

No accuracy is judged without what it cost beside it.
"""

from __future__ import annotations

import math

import numpy as np

from pdqs.experiments.measures import near
from pdqs.experiments.overruns import OTHER_BIDS, overruns_of, spending
from pdqs.experiments.results import Results
from pdqs.experiments.verdicts import (
    EARLY,
    FIVE,
    LATE,
    MIDDLE,
    NOT_RUN,
    Verdict,
    Where,
    errors_at,
    graded,
    lowest,
    points,
    samples_at,
    share_of,
)

FLAT = 0.05
"""A change of the mean error by less than this share counts as none."""


def _five_with(npqm: str) -> tuple[str, ...]:
    return (npqm, *FIVE[1:])


def npqm_is_best(results: Results, npqm: str) -> Verdict:
    """NPQM has the lowest mean error of the five."""
    met, total = share_of(results, _five_with(npqm), lowest(npqm), Where())
    if not total:
        return NOT_RUN
    number = f"lowest mean error of the five at {met} of {total} points; {spending(results, npqm)}"
    return graded(met / total, number)


def linear_performs_well(results: Results, npqm: str) -> Verdict:
    """GPQM linear is among the best two of the five."""

    def among_best_two(errors: dict[str, float]) -> bool:
        return sorted(errors.values()).index(errors["gpqm-linear"]) < 2

    met, total = share_of(results, _five_with(npqm), among_best_two, Where())
    if not total:
        return NOT_RUN
    return graded(met / total, f"among the best two of the five at {met} of {total} points")


def beats_fairquery(results: Results, mechanism: str) -> Verdict:
    """The mechanism has a lower error than the benchmark at most points."""
    met, total = share_of(results, (mechanism, "fairquery"), lowest(mechanism), Where())
    if not total:
        return NOT_RUN
    number = f"lower error than FairQuery at {met} of {total} points; {spending(results, mechanism)}"
    return graded(met / total, number, holds=0.75)


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
            math.log(found["fairquery"] / found[name])
            for name in ("gpqm-exp", "gpqm-log")
            for point in points(results)
            if where.least <= point[3] <= where.most and (found := errors_at(results, point, (name, "fairquery")))
            if min(found.values()) > 0
        ]
        return math.exp(float(np.mean(logs))) if logs else math.nan

    below, above = lead(Where(most=MIDDLE - 0.05)), lead(Where(least=MIDDLE + 0.05))
    if math.isnan(below + above):
        return NOT_RUN
    number = f"FairQuery's error over theirs, geometric mean: {below:.3f} below 0.5n, {above:.3f} above"
    return Verdict("holds" if above < below else "does not hold", number)


def _change(results: Results, mechanism: str) -> list[float]:
    """error(0.9n) / error(0.5n) of each population and kind; infinite where there is no answer at 0.9n."""
    ratios = []
    for experiment, population, kind, level in points(results):
        if level == LATE:
            late = errors_at(results, (experiment, population, kind, LATE), (mechanism,))
            middle = errors_at(results, (experiment, population, kind, MIDDLE), (mechanism,))
            if late and middle:
                both_none = math.isinf(late[mechanism]) or math.isinf(middle[mechanism])
                ratios.append(math.inf if both_none else late[mechanism] / max(middle[mechanism], 1e-12))
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


def reaches_the_truth(results: Results, mechanism: str) -> Verdict:
    """With a sufficient budget the answer is near the truth: a count within 10 %, a median within 5 % of the domain."""
    met, total, worst = 0, 0, 0.0
    for point in points(results):
        found = errors_at(results, point, (mechanism,)) if point[3] == LATE else {}
        if found:
            error, is_count = found[mechanism], point[2] == "count"
            met += error <= near(point)
            total += 1
            worst = max(worst, error if is_count and math.isfinite(error) else 0.0)
    if not total:
        return NOT_RUN
    number = (
        f"near the truth at 0.9n in {met} of {total} cases; worst count error {worst:.3g} times the truth;"
        f" {spending(results, mechanism, LATE)}"
    )
    return graded(met / total, number)


def survives_shifts(results: Results, npqm: str) -> Verdict:
    """NPQM beats FairQuery in the set-ups where bids are normal or training and test differ; what it spent is said."""
    parts, met, total = [], 0, 0
    for name in OTHER_BIDS:
        won, of = share_of(results, (npqm, "fairquery"), lowest(npqm), Where(experiments=(name,)))
        if of:
            parts.append(f"{name} {won} of {of}")
            met, total = met + won, total + of
    if not total:
        return NOT_RUN
    spent = overruns_of(results, npqm, experiments=OTHER_BIDS)
    bought = (
        "it buys nothing"
        if spent is None
        else (
            f"it spends more than the budget on average at {spent.over} of {spent.points} points with an answer,"
            f" {spent.worst:.2f} budgets in the worst round"
        )
    )
    return graded(met / total, f"lower error than FairQuery at {met} of {total} points ({', '.join(parts)}); {bought}")


def advantage_grows(results: Results, mechanism: str) -> Verdict:
    """The lead over the other four (the best of exp, log and FairQuery) is larger at 0.9n than at 0.1n."""

    def lead(level: float) -> float:
        rivals = FIVE[2:]
        logs = [
            math.log(min(found[name] for name in rivals) / found[mechanism])
            for point in points(results)
            if point[3] == level and (found := errors_at(results, point, (mechanism, *rivals)))
            if 0 < found[mechanism] < math.inf and min(found[name] for name in rivals) > 0
        ]
        return math.exp(float(np.mean(logs))) if logs else math.nan

    early, late = lead(EARLY), lead(LATE)
    if math.isnan(early + late):
        return NOT_RUN
    number = (
        f"error of the best of exp, log and FairQuery over its own, geometric mean: {early:.2f} at 0.1n,"
        f" {late:.2f} at 0.9n; {spending(results, mechanism, LATE)} at 0.9n"
    )
    return Verdict("holds" if late > early else "does not hold", number)


def function_matters(results: Results) -> Verdict:
    """GPQM's performance relies on the choice of the allocation function."""
    rules = ("gpqm-linear", "gpqm-exp", "gpqm-log")
    found = [errors_at(results, point, rules) for point in points(results)]
    ratios = [max(each.values()) / min(each.values()) for each in found if each and min(each.values()) > 0]
    if not ratios:
        return NOT_RUN
    apart = sum(ratio > 1.0 + FLAT for ratio in ratios)
    number = (
        f"largest over smallest error of linear, exp and log: median {float(np.median(ratios)):.2f};"
        f" more than 5 % apart at {apart} of {len(ratios)} points"
    )
    return graded(apart / len(ratios), number)


def fairquery_pays_for_noise(results: Results) -> Verdict:
    """FairQuery pays owners whose report is not the truth: everyone it buys from, whatever the coin said."""
    shares = [
        1.0 - float(np.tanh(sample["epsilon_claimed"].mean() / 2.0))
        for point in points(results)
        for sample in samples_at(results, point, ("fairquery",)).values()
    ]
    if not shares:
        return NOT_RUN
    number = (
        f"of what FairQuery pays, {min(shares):.0%} to {max(shares):.0%} (median {float(np.median(shares)):.0%}) goes"
        " to reports that the coin made random"
    )
    return graded(float(np.mean(np.array(shares) > 0.05)), number)


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
