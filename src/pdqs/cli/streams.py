"""Rounds over Parquet that need not fit in memory: when a command streams, and what it shows of that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import typer

from pdqs.cli.market_files import BidColumns, MarketColumns
from pdqs.cli.shared_options import Json, Level, Overwrite, Picture
from pdqs.model.errors import FileError, InputError, MissingExtraError
from pdqs.rounds.terms import Terms

if TYPE_CHECKING:
    from pdqs.cli.options import TermsOptions
    from pdqs.scale import Run, Totals

Cluster = Annotated[
    str | None, typer.Option(metavar="tcp://HOST:PORT|local", help="Run on a Dask cluster, or on one made here.")
]

LARGE_BYTES = 2**28
"""A Parquet file of more than this is streamed unasked."""


def streamed(location: str, cluster: str | None = None, out: str | None = None) -> bool:
    """Whether to stream: a cluster, a folder, a pattern, a URI, a large file, or Parquet that is to become a folder.

    >>> streamed("bids.csv"), streamed("bids/*.parquet"), streamed("s3://market/bids")
    (False, True, True)
    """
    if not location:
        raise FileError("the name of the file to read is empty")
    path = Path(location)
    if cluster is not None or "://" in location or "://" in (out or "") or path.is_dir():
        return True
    if not path.is_file():
        return any(sign in location for sign in "*?[")
    to_folder = out is not None and not Path(out).suffix
    return path.suffix == ".parquet" and (path.stat().st_size > LARGE_BYTES or to_folder)


@contextmanager
def running(cluster: str | None, called: Mapping[str, str] | None = None) -> Iterator[Run]:
    """How to run: on the cores here or on a cluster, with progress on standard error, columns as they are called."""
    try:
        from pdqs.scale import Meter, Run
        from pdqs.scale.cluster import connected
        from pdqs.scale.kernels import Names
    except ModuleNotFoundError as missing:
        raise MissingExtraError(f"streams need {missing.name}: pip install 'pdqs[scale]'") from None
    names = Names(**(called or {}))
    if cluster is None:
        yield Run(progress=Meter(), names=names)
    else:
        with connected(cluster) as engine:
            yield Run(engine=engine, progress=Meter(), names=names)


def folder_of(out: str | None, source: str = "") -> str:
    """Where the parts of what is read from ``source`` go: a folder here, or one of an object store by its URI."""
    folder = Path(source)
    if source and folder.is_dir() and next(folder.rglob("*.parquet"), None) is None:
        raise FileError(f"{source} is a folder, and there is no Parquet file here: name a file, as in bids.csv")
    if out is None or ("://" not in out and Path(out).suffix):
        raise FileError("a stream is written as a folder of Parquet files: give --out with the name of a folder")
    return out


def shown_place(place: str) -> str:
    """Where something was written, without the keys that a URI may carry."""
    from pdqs.scale.stores import without_secrets

    return without_secrets(place)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOptions:
    """How a round is run and shown, whatever its terms: in memory, or as a stream."""

    picture: Picture = None
    overwrite: Overwrite = False
    level: Level = 0.95
    cluster: Cluster = None
    as_json: Json = False

    def clear_stream(self, bids: str, terms: Terms, columns: BidColumns, seed: int | None, out: str | None) -> None:
        """pdqs clear over a stream."""
        from pdqs.cli.output import console_output, terms_data

        folder = self._folder(out, bids)
        with running(self.cluster, columns.names) as run:
            totals = run.clear(bids, terms, folder, draws=seed)
        to = console_output(self.as_json)
        to.show(totals)
        to.wrote(shown_place(folder))
        to.finish({**terms_data(terms), **_totals_data(totals, terms, self.level)})

    def trade_stream(self, market: str, terms: Terms, columns: MarketColumns, seed: int, out: str | None) -> None:
        """pdqs trade over a stream."""
        from pdqs.cli.output import console_output, terms_data

        folder = self._folder(out, market)
        if columns.round_to_grid:
            raise FileError(f"cannot round {market}: a stream is read as it is; leave --round-to-grid out")
        with running(self.cluster, columns.names) as run:
            done = run.trade(market, terms, folder, seed=seed, level=self.level)
        to = console_output(self.as_json)
        to.show(done)
        to.say(f"  seed {seed}")
        to.wrote(shown_place(folder))
        result = {
            "seed": seed,
            **terms_data(terms),
            **_totals_data(done.sums.offers, terms, self.level),
            "paid_micros": done.sums.paid_micros,
            "within_budget": done.sums.paid_micros <= terms.budget_micros,
            "answer": done.answer.to_dict(),
        }
        to.finish(result)

    def _folder(self, out: str | None, source: str) -> str:
        """Where the parts go. A stream has no picture: no row of it is kept to be drawn."""
        if self.picture is not None:
            raise FileError(f"cannot draw {self.picture}: a stream keeps no rows to draw; leave --picture out")
        return folder_of(out, source)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """How an answer is made and shown, from files or as a stream: up to which stage, and what is written besides."""

    stage: Annotated[int | None, typer.Option(min=1, help="Answer from the reports of the stages up to this one.")] = (
        None
    )
    next_offers: Annotated[
        str | None,
        typer.Option(
            "--next", help="Write the offers with the questions of the stage after --stage to this file or folder."
        ),
    ] = None
    overwrite: Overwrite = False
    level: Level = 0.95
    cluster: Cluster = None
    as_json: Json = False

    @property
    def ended(self) -> int:
        """The stage that has come to its end, after which offers are narrowed down."""
        if self.stage is None:
            raise InputError("--next goes with --stage: which stage has come to its end?")
        return self.stage

    def answer_stream(self, offers: str, reports: str, options: TermsOptions, out: str | None) -> None:
        """pdqs answer over two streams, row beside row; the budget is what the offers come to, unless one is given."""
        from pdqs.cli.output import console_output, terms_data

        folder = None if out is None else folder_of(out, offers)
        following = None if self.next_offers is None else (folder_of(self.next_offers), self.ended)
        with running(self.cluster) as run:
            totals = run.add_up(offers, options.terms(budget=0.0))
            terms = options.terms(budget=totals.spent)
            answer = run.answer_offers(offers, reports, terms, out=folder, level=self.level, stage=self.stage)
            if following is not None:
                run.narrow(offers, reports, terms, following[0], stage=following[1])
        to = console_output(self.as_json)
        to.show(answer)
        to.wrote(*(shown_place(place) for place in (folder, following and following[0]) if place is not None))
        to.finish({**terms_data(terms), "answer": answer.to_dict()})


def _totals_data(totals: Totals, terms: Terms, level: float) -> dict[str, object]:
    """What was bought, for machines, under the names that a market in memory has.

    Of a quantile by sides nothing is forecast: that needs more of the offers than their sums.
    """
    from pdqs.model.names import QuestionKind
    from pdqs.planning.forecasts import forecast_half_width

    by_sides = terms.asking.kind == QuestionKind.SIDE
    half_width = forecast_half_width(totals.information_for(terms.estimator), totals.owners, level)
    return {
        "owners": totals.owners,
        "bought": totals.bought,
        "spent": totals.spent,
        "spent_micros": totals.spent_micros,
        "budget_micros": totals.budget_micros,
        "information": totals.information,
        "forecast_half_width": None if by_sides else half_width,
    }
