"""The pages of the reference that are read off the code when the site is built: nothing in them is written by hand."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType

import typer
from pydantic import BaseModel
from sphinx.pycode import ModuleAnalyzer

import pdqs
from pdqs.cli import COMMANDS, main
from pdqs.market import settings
from pdqs.model import names
from pdqs.protocol import device_messages, forecasts, market_messages, problems, round_questions

COLUMNS = "96"
"""How wide the help of a command is set."""

GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "The flow": (
            "Terms", "clear", "Offers", "randomise", "received", "Reports", "answer", "Answer", "settle", "Payments",
            "trade", "Trade",
        ),
        "Queries and what is asked": ("Count", "Median", "Quantile", "Mean", "Histogram", "Domain", "Question"),
        "Before a round": ("plan", "Plan", "compare", "Comparison"),
        "Measuring what is kept": ("audit", "verify"),
        "Randomness of a device": ("SystemEntropy",),
        "Errors": ("PdqsError",),
    }
)  # fmt: skip
"""The public names in the order of the flow; whatever is public and not here comes last, under a heading of its own."""

MODULES: Mapping[str, str] = MappingProxyType(
    {
        "pdqs.rounds.presets": "Presets: whole sets of terms by name",
        "pdqs.pricing.rules": "Rules: how the chance of truth falls with the bid",
        "pdqs.model.priors": "Priors: what is believed of bids",
        "pdqs.model.errors": "Errors: what a caller can mend",
        "pdqs.model.names": "Names of every choice",
        "pdqs.auditing": "Audits",
        "pdqs.verifying": "Records of rounds, and checking them",
        "pdqs.neural": "Learned rules",
        "pdqs.scale": "Streams and clusters",
        "pdqs.estimate": "Estimates, for those who add up reports themselves",
        "pdqs.market": "The market's settings and context",
        "pdqs.market.client": "A typed client of the market",
        "pdqs.owner.client": "A typed client for an owner's device",
        "pdqs.owner.ledger": "The account of privacy spent",
        "pdqs.protocol.problems": "Problems: errors on the wire",
    }
)
"""Modules that people import from beside ``pdqs`` itself, each with the title of its page."""


def write(folder: Path) -> None:
    """Write every page into the folder; a page that has not changed keeps its time, so that it is not built again."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = dict(_pages())
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()


def _pages() -> Iterator[tuple[str, str]]:
    yield "commands.md", commands_page()
    yield "choices.md", choices_page()
    yield "settings.md", settings_page()
    yield "problems.md", problems_page()
    yield "messages.md", messages_page()
    yield "api.rst", public_names_page()
    for module, title in MODULES.items():
        yield f"{module}.rst", module_page(module, title)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; bars within cells are kept from ending them.

    >>> print(table(["a", "b"], [["1", "x|y"]]))
    | a | b |
    |---|---|
    | 1 | x\\|y |
    """
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


# The command line


def said_by(*words: str) -> str:
    """What a command prints, at a fixed width."""
    os.environ["COLUMNS"] = os.environ["TERMINAL_WIDTH"] = COLUMNS
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main(list(words))
    return "\n".join(line.rstrip() for line in printed.getvalue().strip("\n").splitlines())


def subcommands(word: str) -> tuple[str, ...]:
    """The words that may follow a command's."""
    run = importlib.import_module(f"pdqs.cli.commands.{word}").run
    if not isinstance(run, typer.Typer):
        return ()
    found = typer.main.get_group(run).commands
    return tuple(name for name, command in found.items() if not command.hidden)


def commands_page() -> str:
    """Every command and subcommand with its help, as printed."""
    parts = [
        "# Every command",
        "What `--help` prints, for every command. How they go together is in [the command line](../../cli.md).",
        f"```text\n{said_by('--help')}\n```",
    ]
    for word in COMMANDS:
        parts += [f"## pdqs {word}", f"```text\n{said_by(word, '--help')}\n```"]
        for under in subcommands(word):
            parts += [f"### pdqs {word} {under}", f"```text\n{said_by(word, under, '--help')}\n```"]
    return "\n\n".join(parts) + "\n"


# Choices, settings, problems, messages


def choices_page() -> str:
    """Each list of names with the words that people see."""
    parts = [
        "# Every allowed value",
        "Terms, messages, commands and pages read these names from one place, `pdqs.model.names`. A choice is given as"
        " the plain text in the first column.",
    ]
    for kind in names.Choice.__subclasses__():
        rows = [(f"`{choice}`", choice.words) for choice in kind]
        parts += [f"## {_spaced(kind.__name__)}", str(inspect.getdoc(kind)), table(["value", "meaning"], rows)]
    rows = [
        (f"`presets.{name}`", _first_line(getattr(pdqs.presets, name)))
        for name in names_of("pdqs.rounds.presets")
        if name.islower()
    ]
    parts += ["## Presets", "Whole sets of terms.", table(["preset", "what it is"], rows)]
    return "\n\n".join(parts) + "\n"


