"""pdqs answer: offers and reports in, an answer with an interval out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pdqs.cli.options import TermsOptions, with_options
from pdqs.cli.streams import AnswerOptions, streamed

if TYPE_CHECKING:
    from pdqs.rounds.offers import Offers
    from pdqs.rounds.reports import Reports
    from pdqs.rounds.terms import Terms


@with_options
def run(
    offers: Annotated[str, typer.Argument(help="The offers as pdqs clear wrote them: a file, -, or a folder.")],
    reports: Annotated[
        str,
        typer.Argument(help="The reports: a file with columns owner,report, or -; or Parquet in the offers' order."),
    ],
    options: TermsOptions,
    way: AnswerOptions,
    out: Annotated[
        str | None,
        typer.Option(help="Write what is now due (owner,paid) to a file of those kinds, to - or a folder or URI."),
    ] = None,
) -> None:
    """Turn reports and offers into an answer with an interval.

    An owner without a report, or with an empty one, has not reported. Where sides are asked in stages, --stage 1 --next
    FILE says what the first stage leaves open and writes the offers with the questions of the second; and so on, with
    the reports of all stages so far in one file. Done again, a step gives the same.
    """
    import pdqs
    from pdqs.cli.output import console_output, terms_data
    from pdqs.cli.saving import check_targets, save
    from pdqs.model.errors import InputError
    from pdqs.tables import files

    if streamed(offers, way.cluster, out) or streamed(reports, way.cluster, out):
        way.answer_stream(offers, reports, options, out)
        return
    due_file, following = (None if given is None else Path(given) for given in (out, way.next_offers))
    for target in (due_file, following):
        check_targets(target, inputs=(offers, reports, *options.files), overwrite=way.overwrite)
    if offers == reports:
        raise InputError(f"offers and reports are two files, got {offers} for both")
    to = console_output(way.as_json, due_file)
    owners, offered, arrived, terms = read_round(offers, reports, options)
    answer = pdqs.answer(arrived, offered, terms, level=way.level, stage=way.stage)
    if following is not None:
        write_next(following, owners, offered, arrived, terms, way.ended)
    if due_file is not None:
        due = pdqs.settle(offered, arrived, terms)
        save(out=due_file, table={"owner": owners, "paid": files.amounts(due.micros)})

    to.show(answer)
    to.wrote(due_file, following)
    to.finish({**terms_data(terms), "answer": answer.to_dict()})


def write_next(path: Path, owners: list[str], offered: Offers, arrived: Reports, terms: Terms, stage: int) -> None:
    """The offers with the questions of the stage after this one."""
    from pdqs.cli.saving import save
    from pdqs.estimate import narrowed
    from pdqs.tables import round_files

    save(out=path, table=round_files.offer_columns(owners, narrowed(offered, arrived, terms, stage + 1)))


def read_round(offers: str, reports: str, options: TermsOptions) -> tuple[list[str], Offers, Reports, Terms]:
    """Owners, their offers and reports, and the terms they are of; refused where they are not of one round."""
    from pdqs.model.errors import InputError
    from pdqs.pricing.rules.lottery import Asks
    from pdqs.rounds.settlement import refuse_overspent
    from pdqs.tables import files, round_files

    asked = options.terms(budget=0.0).asking
    owners, offered = round_files.read_offers(Path(offers), asked)
    terms = options.terms(budget=offered.spent)
    if isinstance(terms.bound_rule, Asks) and not (offered.by_lottery or offered.draw.any()):
        raise InputError(
            f"{offers}: rule {terms.rule_name} needs the columns 'chance' and 'draw' that 'pdqs clear' writes;"
            " name the rule that made these offers with --rule or --preset"
        )
    with files.naming(Path(offers)):
        round_files.refuse_other_terms(offered, terms)
    refuse_overspent(offered, terms)
    arrived = round_files.read_reports(Path(reports), owners, asked.answers)
    strange = (arrived.arrived & ~offered.asked).tolist()
    if offered.by_lottery and any(strange):
        raise InputError(f"{reports}: a report from owner {owners[strange.index(True)]!r}, who was not asked")
    return owners, offered, arrived, terms
