"""The options that spell out terms, shared by every command that runs a round, and how their words are read."""

from __future__ import annotations

import dataclasses
import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from inspect import isclass
from pathlib import Path
from typing import Annotated, Any, final, get_type_hints

import typer

from pdqs.model import priors
from pdqs.model.domain import Domain
from pdqs.model.errors import DomainError, RuleError, TermsError
from pdqs.model.names import (
    ClearingName,
    ContractName,
    EstimatorName,
    QueryKind,
    QuestionKind,
    RuleName,
    help_for,
    listed,
)
from pdqs.model.query import Query, query_of
from pdqs.pricing import rules
from pdqs.rounds import presets
from pdqs.rounds.terms import Terms
from pdqs.tables.files import read_table
from pdqs.tables.round_files import LOTTERY_COLUMNS, OFFER_COLUMNS

_log = logging.getLogger(__name__)

PRESETS: Mapping[str, Callable[..., Terms]] = {
    "honest": presets.honest,
    "sound": presets.sound,
    "robust": presets.robust,
    "gpqm-linear": presets.gpqm_linear,
    "gpqm-exponential": presets.gpqm_exponential,
    "gpqm-logarithmic": presets.gpqm_logarithmic,
    "fairquery": presets.fairquery,
    "single-minded": presets.single_minded,
    "fallah-local": presets.fallah_local,
}

_QUERIES = tuple("quantile:P" if kind == QueryKind.QUANTILE else kind.value for kind in QueryKind)
_RULE_FIGURES = {
    RuleName.EXPONENTIAL: ("c",),
    RuleName.LOGARITHMIC: ("c", "q_min", "q_max"),
    RuleName.STEP: ("q_max",),
}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TermsOptions:
    """What a round promises, in the words of the command line. None stands for what was not said."""

    query: Annotated[str, typer.Option(help=f"{listed(_QUERIES)}; P as in quantile:0.9.")] = QueryKind.COUNT.value
    domain: Annotated[
        str | None, typer.Option(help="What owners may report: START:STOP:STEP for numbers, or labels a,b,c.")
    ] = None
    budget: Annotated[float | None, typer.Option(help="What may be paid in all.")] = None
    bid_range: Annotated[str, typer.Option(metavar="LOW:HIGH", help="Between what bids may lie.")] = "0:1"
    preset: Annotated[
        str | None, typer.Option(help=f"Start from a mechanism: {', '.join(PRESETS)}. Other options change it.")
    ] = None
    rule: Annotated[
        str | None,
        typer.Option(
            help=f"{listed(RuleName)}; with figures as in exponential:2.5; or FILE.npz, learned by pdqs train."
        ),
    ] = None
    clearing: Annotated[str | None, typer.Option(help=help_for(ClearingName))] = None
    contract: Annotated[str | None, typer.Option(help=help_for(ContractName))] = None
    epsilon_max: Annotated[float | None, typer.Option(help="The most privacy that any owner is asked to sell.")] = None
    estimator: Annotated[str | None, typer.Option(help=help_for(EstimatorName))] = None
    question: Annotated[
        str | None,
        typer.Option(
            help=f"{help_for(QuestionKind)[:-1]}; level:5 and bucket:8 say how many, side:LOW:HIGH asks once, mostly"
            " between these."
        ),
    ] = None
    stages: Annotated[int | None, typer.Option(help="In how many stages sides are asked; chosen if not said.")] = None
    prior: Annotated[
        str | None, typer.Option(help="What bids are expected: uniform, normal:MEAN:SD, or a file of past bids.")
    ] = None

    terms_file: Annotated[
        Path | None,
        typer.Option(
            "--terms", metavar="FILE", help="Terms that pdqs terms has frozen, in place of the options above."
        ),
    ] = None

    @property
    def said(self) -> list[str]:
        """The options that were given, as they are written."""
        given = (f.name for f in dataclasses.fields(self) if getattr(self, f.name) != f.default)
        return [option_of(name) for name in given]

    @property
    def files(self) -> tuple[str, ...]:
        """The files that these words name: nothing may be written over them."""
        return tuple(str(named) for named in (self.terms_file, self.rule, self.prior) if named is not None)

    def terms(self, *, budget: float | None = None) -> Terms:
        """The terms these words mean; ``budget`` stands in for one that was not given."""
        if self.terms_file is not None:
            return self._frozen(self.terms_file)
        chosen = self.budget if self.budget is not None else budget
        if chosen is None:
            raise TermsError("no budget: give --budget")
        bid_range = parse_pair(self.bid_range)
        made = _preset(self._usual() if self.preset is None else self.preset)(
            query=parse_query(self.query, self.domain), budget=chosen, bid_range=bid_range
        )
        said: dict[str, Any] = {
            "rule": None if self.rule is None else parse_rule(self.rule),
            "clearing": self.clearing,
            "contract": self.contract,
            "epsilon_max": self.epsilon_max,
            "estimator": self.estimator,
            "question": self.question,
            "stages": self.stages,
            "prior": None if self.prior is None else parse_prior(self.prior, bid_range),
        }
        return dataclasses.replace(made, **{name: value for name, value in said.items() if value is not None})

    def _frozen(self, path: Path) -> Terms:
        if others := [option for option in self.said if option != "--terms"]:
            raise TermsError(f"{path} has its own terms: {others[0]} does not go with it")
        return read_frozen(path)

    def _usual(self) -> str:
        """Where to start from without a preset: from a lottery, unless what was said rules one out."""
        drawn = self.rule in (None, RuleName.LOTTERY, RuleName.FLAT)
        kept = self.clearing in (None, ClearingName.LADDER) and self.contract in (None, ContractName.ON_REPORT)
        if self.rule is None and not kept:
            _log.info(
                "no lottery goes with this clearing or contract: started from --preset sound, rule optimal, whose"
                " interval is right only if prices say nothing about answers"
            )
        return "honest" if drawn and kept else "sound"


