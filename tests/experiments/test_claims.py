"""Verdicts follow from results: made-up ones with a known pattern get the known verdict, and their opposite another."""

from __future__ import annotations

import pytest

from pdqs.experiments.claims import CLAIMS, judge
from pdqs.experiments.error_ratios import gains
from pdqs.experiments.promises import PROMISED
from pdqs.experiments.results import Results
from pdqs.experiments.setups import Cell, full_plan
from pdqs.experiments.verdicts import NOT_RUN, Verdict

from .conftest import ErrorOf, made_up_results


def by_mechanism(**errors: float) -> ErrorOf:
    """Errors by mechanism, 0.5 where none is given; all forms of NPQM have the same unless told."""
    named = {name.replace("_", "-"): error for name, error in errors.items()}
    for form in ("npqm-released", "npqm-mended"):
        named.setdefault(form, named.get("npqm", 0.5))
    return lambda cell: named.get(cell.mechanism, 0.5)


def is_npqm(cell: Cell) -> bool:
    return cell.mechanism.startswith("npqm")


def judged(name: str, results: Results) -> Verdict:
    """The verdict on one claim, without judging the others."""
    return next(claim.judge(results) for claim in CLAIMS if claim.name == name)


def verdict(name: str, results: Results) -> str:
    return judged(name, results).verdict


def test_no_results_no_verdict() -> None:
    found = {claim.name: found.verdict for claim, found in judge(Results(full_plan(), {}))}
    assert set(found.values()) == {"not run"}


@pytest.mark.parametrize(("error", "said"), [(0.1, "holds"), (0.9, "does not hold")])
def test_npqm_is_best_where_its_error_is_lowest(error: float, said: str) -> None:
    assert verdict("npqm-best-printed", made_up_results(by_mechanism(npqm=error, gpqm_linear=0.3))) == said


def test_a_claim_true_of_one_form_of_npqm_is_said_to_hold_of_that_form_alone() -> None:
    printed_only = made_up_results(by_mechanism(npqm=0.1, npqm_released=0.9, gpqm_linear=0.3))
    assert verdict("npqm-best-printed", printed_only) == "holds"
    assert verdict("npqm-best-released", printed_only) == "does not hold"


def test_no_answer_is_a_loss_and_not_an_absence() -> None:
    whole = made_up_results(by_mechanism(npqm=0.1, gpqm_linear=0.3))
    none = frozenset(cell for cell in whole.samples if cell.mechanism == "npqm" and cell.level > 0.25)
    samples = {cell: sample for cell, sample in whole.samples.items() if cell not in none}
    silent = Results(whole.plan, samples, none)
    assert verdict("npqm-best-printed", whole) == "holds"
    assert verdict("npqm-best-printed", silent) == "does not hold"
    assert verdict("npqm-truth-printed", silent) == "does not hold"
    absent = Results(whole.plan, samples)  # the control: cells that were never run say nothing
    assert verdict("npqm-best-printed", absent) == "holds"


def test_an_accuracy_is_never_shown_without_what_it_cost() -> None:
    results = made_up_results(by_mechanism(npqm=0.1), lambda cell: {"spent": 650.0} if is_npqm(cell) else {})
    for name in ("npqm-best", "npqm-truth", "npqm-grows", "beats-fq"):
        assert "it spends 1.30 budgets on average" in judged(f"{name}-released", results).number


def test_an_overrun_in_every_round_is_not_cured_by_running_again() -> None:
    always = made_up_results(by_mechanism(), lambda cell: {"paid": 600.0} if is_npqm(cell) else {})
    never = made_up_results(by_mechanism(), lambda cell: {"paid": 400.0} if is_npqm(cell) else {})
    assert verdict("re-runs-released", always) == "does not hold"
    assert verdict("re-runs-released", never) == "holds"


def test_what_an_audit_found_is_the_verdict_on_a_promise() -> None:
    found = {"gpqm-linear": {"IC": ("BROKEN", "2 gain"), "IR": ("kept", "0 paid below their price")}}
    results = Results(full_plan(), {}, promises=found)
    assert verdict("gpqm-linear-ic", results) == "does not hold"
    assert verdict("gpqm-linear-ir", results) == "holds"
    assert verdict("gpqm-linear-ldp", results) == "not run"


@pytest.mark.parametrize(("spent", "said"), [(500.0, "holds"), (501.0, "does not hold")])
def test_npqm_keeps_its_budget_only_if_no_fresh_bids_pass_it(spent: float, said: str) -> None:
    results = made_up_results(by_mechanism(), lambda cell: {"spent": spent} if is_npqm(cell) else {})
    assert verdict("npqm-mended-bf", results) == said


def test_a_claim_true_of_half_the_points_holds_in_part() -> None:
    results = made_up_results(lambda cell: 0.1 if is_npqm(cell) and cell.kind == "count" else 0.5)
    lower_on_medians = made_up_results(
        lambda cell: 0.4 if cell.mechanism == "fairquery" and cell.kind == "median" else
        0.1 if is_npqm(cell) and cell.kind == "count" else 0.5
    )  # fmt: skip
    assert verdict("npqm-best-printed", results) == "holds"  # a tie is no defeat
    assert verdict("npqm-best-printed", lower_on_medians) == "holds in part"


