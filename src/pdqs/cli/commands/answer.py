"""pdqs answer: offers and reports in, an answer with an interval out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pdqs.cli.options import TermsOptions, with_options
from pdqs.cli.shared_options import Json, Level, Overwrite
from pdqs.cli.streams import Cluster, answer_stream, streamed


@with_options
def run(
    offers: Annotated[str, typer.Argument(help="The offers as pdqs clear wrote them: a file, -, or a folder.")],
    reports: Annotated[
        str,
        typer.Argument(help="The reports: a file with columns owner,report, or -; or Parquet in the offers' order."),
    ],
    options: TermsOptions,
    out: Annotated[
        Path | None, typer.Option(help="Write what is now due (owner,paid) to a file of those kinds, to - or a folder.")
    ] = None,
    overwrite: Overwrite = False,
    level: Level = 0.95,
    cluster: Cluster = None,
    as_json: Json = False,
) -> None:
    """Turn reports and offers into an answer with an interval.

    An owner without a report, or with an empty one, has not reported.
    """
    import pdqs
    from pdqs.cli.output import console_output, terms_data
    from pdqs.cli.saving import check_targets, save
    from pdqs.model.errors import InputError
    from pdqs.pricing.rules.lottery import Asks
    from pdqs.rounds.settlement import refuse_overspent
    from pdqs.tables import files, round_files

    if streamed(offers, cluster, out) or streamed(reports, cluster, out):
        answer_stream(offers, reports, options, out, cluster, level, as_json)
        return
    check_targets(out, inputs=(offers, reports, *options.files), overwrite=overwrite)
    if offers == reports:
        raise InputError(f"offers and reports are two files, got {offers} for both")
    to = console_output(as_json, out)
    domain = options.terms(budget=0.0).domain
    owners, offered = round_files.read_offers(Path(offers), domain)
    terms = options.terms(budget=offered.spent)
    if isinstance(terms.bound_rule, Asks) and not (offered.by_lottery or offered.draw.any()):
        raise InputError(
            f"{offers}: rule {terms.rule_name} needs the columns 'chance' and 'draw' that 'pdqs clear' writes;"
            " name the rule that made these offers with --rule or --preset"
        )
    with files.naming(Path(offers)):
        round_files.refuse_other_terms(offered, terms)
    refuse_overspent(offered, terms)
    arrived = round_files.read_reports(Path(reports), owners, domain)
    strange = (arrived.arrived & ~offered.asked).tolist()
    if offered.by_lottery and any(strange):
        raise InputError(f"{reports}: a report from owner {owners[strange.index(True)]!r}, who was not asked")
    answer = pdqs.answer(arrived, offered, terms, level=level)
    if out is not None:
        due = pdqs.settle(offered, arrived, terms)
        save(out=out, table={"owner": owners, "paid": files.amounts(due.micros)})

    to.show(answer)
    to.wrote(out)
    to.finish({**terms_data(terms), "answer": answer.to_dict()})
