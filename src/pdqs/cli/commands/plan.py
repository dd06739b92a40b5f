"""pdqs plan: what a budget buys, or what a precision costs, before anyone has bid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pdqs.cli.options import TermsOptions, with_options
from pdqs.cli.shared_options import Json, Level, Overwrite, Picture
from pdqs.model.names import QueryKind

if TYPE_CHECKING:
    from pdqs.rounds.terms import Terms


_HALF_WIDTH = (
    "The precision wanted, in the units of the query: a share for counts, histograms and ranks (0.02 is two points"
    " either way), units of the values for means, and for quantiles if --guess is given."
)
_GUESS = (
    "What you expect: the share who say 1, for a count; the share of each value, as 0.2,0.5,0.3, for other queries."
    " One half, or all values alike, if not given."
)


@with_options
def run(
    options: TermsOptions,
    owners: Annotated[int, typer.Option(help="How many owners there are.")],
    half_width: Annotated[float | None, typer.Option(help=_HALF_WIDTH)] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Say how likely an error of this share is; the half-width if not given.")
    ] = None,
    guess: Annotated[str | None, typer.Option(help=_GUESS)] = None,
    picture: Picture = None,
    overwrite: Overwrite = False,
    level: Level = 0.95,
    as_json: Json = False,
) -> None:
    """Say what a budget buys (--budget), or what a precision costs (--half-width)."""
    import pdqs
    from pdqs.cli.output import console_output, plan_data
    from pdqs.cli.saving import check_targets, save
    from pdqs.model.errors import PlanError
    from pdqs.present.precision_chart import plan_figure

    check_targets(picture=picture, inputs=options.files, overwrite=overwrite)
    if options.terms_file is None and (half_width is None) == (options.budget is None):
        raise PlanError("give --half-width or --budget, and not both")
    terms = options.terms(budget=0.0)
    plan = pdqs.plan(terms, owners=owners, half_width=half_width, level=level, guess=_guess(guess, terms))
    curve, changes = plan.curve(), plan.changes()
    result = plan_data(plan, curve, changes, alpha)
    save(picture=picture, draw=lambda: plan_figure(curve))

    to = console_output(as_json)
    to.show(plan)
    if alpha is not None:
        to.say(f"  An error of {alpha:g} or more has a probability of at most {result['delta']:.3g}.")
    head = f"half-width ({plan.unit.name})"
    to.rows(("budget", head), curve.rows(), title="What other budgets give")
    to.rows(("terms", head), changes.rows(), title="What other terms give for the same money")
    to.wrote(picture)
    to.finish(result)


def _guess(text: str | None, terms: Terms) -> float | list[float] | None:
    from pdqs.model.errors import PlanError

    if text is None:
        return None
    try:
        shares = [float(part) for part in text.split(",")]
    except ValueError:
        raise PlanError(f"--guess must be a share, or shares as 0.2,0.5,0.3, got {text!r}") from None
    return shares[0] if terms.query.kind == QueryKind.COUNT and len(shares) == 1 else shares