@pytest.mark.parametrize(("late", "said"), [(0.3, "holds"), (0.5, "does not hold")])
def test_a_mechanism_improves_only_if_its_error_falls_past_the_middle(late: float, said: str) -> None:
    results = made_up_results(lambda cell: late if cell.level == 0.9 else 0.5)
    assert verdict("npqm-improves-printed", results) == said
    assert verdict("linear-improves", results) == said
    assert verdict("others-flat", results) == ("does not hold" if said == "holds" else "holds")


@pytest.mark.parametrize(("share", "said"), [(0.9, "holds"), (1.1, "does not hold")])
def test_overruns_are_counted_in_payments_made(share: float, said: str) -> None:
    results = made_up_results(by_mechanism(), lambda cell: {"paid": 500.0 * share} if is_npqm(cell) else {})
    assert verdict("overruns-printed", results) == said


def test_gpqm_keeps_the_budget_in_part_when_only_payments_made_pass_it() -> None:
    paid = made_up_results(by_mechanism(), lambda cell: {"paid": 501.0} if cell.mechanism == "gpqm-linear" else {})
    spent = made_up_results(by_mechanism(), lambda cell: {"spent": 501.0} if cell.mechanism == "gpqm-linear" else {})
    assert verdict("gpqm-budget", made_up_results(by_mechanism())) == "holds"
    assert verdict("gpqm-budget", paid) == verdict("gpqm-linear-bf", paid) == "holds in part"
    assert verdict("gpqm-budget", spent) == verdict("gpqm-linear-bf", spent) == "does not hold"
    assert verdict("gpqm-exp-bf", paid) == "holds"


def test_the_printed_epsilon_holds_in_part_when_medians_cost_more() -> None:
    results = made_up_results(by_mechanism(), lambda cell: {"epsilon": 2.0} if cell.kind == "median" else {})
    assert verdict("epsilon", results) == "holds in part"
    assert verdict("epsilon", made_up_results(by_mechanism())) == "holds"


def test_shifts_are_judged_by_the_shifted_set_ups_alone() -> None:
    results = made_up_results(
        lambda cell: 0.1 if is_npqm(cell) and not cell.experiment.startswith("shift") else
        0.9 if cell.mechanism == "npqm" else 0.5
    )  # fmt: skip
    assert verdict("npqm-best-printed", results) == "holds"
    assert verdict("shifts-printed", results) == "does not hold"


def test_what_shifted_bids_cost_is_said_beside_the_accuracy_and_judged_on_a_row_of_its_own() -> None:
    """NPQM beats FairQuery everywhere; on shifted bids it spends and pays 1.6 budgets."""
    results = made_up_results(
        by_mechanism(npqm=0.1),
        lambda cell: {"spent": 800.0, "paid": 800.0} if is_npqm(cell) and cell.experiment.startswith("shift") else {},
    )
    found = judged("shifts-mended", results)
    assert found.verdict == "holds"
    assert "more than the budget on average at 168 of 168 points" in found.number
    assert "1.60 budgets in the worst round" in found.number
    assert verdict("overruns-mended", results) == "holds"
    assert verdict("overruns-shifted-mended", results) == "does not hold"


def test_who_beats_fairquery_is_said_of_each_mechanism_and_form_by_itself() -> None:
    results = made_up_results(by_mechanism(npqm=0.1, npqm_mended=0.9, gpqm_exp=0.9))
    said = {name: verdict(f"beats-fq-{name}", results) for name in ("printed", "released", "mended", "gpqm-exp")}
    assert said == {"printed": "holds", "released": "holds", "mended": "does not hold", "gpqm-exp": "does not hold"}


@pytest.mark.parametrize(("error", "said"), [(0.09, "holds"), (0.11, "holds in part")])
def test_a_mechanism_is_pac_by_the_error_that_95_of_100_rounds_keep_to(error: float, said: str) -> None:
    """Errors of a made-up median are small beside its domain, so half of the cases always hold."""
    results = made_up_results(lambda cell: error if cell.kind == "count" else 0.0, lambda _: {"spent": 600.0})
    assert verdict("pac-sound", results) == said
    assert "it spends 1.20 budgets" in judged("pac-sound", results).number


def test_no_answer_is_not_pac_and_buys_no_privacy() -> None:
    whole = made_up_results(lambda cell: 0.01 if cell.kind == "count" else 0.0)
    none = frozenset(cell for cell in whole.samples if cell.mechanism == "npqm")
    silent = Results(whole.plan, {cell: each for cell, each in whole.samples.items() if cell not in none}, none)
    for name in ("pac-npqm", "ppem-npqm"):
        assert verdict(name, whole) == "holds"
        assert verdict(name, silent) == "does not hold"


