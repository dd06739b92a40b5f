"""pdqs audit: what a mechanism really keeps of what it promises."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from pdqs.cli.options import PRESETS, TermsOptions, option_of, read_frozen, with_options
from pdqs.cli.shared_options import Json, Overwrite
from pdqs.model.names import ContractName, RuleName

if TYPE_CHECKING:
    from pdqs.auditing.report import AuditReport
    from pdqs.cli.output import Output
    from pdqs.rounds.terms import Terms

BUDGET_EACH = 0.1
"""The budget for each owner when none is given, in units of the dearest bid."""


class _Given(TypedDict):
    """What an audit is told beside the terms."""

    owners: int
    seed: int
    effort: str


@with_options
def run(
    options: TermsOptions,
    what: Annotated[
        str | None, typer.Argument(help=f"{', '.join(PRESETS)}, npqm, rule:NAME, or a file of terms: .toml, .json.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Compare all the presets, side by side.")] = False,
    owners: Annotated[int, typer.Option(help="How many owners the budget is for, 2 to 10000.")] = 200,
    seed: Annotated[int, typer.Option(help="Of the markets that are tried.")] = 0,
    effort: Annotated[str, typer.Option(help="quick, usual or thorough.")] = "usual",
    certificate: Annotated[Path | None, typer.Option(help="Write a one-page .html certificate.")] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Measure what a mechanism really keeps. Exit code 1 when a promise that its terms make is broken."""
    from pdqs.cli.output import console_output
    from pdqs.cli.saving import check_target
    from pdqs.model.errors import TermsError

    if what is None and options.terms_file is not None and not everything:
        what, options = str(options.terms_file), dataclasses.replace(options, terms_file=None)
    if (what is None) != everything:
        raise TermsError(f"say what to audit: {', '.join(PRESETS)}, npqm, rule:NAME, a file of terms; or --all")
    if everything and certificate is not None:
        raise TermsError("a certificate is for one mechanism: name it instead of --all")
    if certificate is not None:
        check_target(certificate, (".html",), inputs=(what or "", *options.files), overwrite=overwrite)
    given = _Given(owners=owners, seed=seed, effort=effort)
    to = console_output(as_json)
    if everything:
        kept = _compare(to, options, given)
    else:
        assert what is not None
        kept = _one(to, what, options, given, certificate)
    if not kept:
        raise typer.Exit(1)


def _one(to: Output, what: str, options: TermsOptions, given: _Given, certificate: Path | None) -> bool:
    from pdqs.auditing import audit
    from pdqs.tables.files import write_text

    name, terms = _subject(what, options, given["owners"])
    report = audit(terms, name=name, command=_command(what, options, given), **given)
    if certificate is not None:
        from pdqs.auditing.certificate import certificate_html

        write_text(certificate, certificate_html(report))
    to.show(report)
    to.wrote(certificate)
    to.finish(report.to_dict())
    return report.kept


def _compare(to: Output, options: TermsOptions, given: _Given) -> bool:
    """Every preset, two at a time: each is its own process's work, so two cores take half the time."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from pdqs.auditing.report import comparison_rows
    from pdqs.auditing.verdicts import UNPROMISED

    names = list(PRESETS)
    subjects = [_subject(name, options, given["owners"]) for name in (*names, "npqm")]
    sound = dict(subjects)["sound"]
    subjects.insert(3, ("linear by the ladder", dataclasses.replace(sound, rule=RuleName.LINEAR)))
    subjects.insert(4, ("sound, paid on selection", dataclasses.replace(sound, contract=ContractName.ON_SELECTION)))
    work = [(name, terms, _command("--all", options, given), given) for name, terms in subjects]
    with ProcessPoolExecutor(max_workers=2, mp_context=get_context("spawn")) as pool:
        reports = to.progress(pool.map(_audited, work), len(work), "auditing")
    head, rows = comparison_rows(reports)
    to.rows(head, rows, title=f"What each mechanism keeps ({given['owners']} owners, seed {given['seed']})")
    to.say(
        "IC truthful, IR rational, BF within budget, LDP private: report and payment together, COV the interval covers"
    )
    for said in UNPROMISED:
        to.say(f"! {said}")
    to.finish({"reports": [each.to_dict() for each in reports]})
    return all(each.kept for each in reports)


def _audited(work: tuple[str, Terms, str, _Given]) -> AuditReport:
    from pdqs.auditing import audit

    name, terms, command, given = work
    return audit(terms, name=name, command=command, **given)


def _subject(what: str, options: TermsOptions, owners: int) -> tuple[str, Terms]:
    """The name and the terms that a word stands for; the other options change them."""
    from pdqs.cli.options import parse_pair
    from pdqs.model.errors import TermsError

    if what.endswith((".toml", ".json")):
        if options.said:
            raise TermsError(f"{what} has its own terms: {options.said[0]} does not go with it")
        return Path(what).name, read_frozen(Path(what))
    if options.terms_file is not None:
        raise TermsError(f"{options.terms_file} has its own terms: audit it alone, without {what!r}")
    budget = BUDGET_EACH * owners * parse_pair(options.bid_range)[1]
    if what == "npqm":
        return _npqm(options, owners, budget)
    if what.startswith("rule:"):
        return what, dataclasses.replace(options, rule=what.removeprefix("rule:")).terms(budget=budget)
    return what, dataclasses.replace(options, preset=what).terms(budget=budget)


def _npqm(options: TermsOptions, owners: int, budget: float) -> tuple[str, Terms]:
    """NPQM by its authors' recipe, trained in a moment for this many owners; a stand-in where it cannot be trained.

    The paper's text gives NO ANSWER in so few steps. Below 0.3 an owner the curve collapses: that is its usual budget.
    """
    from pdqs.auditing.bid_reading_rule import ReadsBids
    from pdqs.cli.options import parse_pair, parse_query
    from pdqs.model.errors import MissingExtraError, RuleError
    from pdqs.pricing.rules import Rule
    from pdqs.rounds import presets

    bid_range = parse_pair(options.bid_range)
    chosen = options.budget if options.budget is not None else 3.0 * budget
    rule: Rule
    try:
        from pdqs.neural import NpqmConfig, train

        config = NpqmConfig(owners=owners, budgets=(chosen,), bid_range=bid_range, steps=1500, released=True)
        name, rule = "npqm, as released", train(config)[0].rule
    except (MissingExtraError, ModuleNotFoundError):
        name, rule = "npqm stand-in (no extra)", ReadsBids()
    except RuleError:
        name, rule = "npqm stand-in (NO ANSWER)", ReadsBids()
    query = parse_query(options.query, options.domain)
    return name, presets.npqm(query=query, budget=chosen, rule=rule, bid_range=bid_range)


def _command(what: str, options: TermsOptions, given: _Given) -> str:
    """What to type to see it again."""
    said = {f.name: getattr(options, f.name) for f in dataclasses.fields(options)}
    usual = {f.name: f.default for f in dataclasses.fields(options)}
    words = [f"{option_of(k)} {shlex.quote(str(v))}" for k, v in said.items() if v != usual[k]]
    words += [f"--{name} {value}" for name, value in given.items() if value != "usual"]
    return " ".join(["pdqs audit", shlex.quote(what), *words])
