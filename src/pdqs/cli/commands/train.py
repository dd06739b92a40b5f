"""pdqs train: learn a rule from past bids (sound), or train the paper's NPQM as printed, as released or mended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pdqs.cli.market_files import Bid
from pdqs.cli.shared_options import Json, Overwrite, Picture
from pdqs.model.names import ContractName, RuleName

if TYPE_CHECKING:
    from pdqs.cli.output import Output
    from pdqs.model.arrays import Floats
    from pdqs.neural import LearnConfig
    from pdqs.pricing.rules import Rule
    from pdqs.rounds.offers import Offers

SHARES = (0.1, 0.3, 0.6)
"""The budgets at which a sound rule is compared with others: an owner, in units of the dearest bid."""

SHOWN = 0.3
FITTED = "optimal for a fitted prior"
DRAWN = ("learned", "linear", FITTED)

FORMS = ("sound", "printed", "released", "mended")


def run(
    out: Annotated[Path, typer.Option(help="Where the learned rule goes: a .npz file.")],
    past: Annotated[Path | None, typer.Argument(help="A file with a column 'bid' of earlier rounds' bids.")] = None,
    form: Annotated[str, typer.Option(help="sound (truthful by the ladder), or NPQM: printed, released or mended.")] = (
        "sound"
    ),
    objective: Annotated[str, typer.Option(help="sound: information (sum q^2) or ppem (the paper's).")] = "information",
    curve: Annotated[str, typer.Option(help="sound: spline or logistic.")] = "spline",
    contract: Annotated[str, typer.Option(help=f"sound: {' or '.join(ContractName)}.")] = ContractName.ON_REPORT.value,
    owners: Annotated[int | None, typer.Option(help="NPQM: how many bids the nets read.")] = None,
    budget: Annotated[float | None, typer.Option(help="NPQM: what may be paid in all.")] = None,
    bid_range: Annotated[str, typer.Option(metavar="LOW:HIGH", help="Between what bids may lie.")] = "0:1",
    steps: Annotated[int | None, typer.Option(help="Steps of training, if not the usual number.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same weights.")] = 0,
    state: Annotated[Path | None, typer.Option(help="NPQM: keep the half-done training here.")] = None,
    resume: Annotated[bool, typer.Option(help="Go on from the file of --state.")] = False,
    bid_column: Bid = "bid",
    picture: Picture = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Learn a rule from past bids."""
    from pdqs.cli.options import parse_pair
    from pdqs.cli.output import console_output
    from pdqs.cli.saving import check_target, check_targets
    from pdqs.model.errors import TermsError
    from pdqs.tables.files import read_table

    inputs = () if past is None else (str(past),)
    check_targets(picture=picture, inputs=inputs, overwrite=overwrite)
    check_target(out, (".npz",), inputs=inputs, overwrite=overwrite or resume)
    if form not in FORMS:
        raise TermsError(f"unknown form {form!r}: choose one of {', '.join(FORMS)}")
    ends = parse_pair(bid_range)
    bids = (
        None
        if past is None
        else read_table(past, ("bid",), unread=("owner", "value"), names={"bid": bid_column}).bids(ends)
    )
    to = console_output(as_json)
    if form == "sound":
        if bids is None:
            raise TermsError("a sound rule is learned from past bids: give a file with a column 'bid'")
        figures = {"objective": objective, "curve": curve, "contract": contract, "bid_range": ends}
        result = _sound(bids, figures, steps, out, picture, to)
    else:
        from pdqs.neural.config import RECIPES

        if owners is None or budget is None:
            raise TermsError(f"form {form} needs --owners and --budget: its nets are made for one market")
        fields = {"owners": owners, "budgets": (budget,), "bid_range": ends, "seed": seed}
        fields |= {"options": RECIPES[form]} | ({} if steps is None else {"steps": steps})
        result = _npqm(bids, fields, state, resume, out, picture, to)
    to.wrote(out, picture)
    to.finish(result)


def _sound(
    bids: Floats, fields: dict[str, Any], steps: int | None, out: Path, picture: Path | None, to: Output
) -> dict[str, object]:
    import dataclasses

    from pdqs import neural
    from pdqs.cli.stopping import ended_at_once
    from pdqs.neural.picture import curves_figure
    from pdqs.present import figures

    plain = fields["objective"] == "ppem" or fields["curve"] == "logistic"
    config = neural.LearnConfig(**fields, link="sigmoid" if plain else "response")
    high = config.bid_range[1]
    config = dataclasses.replace(config, budgets=tuple(high * b for b in config.budgets))
    config = config if steps is None else dataclasses.replace(config, steps=steps)
    with ended_at_once(lambda: "stopped: nothing was kept"), _bar(to, config.steps) as show:
        rule = neural.learn(
            bids, config, progress=lambda now: show(now.step, f"gained {now.gained.mean():.4f} an owner")
        )

    found = {share: _rivals(bids, rule, config, share * high * bids.size) for share in SHARES}
    if picture is not None:
        drawn = curves_figure({name: each for name, each in found[SHOWN].items() if name in DRAWN})
    neural.save(out, rule, config=config, past_bids=int(bids.size))
    if picture is not None:
        figures.save(drawn, picture)
    told = {name: [found[share][name].information for share in SHARES] for name in found[SHOWN]}
    head = ("sum of q^2 by rule", *(f"{share * high:g} an owner" for share in SHARES))
    to.rows(head, [(name, *(f"{each:,.1f}" for each in row)) for name, row in told.items()], title="On the past bids")
    ahead = sum(mine > other for mine, other in zip(told["learned"], told[FITTED], strict=True))
    to.say(f"The learned rule says more than the fitted prior (--prior FILE) at {ahead} of {len(SHARES)} budgets.")
    information = {name: each.information for name, each in found[SHOWN].items()}
    by_budget = {"budgets_an_owner": [share * high for share in SHARES], "information": told}
    return {"form": "sound", "information": information, "by_budget": by_budget, "out": str(out)}