@pytest.mark.parametrize(("linear", "said"), [(0.1, "holds"), (0.9, "does not hold")])
def test_purchased_privacy_is_judged_by_who_buys_most_and_who_errs_least(linear: float, said: str) -> None:
    """GPQM linear alone buys more than the others; pairs that differ in neither say nothing."""
    results = made_up_results(
        by_mechanism(gpqm_linear=linear),
        lambda cell: {"privacy": 900.0} if cell.mechanism == "gpqm-linear" else {},
    )
    assert verdict("ppem-gpqm-linear", results) == "holds"
    assert verdict("ppem-fairquery", results) == "does not hold"
    assert verdict("ppem-accuracy", results) == said


def test_every_verdict_comes_with_a_number() -> None:
    for claim, found in judge(made_up_results(by_mechanism(npqm=0.2), lambda cell: {"privacy": 500.0 + is_npqm(cell)})):
        if found is NOT_RUN and claim in PROMISED:
            continue  # audits say these, and there are none here
        assert any(letter.isdigit() for letter in found.number), claim.name
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)


AT_BUDGET_ = ("count", "npqm", "sound", "budget")


def test_at_equal_spending_ours_is_read_between_the_budgets_that_spend_just_less_and_more() -> None:
    """NPQM spends .75n for 0.5n; ours, which spends what it is given and errs by its share of n, then errs by .75."""
    results = made_up_results(
        lambda cell: 0.8 if cell.mechanism == "npqm" else cell.level,
        lambda cell: {"spent": 750.0 if cell.mechanism == "npqm" else 1000.0 * cell.level},
    )
    found = {gain.at: gain for gain in gains(results) if (gain.kind, gain.theirs, gain.ours) == AT_BUDGET_[:3]}
    assert found["spending"].ratio is not None
    assert found["spending"].ratio.value == pytest.approx(0.8 / 0.75)
    assert found["spending"].spent == pytest.approx(1.5)
    assert found["spending"].ours_spent == pytest.approx(1.5)
    assert found["budget"].ours_spent == pytest.approx(1.0)


def test_where_theirs_spends_less_than_any_budget_of_ours_no_ratio_is_said() -> None:
    results = made_up_results(
        lambda cell: 0.8 if cell.mechanism == "npqm" else cell.level,
        lambda cell: {
            "spent": (1e-3 if cell.population == "exam" else 500.0) if cell.mechanism == "npqm" else 1000.0 * cell.level
        },
    )
    found = {gain.at: gain for gain in gains(results) if (gain.kind, gain.theirs, gain.ours) == AT_BUDGET_[:3]}
    assert found["spending"].left_out == (("exam", "spends too little"),)
    assert "exam" not in dict(found["spending"].each)
    assert found["spending"].ours_spent == pytest.approx(found["spending"].spent)
    assert found["budget"].left_out == ()  # the control: at equal budgets there is a ratio


def test_a_form_that_spends_nothing_anywhere_has_no_ratio_at_all() -> None:
    results = made_up_results(
        by_mechanism(npqm=0.8), lambda cell: {"spent": 0.0 if is_npqm(cell) else 1000.0 * cell.level}
    )
    found = {gain.at: gain for gain in gains(results) if (gain.kind, gain.theirs, gain.ours) == AT_BUDGET_[:3]}
    assert found["spending"].ratio is None
    assert found["budget"].ratio is not None


def test_gains_are_ratios_of_mean_errors_at_the_middle_budget() -> None:
    results = made_up_results(lambda cell: 0.8 if cell.mechanism == "npqm" else 0.05 if cell.level == 0.5 else 9.0)
    found = next(gain for gain in gains(results) if (gain.kind, gain.theirs, gain.ours, gain.at) == AT_BUDGET_)
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(16.0)
    assert len(found.each) == 6
    assert not found.reweighted


def test_a_reweighted_gain_reads_both_sides_by_the_weighted_estimator() -> None:
    """NPQM's answers are off by 80 %, but its reports, weighted, by 10 %."""
    results = made_up_results(
        lambda cell: 0.8 if cell.mechanism == "npqm" else 0.05,
        lambda cell: {"weighted": 110.0} if cell.mechanism == "npqm" else {},
    )
    found = {
        gain.reweighted: gain.ratio.value
        for gain in gains(results)
        if (gain.theirs, gain.ours, gain.at) == ("npqm", "sound", "budget") and gain.ratio is not None
    }
    assert found == pytest.approx({False: 16.0, True: 2.0})


def test_a_population_that_was_never_got_wrong_is_left_out_of_the_gain() -> None:
    results = made_up_results(lambda cell: 0.0 if (cell.mechanism, cell.population) == ("sound", "exam") else 0.5)
    found = next(gain for gain in gains(results) if (gain.kind, gain.theirs, gain.ours) == ("median", "npqm", "sound"))
    assert [name for name, _ in found.each] == ["obesity", "maternal", "students", "salaries", "customers"]
    assert found.left_out == (("exam", "never wrong"),)
    assert {gain.ours for gain in gains(results)} == {"sound-selection", "sound", "honest"}