def option_of(field: str) -> str:
    """How a field is written on the command line.

    >>> option_of("bid_range"), option_of("terms_file")
    ('--bid-range', '--terms')
    """
    return "--terms" if field == "terms_file" else f"--{field.replace('_', '-')}"


def read_frozen(path: Path) -> Terms:
    """The terms of a file, learned rules among them."""
    from pdqs.neural import KINDS
    from pdqs.tables.terms_files import read_terms_file

    return read_terms_file(path, KINDS)


def with_options(run: Callable[..., None]) -> Callable[..., None]:
    """A command whose dataclasses of options are spelled out on the command line, one option for each field."""
    own = list(inspect.signature(run, eval_str=True).parameters.values())
    groups = {p.name: p.annotation for p in own if isclass(p.annotation) and is_dataclass(p.annotation)}
    spelled = {name: _options_of(group) for name, group in groups.items()}

    def spelled_out(**given: Any) -> None:
        made = {name: group(**{p.name: given.pop(p.name) for p in spelled[name]}) for name, group in groups.items()}
        run(**made, **given)

    alone = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own if p.name not in groups]
    parameters = [*alone, *(p for options in spelled.values() for p in options)]
    spelled_out.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # a function takes attributes
    spelled_out.__annotations__ = {p.name: p.annotation for p in parameters}
    return spelled_out


def _options_of(group: type[Any]) -> list[inspect.Parameter]:
    """Each field of a dataclass as an option with its own help and default."""
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name])
        for f in dataclasses.fields(group)
    ]


def _preset(name: str) -> Callable[..., Terms]:
    if name == "npqm":
        raise TermsError("preset 'npqm' needs a learned rule: train one with pdqs train")
    if name not in PRESETS:
        raise TermsError(f"unknown preset {name!r}: choose one of {', '.join(PRESETS)}")
    return PRESETS[name]


def parse_pair(text: str) -> tuple[float, float]:
    """LOW:HIGH as two numbers.

    >>> parse_pair("0:1.5")
    (0.0, 1.5)
    """
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        raise TermsError(f"a bid range is LOW:HIGH, e.g. 0:1, got {text!r}") from None
    return low, high