def settings_page() -> str:
    """Every setting of the market with what it is unless set; its meaning stands in the page on running a market."""
    told = meanings_told()
    rows = [
        (f"`{variable}`", f"`{field.default}`" if field.default != "" else "empty", told[variable])
        for field in fields(settings.Settings)
        for variable in [settings.PREFIX + field.name.upper()]
    ]
    return "\n\n".join(
        [
            "# Every setting of the market",
            "Read from the environment when `pdqs serve` starts. None is needed. How to run a market is in"
            " [running a market](../../operations.md).",
            table(["variable", "unless set", "meaning"], rows),
        ]
    )


def meanings_told() -> dict[str, str]:
    """By variable, what the table in docs/operations.md says of it; the pages it leads to are two folders up."""
    page = (Path(__file__).parent.parent / "operations.md").read_text(encoding="utf-8")
    page = re.sub(r"\]\((?=[\w/-]+\.md)", "](../../", page)
    rows = re.findall(r"^\| (`PDQS_[^|]+) \|[^|]+\| (.+) \|$", page, re.MULTILINE)
    return {variable: meaning for named, meaning in rows for variable in re.findall(r"`(\w+)`", named)}


def problems_page() -> str:
    """Every type of problem, in the groups of its source, with the statuses it is sent with."""
    sent = _statuses()
    parts = [
        "# Every problem type",
        "An error on the wire is `application/problem+json` (RFC 9457): `type` is one of these stable words for"
        " programs, `title` and `status` are HTTP's, `detail` is a sentence for people.",
    ]
    for group, members in _grouped(problems.ProblemType):
        rows = [(f"`{problems.ProblemType[name].value}`", ", ".join(sorted(sent.get(name, {""})))) for name in members]
        parts += [f"## {group}", table(["type", "status"], rows)]
    return "\n\n".join(parts) + "\n"


def messages_page() -> str:
    """Every message with its fields."""
    parts = [
        "# Every message",
        "JSON objects; a field that is not listed is refused. Money is in whole micro-units (`_micros`), time in"
        " milliseconds since 1970 (`_ms`), q in multiples of 2^-32.",
    ]
    others = (market_messages, round_questions, forecasts)
    for title, modules in (("Owner and market", (device_messages,)), ("Consumer, operator and market", others)):
        parts.append(f"## {title}")
        for module in modules:
            for name, kind in _public(module):
                if inspect.isclass(kind) and issubclass(kind, BaseModel) and kind.__module__ == module.__name__:
                    parts += [f"### {name}", _first_line(kind), *_fields_of(kind)]
    return "\n\n".join(parts) + "\n"


def _fields_of(kind: type[BaseModel]) -> list[str]:
    schema = kind.model_json_schema()
    needed = schema.get("required", [])
    rows = [
        (f"`{name}`", _type_words(facts), "yes" if name in needed else f"no: `{facts.get('default')}`")
        for name, facts in schema.get("properties", {}).items()
    ]
    return [table(["field", "type", "needed"], rows)] if rows else []


def _type_words(facts: Mapping[str, object]) -> str:
    """A type of JSON schema in few words.

    >>> _type_words({"type": "integer", "minimum": 0})
    'integer, at least 0'
    """
    if "$ref" in facts:
        target = str(facts["$ref"]).rpartition("/")[2]
        return f"[{target}](#{target.lower()})"
    options = facts.get("anyOf")
    if isinstance(options, list):
        return " or ".join(_type_words(option) for option in options)
    words = str(facts.get("type", "any"))
    if isinstance(facts.get("items"), Mapping):
        words = f"list of {_type_words(facts['items'])}"  # type: ignore[arg-type]  # JSON: a mapping, seen above
    if "enum" in facts or "const" in facts:
        allowed = facts.get("enum", [facts.get("const")])
        words = " or ".join(f"`{value}`" for value in allowed)  # type: ignore[attr-defined]  # JSON: a list
    limits = {
        "minimum": "at least",
        "maximum": "at most",
        "minLength": "length at least",
        "maxLength": "length at most",
    }
    return ", ".join([words, *(f"{said} {facts[key]}" for key, said in limits.items() if key in facts)])