def _rivals(bids: Floats, learned: Rule, config: LearnConfig, budget: float) -> dict[str, Offers]:
    """What the learned rule and the others buy for the same money, on the bids that it was learned from."""
    import dataclasses

    import pdqs

    base = pdqs.presets.sound(
        query=pdqs.Count(), budget=budget, bid_range=config.bid_range, contract=config.contract, rule=RuleName.OPTIMAL
    )
    terms = {
        "learned": dataclasses.replace(base, rule=learned),
        "linear": dataclasses.replace(base, rule=RuleName.LINEAR),
        "optimal for uniform bids": base,
        FITTED: dataclasses.replace(base, prior=pdqs.priors.fit(bids, config.bid_range)),
    }
    return {name: pdqs.clear(bids, each) for name, each in terms.items()}


def _npqm(
    bids: Floats | None,
    fields: dict[str, Any],
    state: Path | None,
    resume: bool,
    out: Path,
    picture: Path | None,
    to: Output,
) -> dict[str, object]:
    import numpy as np

    import pdqs
    from pdqs import neural
    from pdqs.cli.stopping import ended_at_once
    from pdqs.neural.picture import curves_figure
    from pdqs.present import figures

    config = neural.NpqmConfig(**fields)
    saved = _saved(state, resume)
    rng = np.random.default_rng([config.seed, 2])
    training = None if bids is None else rng.choice(bids, (config.vectors, config.owners))
    warned: set[str] = set()
    with ended_at_once(lambda: _stopped(state)), _bar(to, config.steps) as show:

        def progress(now: neural.Moment) -> None:
            show(now.step, f"loss {now.loss[0]:.4f}  spent {now.spent[0]:.1f}  lambda {now.multiplier[0]:.3g}")
            for warning in set(now.warnings) - warned:
                warned.add(warning)
                typer.echo(f"step {now.step}: {warning}", err=True)

        keep = None if state is None else lambda half: neural.save_training(state, half)
        (trained,) = neural.train(config, training, progress=progress, save=keep, resume=saved)
    rule, budget = trained.rule, config.budgets[0]
    low, high = config.bid_range
    fresh = low + (high - low) * rng.random(config.owners) if bids is None else rng.choice(bids, config.owners)
    terms = pdqs.presets.npqm(query=pdqs.Count(), budget=budget, rule=rule, bid_range=config.bid_range)
    found = {"NPQM": pdqs.clear(fresh, terms)}
    for name in (RuleName.LINEAR, RuleName.OPTIMAL):
        sound = pdqs.presets.sound(query=pdqs.Count(), budget=budget, bid_range=config.bid_range, rule=name)
        found[f"{name}, by the ladder"] = pdqs.clear(fresh, sound)
    columns = dict(zip(("loss", "phi", "spent", "overspent", "multiplier", "q"), trained.trace.T, strict=True))
    if picture is not None:
        drawn = curves_figure(found, {name: columns[name] for name in ("loss", "spent", "multiplier", "q")})
    neural.save(out, rule, config=config, budget=budget)
    if picture is not None:
        figures.save(drawn, picture)
    rows = [(name, f"{each.information:,.1f}", f"{each.spent:,.1f}") for name, each in found.items()]
    to.rows(("rule", "sum of q^2", "spent"), rows, title=f"On fresh bids, for a budget of {budget:,g}")
    over = found["NPQM"].spent / budget - 1
    to.say(f"NPQM {'overspends by' if over > 0 else 'leaves'} {abs(over):.1%} of the budget on these bids.")
    return {"form": "npqm", "overspent_share": over, "warnings": list(trained.warnings), "out": str(out)}


def _stopped(state: Path | None) -> str:
    if state is None or not state.exists():
        return "stopped: nothing was kept" + (", for want of --state FILE" if state is None else " yet")
    return f"stopped: the same command with --resume goes on from {state}"


def _saved(state: Path | None, resume: bool) -> object:
    from pdqs import neural
    from pdqs.model.errors import TermsError

    if not resume:
        return None
    if state is None:
        raise TermsError("--resume goes on from the file of --state: name it")
    config, bids, arrays, trace = neural.load_training(state)
    return neural.Saved(config=config, bids=bids, state=arrays, trace=trace)


def _bar(to: Output, steps: int) -> AbstractContextManager[Callable[[int, str], None]]:
    """A progress bar with live figures on standard error, for people at a terminal."""
    import sys
    from contextlib import contextmanager

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    @contextmanager
    def shown() -> Iterator[Callable[[int, str], None]]:
        columns = (TextColumn("training"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
        quiet = to.as_json or not sys.stderr.isatty()
        with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as bar:
            task = bar.add_task("compiling", total=steps)
            yield lambda step, figures: bar.update(task, completed=step, description=figures)

    return shown()