def parse_domain(text: str) -> Domain:
    """START:STOP or START:STOP:STEP for numbers, else labels with commas between.

    >>> parse_domain("14:61:1").size, parse_domain("no, maybe, yes").labels
    (48, ('no', 'maybe', 'yes'))
    """
    if ":" in text and "," not in text:
        try:
            start, stop, step = map(float, text.split(":") if text.count(":") > 1 else [*text.split(":"), "1"])
        except ValueError:
            raise DomainError(f"a domain of numbers is START:STOP:STEP, e.g. 14:61:1, got {text!r}") from None
        return Domain.grid(start, stop, step)
    labels = [label.strip() for label in text.split(",")] if text.strip() else []
    if "" in labels:
        raise DomainError(f"category {labels.index('') + 1} is empty in {text!r}")
    if len(labels) == 1:
        raise DomainError(f"a domain is START:STOP:STEP or labels with commas between, got {text!r}")
    return Domain.categories(labels)


def parse_query(text: str, domain: str | None) -> Query:
    """count, median, quantile:P, mean or histogram, on the domain named (count has its own: 0 or 1).

    >>> parse_query("quantile:0.9", "0:10").p
    0.9
    """
    kind, _, figure = text.partition(":")
    if kind != QueryKind.QUANTILE and figure:
        raise TermsError(f"only a quantile takes a figure, as in quantile:0.9; got {text!r}")
    if kind not in QueryKind.__members__.values():
        raise TermsError(f"unknown query {text!r}: choose one of {listed(_QUERIES)}")
    if kind == QueryKind.COUNT:
        if domain is not None:
            raise TermsError("a count asks for 0 or 1 and takes no --domain")
        return query_of(kind, domain=Domain.binary())
    if domain is None:
        raise TermsError(f"a {kind} needs a --domain, e.g. --domain 14:61:1")
    if kind == QueryKind.QUANTILE and not figure:
        raise TermsError("a quantile needs its share, as in quantile:0.9")
    return query_of(kind, domain=parse_domain(domain), p=_number("quantile", figure or "0.5"))


def parse_rule(text: str) -> str | rules.Rule:
    """A rule's name, perhaps with its figures after colons, or the file of a rule that ``pdqs train`` has learned.

    >>> parse_rule("exponential:2.5").c
    2.5
    """
    if text.endswith(".npz"):
        from pdqs.neural import load

        return load(text).rule
    name, *figures = text.split(":")
    if not figures:
        return name
    rules.named(name)
    known = _RULE_FIGURES.get(RuleName(name), ())
    if len(figures) > len(known):
        takes = f"at most {len(known)} figures ({', '.join(known)})" if known else "no figures"
        raise RuleError(f"rule {name} takes {takes}, got {text!r}")
    made: rules.Rule = rules.NAMED[name](
        **{k: _number(f"rule {name}", v) for k, v in zip(known, figures, strict=False)}
    )
    return made


def parse_prior(text: str, bid_range: tuple[float, float]) -> priors.Prior:
    """uniform, normal:MEAN:SD, or a file with a column ``bid`` of past bids.

    >>> parse_prior("normal:0.5:0.2", (0.0, 1.0))
    TruncatedNormal(mean=0.5, sd=0.2, low=0.0, high=1.0)
    """
    name, *figures = text.split(":")
    if text == "uniform":
        return priors.Uniform(*bid_range)
    if name == "normal":
        if len(figures) != 2:
            raise TermsError(f"a normal prior is normal:MEAN:SD, e.g. normal:0.5:0.25, got {text!r}")
        mean, sd = (_number("prior normal", figure) for figure in figures)
        return priors.TruncatedNormal(mean, sd, *bid_range)
    if not Path(text).suffix:
        raise TermsError(f"unknown prior {text!r}: choose uniform, normal:MEAN:SD, or a file of past bids")
    past = read_table(Path(text), ("bid",), unread=(*OFFER_COLUMNS, *LOTTERY_COLUMNS, "value", "report", "paid"))
    bids = past.bids(bid_range)
    with past.naming():
        return priors.fit(bids, bid_range)


def _number(what: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise TermsError(f"{what}: {text!r} is not a number") from None
