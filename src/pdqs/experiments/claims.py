"""What the paper claims, and what the results say of each claim: computed, never typed in.

:mod:`pdqs.experiments.verdicts` says when a claim holds, holds in part or does not. A claim about NPQM is judged of
each of its three forms, on lines of their own.
"""

from __future__ import annotations

from collections.abc import Callable

from pdqs.experiments import accuracy, overruns
from pdqs.experiments.measures import MEASURED
from pdqs.experiments.mechanisms import MECHANISMS
from pdqs.experiments.promises import PROMISED
from pdqs.experiments.results import Results
from pdqs.experiments.verdicts import Claim, Verdict, of_each_form, of_mechanism


def _linear(judged: Callable[[Results, str], Verdict]) -> Callable[[Results], Verdict]:
    return of_mechanism("gpqm-linear", judged)


CLAIMS = (
    *of_each_form("npqm-best", "NPQM is the most accurate of the five on counts and medians", accuracy.npqm_is_best),
    *of_each_form("linear-well", "GPQM linear also performs well, beside", accuracy.linear_performs_well),
    *of_each_form("beats-fq", "NPQM beats FairQuery in most experiments", accuracy.beats_fairquery),
    *(
        Claim(
            f"beats-fq-{name}",
            f"{MECHANISMS[name].label} beats FairQuery in most experiments",
            of_mechanism(name, accuracy.beats_fairquery),
        )
        for name in ("gpqm-linear", "gpqm-exp", "gpqm-log")
    ),
    Claim(
        "exp-log-below",
        "Below 0.5n, GPQM exp and log beat FairQuery in most experiments",
        accuracy.exp_and_log_lead_below_half,
    ),
    Claim("exp-log-above", "Above 0.5n that advantage becomes less noticeable", accuracy.exp_and_log_lead_shrinks),
    *of_each_form("npqm-improves", "NPQM keeps improving as the budget grows", accuracy.improves),
    Claim("linear-improves", "GPQM linear keeps improving as the budget grows", _linear(accuracy.improves)),
    *of_each_form("npqm-grows", "NPQM's advantage grows with the budget", accuracy.advantage_grows),
    Claim("linear-grows", "GPQM linear's advantage grows with the budget", _linear(accuracy.advantage_grows)),
    *of_each_form(
        "npqm-truth", "With a sufficient budget NPQM approximates the ground truth", accuracy.reaches_the_truth
    ),
    Claim(
        "linear-truth", "With a sufficient budget GPQM linear approximates it, too", _linear(accuracy.reaches_the_truth)
    ),
    Claim("others-flat", "GPQM exp, log and FairQuery do not improve past 0.5n", accuracy.others_are_flat),
    Claim("function", "GPQM's performance relies on the choice of the allocation function", accuracy.function_matters),
    Claim("fq-noise", "FairQuery pays owners who cannot tell the truth", accuracy.fairquery_pays_for_noise),
    *of_each_form("shifts", "NPQM also performs well when training and test bids differ", accuracy.survives_shifts),
    *of_each_form("overruns", "NPQM's budget overruns are rare, on bids like its training's", overruns.are_rare),
    *of_each_form(
        "overruns-shifted",
        "NPQM's budget overruns are rare, in set-ups 2 to 4 (normal bids)",
        overruns.are_rare_on_other_bids,
    ),
    *of_each_form(
        "re-runs",
        "An overrun, on bids like the training's, can be resolved by running again",
        overruns.cured_by_another_run,
    ),
    Claim("gpqm-budget", "GPQM stays within the budget by construction (uniform bids)", overruns.gpqm_keeps_the_budget),
    Claim(
        "epsilon", "A report at q costs eps = ln((1 + q)/(1 - q)), whatever the query", accuracy.privacy_is_as_printed
    ),
    *MEASURED,
    *PROMISED,
)


def judge(results: Results) -> list[tuple[Claim, Verdict]]:
    """Every claim with its verdict."""
    return [(claim, claim.judge(results)) for claim in CLAIMS]