def _statuses() -> dict[str, set[str]]:
    """By problem type, the statuses of the errors that the market raises with it: read from the source."""
    found: dict[str, set[str]] = {}
    kinds = {kind.__name__: kind.status for kind in problems.ERRORS.values()}
    source = Path(str(pdqs.__file__)).parent
    for path in source.rglob("*.py"):
        for error, name in re.findall(r"(\w+Error)\(\s*ProblemType\.(\w+)", path.read_text(encoding="utf-8")):
            if error in kinds:
                found.setdefault(name, set()).add(str(kinds[error]))
    return found


def _grouped(kind: type) -> Iterator[tuple[str, list[str]]]:
    """The members of an enum under the comments that head them."""
    group, members = "", list[str]()
    for line in inspect.getsource(kind).splitlines():
        if heading := re.match(r"    # (.+)", line):
            if members:
                yield group, members
            group, members = heading[1], []
        elif member := re.match(r"    ([A-Z_]+) = ", line):
            members.append(member[1])
    yield group, members


def _public(module: object) -> list[tuple[str, object]]:
    return [(name, found) for name, found in vars(module).items() if not name.startswith("_")]


def _first_line(found: object) -> str:
    """The first line of a docstring, its marks turned into Markdown's.

    >>> _first_line(_first_line)
    "The first line of a docstring, its marks turned into Markdown's."
    """
    line = (inspect.getdoc(found) or "").partition("\n")[0]
    return re.sub(r":\w+:`[~.]?([^`]+)`", r"`\1`", line).replace("``", "`")


def _spaced(name: str) -> str:
    """``ClearingName`` as people write it.

    >>> _spaced("ClearingName")
    'Clearing'
    """
    return re.sub(r"(Name|Kind)$", "", name)


# The API


def underlined(title: str, mark: str) -> str:
    return f"{title}\n{mark * len(title)}"


def directive(module: str, name: str) -> str:
    """How autodoc is asked for one name."""
    found = getattr(importlib.import_module(module), name)
    full = f"{module}.{name}"
    if module != "pdqs" and name in pdqs.__all__ and getattr(pdqs, name) is found:
        return f"* :py:obj:`pdqs.{name}`, also found here\n"
    if inspect.isclass(found):
        return f".. autoclass:: {full}\n   :members:\n   :undoc-members:\n"
    if inspect.ismodule(found):
        return f"* :mod:`{full} <{found.__name__}>`: {_first_line(found)}\n"
    if callable(found):
        return f".. autofunction:: {full}\n"
    said = "\n   ".join(_said_of_data(module, name))
    return f".. py:data:: {full}\n\n   {said}\n"


def _said_of_data(module: str, name: str) -> list[str]:
    """The text below a constant, in the module or in the part of it that the constant comes from."""
    for part in [module, *sorted(found for found in sys.modules if found.startswith(f"{module}."))]:
        said = ModuleAnalyzer.for_module(part).find_attr_docs().get(("", name))
        if said:
            return said
    raise LookupError(f"{module}.{name} is public and has no text below it that says what it is")


def public_names_page() -> str:
    """All of ``pdqs.__all__``, in groups; a name that nobody has put in a group comes last."""
    placed = {name for group in GROUPS.values() for name in group}
    modules = [name for name in pdqs.__all__ if inspect.ismodule(getattr(pdqs, name))]
    rest = [name for name in pdqs.__all__ if name not in placed and name not in modules]
    groups: dict[str, Sequence[str]] = {**GROUPS, **({"More": rest} if rest else {}), "Modules": modules}
    parts = [underlined("The public names", "="), "``import pdqs`` gives these, and nothing heavy is loaded with them."]
    for title, group in groups.items():
        there = [name for name in group if name in pdqs.__all__]
        parts += [underlined(title, "-"), *(directive("pdqs", name) for name in there)]
    return "\n\n".join(parts) + "\n"


def names_of(module: str) -> list[str]:
    """What a module offers: its ``__all__``, or what it defines itself without a leading underscore."""
    found = importlib.import_module(module)
    if hasattr(found, "__all__"):
        return list(found.__all__)
    return [
        name
        for name, thing in _public(found)
        if getattr(thing, "__module__", None) == module and (inspect.isclass(thing) or inspect.isfunction(thing))
    ]


def module_page(module: str, title: str) -> str:
    """A module's docstring and everything it offers."""
    opening = f".. automodule:: {module}\n   :no-members:\n"
    parts = [underlined(title, "="), opening, *(directive(module, name) for name in names_of(module))]
    return "\n\n".join(parts) + "\n"
