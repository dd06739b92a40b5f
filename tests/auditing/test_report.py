"""What an audit says, to people, to machines and on paper; and what the command does with it."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pdqs
from pdqs.auditing.certificate import certificate_html
from pdqs.auditing.report import comparison
from pdqs.auditing.verdicts import claims
from pdqs.cli import main
from pdqs.rounds.terms import Terms

AGES = pdqs.Domain.grid(14, 61, 1)


@pytest.fixture(scope="module")
def gpqm() -> Any:
    return pdqs.audit(
        pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=20.0), owners=100, effort="quick", name="gpqm <linear>"
    )


@pytest.fixture(scope="module")
def keeper() -> Any:
    """Too little money for an answer, so that none is wrong."""
    return pdqs.audit(pdqs.presets.single_minded(query=pdqs.Count(), budget=1.0), owners=10, effort="quick")


def test_terms_claim_what_the_theory_and_the_paper_claim_for_them() -> None:
    paper = pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=1.0)
    npqm = pdqs.presets.npqm(query=pdqs.Count(), budget=1.0, rule=pdqs.rules.Linear())
    ours = pdqs.presets.sound(query=pdqs.Count(), budget=1.0)
    bare = pdqs.presets.sound(query=pdqs.Count(), budget=1.0, clearing="open")
    assert [claims(terms).budget_ex_ante for terms in (paper, npqm, ours, bare)] == [True, True, True, False]
    assert [claims(terms).budget_ex_post for terms in (paper, npqm, ours, bare)] == [False, False, True, False]
    assert all(claims(terms).truthful and claims(terms).private for terms in (paper, npqm, ours, bare))


def test_an_open_curve_that_overspends_breaks_no_promise_of_its_own() -> None:
    terms = pdqs.presets.sound(query=pdqs.Count(), budget=0.5, rule="linear", clearing="open")
    report = pdqs.audit(terms, owners=10, effort="quick")
    assert report.kept
    assert {promise.code: promise.verdict for promise in report.promises}["BF"] == "not promised"


def test_the_papers_gpqm_breaks_truthfulness_and_privacy_and_keeps_its_budget_on_average(gpqm: Any) -> None:
    verdicts = {promise.code: promise.verdict for promise in gpqm.promises}
    assert verdicts == {"IC": "BROKEN", "IR": "kept", "BF": "on average", "LDP": "BROKEN", "COV": "BROKEN"}
    assert "owner 4 of 5" in repr(gpqm) or "owner 5 of 5" in repr(gpqm)


def test_a_leak_is_found_even_where_the_terms_own_budget_buys_nothing() -> None:
    terms = pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=0.001)
    report = pdqs.audit(terms, owners=8, effort="quick")
    assert "LDP" in {promise.code for promise in report.broken}


def test_the_same_seed_gives_the_same_report(gpqm: Any) -> None:
    again = pdqs.audit(
        pdqs.presets.gpqm_linear(query=pdqs.Count(), budget=20.0), owners=100, effort="quick", name="gpqm <linear>"
    )
    first: dict[str, Any] = gpqm.to_dict()
    second: dict[str, Any] = again.to_dict()
    for drawn in (first, second):  # privacy draws come from the operating system
        for each in drawn["privacy"]["exposures"]:
            each.pop("drawn")
    assert first == second


def test_a_comparison_has_a_row_for_each_mechanism_and_a_verdict_for_each_promise(gpqm: Any, keeper: Any) -> None:
    head, first, second = comparison([gpqm, keeper]).splitlines()
    assert head.split() == ["mechanism", "IC", "IR", "BF", "LDP", "COV"]
    assert [first.count(word) for word in ("BROKEN", "on average", "kept")] == [3, 1, 1]
    assert second.count("kept") == 5


def test_json_holds_every_figure_and_says_infinite_in_words(gpqm: Any) -> None:
    found = json.loads(gpqm.to_json())
    assert found["kept"] is False
    assert found["privacy"]["exposures"][0]["joint"] == "infinite"
    assert found["truthfulness"]["example"]["sentence"].startswith("owner ")
    assert found["seed"] == 0
    assert found["command"]


def test_an_audit_is_a_table_of_its_promises(gpqm: Any) -> None:
    frame = gpqm.to_pandas()
    assert frame["code"].tolist() == ["IC", "IR", "BF", "LDP", "COV"]
    assert set(frame.loc[frame["verdict"] == "BROKEN", "code"]) == {promise.code for promise in gpqm.broken}
    assert gpqm.to_polars()["kept"].to_list() == frame["kept"].tolist()


def test_a_certificate_is_one_page_that_needs_nothing_from_elsewhere(gpqm: Any) -> None:
    page = certificate_html(gpqm)
    assert page.count("<svg") == 4, "three pictures and the seal"
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}, "names of formats, not places"
    assert not re.search(r"<(script|link|img|iframe)|@import|url\((?!#)", page)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert "gpqm &lt;linear&gt;" in page
    assert "gpqm <linear>" not in page
    assert "Your payment gives you away" in page
    assert escape(gpqm.command) in page
    assert gpqm.terms.hash in page
    assert "Whoever relies on the answer is misled" in page
    assert page.count('<article class="card') == 5


def test_what_nobody_promises_is_said_wherever_promises_are_listed(gpqm: Any) -> None:
    for shown in (repr(gpqm), certificate_html(gpqm).lower(), gpqm.to_json()):
        assert "noise pays the same" in shown
        assert "a bid is seen" in shown
        assert "enrolment must be checked" in shown


def test_a_certificate_of_a_kept_promise_does_not_cry_wolf(keeper: Any) -> None:
    page = certificate_html(keeper)
    assert "Every promise kept" in page
    assert "See it for yourself" not in page
    assert "gives you away" not in page


@pytest.mark.parametrize(
    "terms",
    [
        pdqs.presets.sound(query=pdqs.Count("Have you been ill?"), budget=2.5),
        pdqs.presets.gpqm_logarithmic(query=pdqs.Median(AGES), budget=20.0, c=2.0),
        pdqs.presets.gpqm_exponential(query=pdqs.Quantile(AGES, 0.9), budget=20.0, bid_range=(1.0, 2.0)),
        pdqs.presets.sound(
            query=pdqs.Histogram(pdqs.Domain.categories(["a", "b", "c"])),
            budget=3.0,
            rule=pdqs.rules.Robust(prior=pdqs.priors.TruncatedNormal(0.5, 0.2)),
            prior=pdqs.priors.fit(np.linspace(0.1, 0.9, 40)),
        ),
    ],
    ids=["sound", "logarithmic", "quantile", "priors"],
)
def test_terms_read_back_from_their_canonical_form_are_the_same_terms(terms: Terms) -> None:
    assert pdqs.Terms.read(terms.canonical()).hash == terms.hash


def audited(capsys: pytest.CaptureFixture[str], *words: Any) -> Any:
    code: str | int = 0
    try:
        main(["audit", *map(str, words)])
    except SystemExit as end:
        code = end.code or 0
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_the_command_ends_with_1_when_a_promise_is_broken_and_0_when_all_are_kept(
    capsys: pytest.CaptureFixture[str],
) -> None:
    small = ("--owners", 10, "--effort", "quick")
    code, out, _ = audited(capsys, "gpqm-linear", *small)
    assert code == 1
    assert "BROKEN" in out
    code, out, _ = audited(capsys, "single-minded", *small, "--json")
    assert code == 0
    assert json.loads(out)["command"] == "pdqs audit single-minded --owners 10 --seed 0 --effort quick"


def test_the_command_audits_a_file_of_terms_and_writes_its_certificate(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    terms, page = tmp_path / "terms.json", tmp_path / "page.html"
    terms.write_text(pdqs.presets.fairquery(query=pdqs.Median(AGES), budget=1.0).canonical())
    code, out, _ = audited(capsys, terms, "--owners", 10, "--effort", "quick", "--certificate", page)
    assert code == 1, "FairQuery underprices a report of 48 values"
    assert f"wrote {page}" in out.replace("\n", "")
    assert re.search("Broken: .*rational", page.read_text())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "say what to audit"),
        (("sound", "--all"), "say what to audit"),
        (("nonsense",), "unknown preset 'nonsense'"),
        (("rule:nonsense",), "unknown rule 'nonsense'"),
        (("sound", "--effort", "heroic"), "unknown effort 'heroic'"),
        (("sound", "--owners", "1"), "owners must be a whole number from 2 to 10000"),
        (("missing.json",), "cannot read missing.json"),
        (("sound", "--certificate", "page.pdf"), "must end in .html"),
        (("sound", "--certificate", "no/such/page.html"), "there is no folder"),
        (("--all", "--certificate", "page.html"), "a certificate is for one mechanism"),
    ],
)
def test_a_bad_request_gets_one_sentence_and_code_2(
    words: list[int], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = audited(capsys, *words)
    assert code == 2
    assert sentence in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is not JSON"),
        ("[]", "terms are a JSON object"),
        ('{"query": "count"}', "terms need a 'budget'"),
        ('{"query": "count", "budget": 1, "colour": "red"}', "terms have no 'colour'"),
        ('{"query": "count", "budget": -1}', "budget must be a finite number"),
        ('{"query": {"is": "median"}, "budget": 1}', "missing 1 required"),
        ('{"query": "count", "budget": 1, "rule": {"is": "npqm"}}', "unknown rule 'npqm'"),
    ],
)
def test_a_bad_file_of_terms_is_refused_by_name(
    text: str, sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    code, _, err = audited(capsys, path)
    assert code == 2
    assert "bad.json" in err
    assert sentence in err


def test_options_do_not_quietly_change_a_file_of_terms(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "terms.json"
    path.write_text('{"query": "count", "budget": 1}')
    code, _, err = audited(capsys, path, "--contract", "on-selection")
    assert code == 2
    assert "--contract does not go with it" in err
