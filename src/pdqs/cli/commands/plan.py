"""pdqs plan: what a budget buys, or what a precision costs, before anyone has bid."""

from __future__ import annotations

from typing import Annotated

import typer

from pdqs.cli.options import TermsOptions, with_terms
from pdqs.cli.shared_options import Json, Level, Picture


@with_terms
def run(
    options: TermsOptions,
    owners: Annotated[int, typer.Option(help="How many owners there are.")],
    half_width: Annotated[
        float | None, typer.Option(help="The precision wanted, as a share: 0.02 is two points either way.")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Say how likely an error of this share is; the half-width if not given.")
    ] = None,
    picture: Picture = None,
    level: Level = 0.95,
    as_json: Json = False,
) -> None:
    """Say what a budget buys (--budget), or what a precision costs (--half-width)."""
    import pdqs
    from pdqs.cli.output import console_output, plan_data
    from pdqs.cli.saving import check_targets, save
    from pdqs.model.errors import PlanError
    from pdqs.present import figures

    check_targets(picture=picture)
    if (half_width is None) == (options.budget is None):
        raise PlanError("give --half-width or --budget, and not both")
    terms = options.terms(budget=0.0)
    plan = pdqs.plan(terms, owners=owners, half_width=half_width, level=level)
    curve = plan.curve()
    result = plan_data(plan, curve, alpha)
    save(picture=picture, draw=lambda: figures.plan_figure(curve))

    to = console_output(as_json)
    to.show(plan)
    if alpha is not None:
        to.say(f"  An error of {alpha:g} or more has a probability of at most {result['delta']:.3g}.")
    to.rows(("budget", "half-width (points)"), curve.rows(), title="What other budgets give")
    to.wrote(picture)
    to.finish(result)
