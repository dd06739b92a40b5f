"""The reference is whole: every public name, choice, command, setting, problem type and message has its place in it."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

import pdqs
from pdqs.model import names

pytest.importorskip("sphinx", reason="the reference is made with the extra docs")

import check_site
import generated_pages as pages

NAMED_IN_THE_DESIGN = {
    "pdqs.rounds.presets", "pdqs.pricing.rules", "pdqs.model.priors", "pdqs.model.errors", "pdqs.model.names",
    "pdqs.auditing", "pdqs.neural", "pdqs.scale", "pdqs.market", "pdqs.owner.client", "pdqs.protocol.problems",
}  # fmt: skip


def documented(page: str) -> set[str]:
    """The names that a page of the API documents, or says where to find."""
    entries = re.findall(r"^\.\. (?:auto\w+|py:data):: (\S+)", page, re.MULTILINE)
    pointers = re.findall(r"^\* :(?:py:obj|mod):`(\S+?)[` ]", page, re.MULTILINE)
    return {entry.rpartition(".")[2] for entry in [*entries, *pointers]}


def test_every_public_name_is_in_the_reference() -> None:
    assert set(pdqs.__all__) - documented(pages.public_names_page()) == set()


def test_a_name_that_is_missing_would_be_seen() -> None:
    page = pages.public_names_page().replace(".. autofunction:: pdqs.settle\n", "")
    assert set(pdqs.__all__) - documented(page) == {"settle"}


@pytest.mark.parametrize("module", pages.MODULES)
def test_every_name_of_a_public_module_is_in_the_reference(module: str) -> None:
    assert set(pages.names_of(module)) - documented(pages.module_page(module, "title")) == set()
    assert pages.names_of(module), "a module that offers nothing"


def test_the_modules_that_people_import_from_have_a_page() -> None:
    assert pages.MODULES.keys() >= NAMED_IN_THE_DESIGN
    assert {getattr(pdqs, name).__name__ for name in pdqs.__all__ if inspect.ismodule(getattr(pdqs, name))} <= set(
        pages.MODULES
    )


def test_every_allowed_value_is_listed() -> None:
    page = pages.choices_page()
    kinds = names.Choice.__subclasses__()
    assert len(kinds) >= 6
    assert not [choice for kind in kinds for choice in kind if f"| `{choice}` | {choice.words}" not in page]


def test_every_command_is_listed_with_its_help() -> None:
    from pdqs.cli import COMMANDS

    page = pages.commands_page()
    assert not [word for word in COMMANDS if f"## pdqs {word}\n\n```text\nUsage: pdqs {word}" not in page]
    assert "### pdqs owner report\n\n```text\nUsage: pdqs owner report" in page


def test_every_setting_problem_and_message_is_listed() -> None:
    from pdqs.market.settings import Settings
    from pdqs.protocol import device_messages, forecasts, market_messages, round_questions
    from pdqs.protocol.problems import ProblemType

    every = (device_messages, market_messages, round_questions, forecasts)
    listed, problems, wire = pages.settings_page(), pages.problems_page(), pages.messages_page()
    assert all(f"| `PDQS_{field.name.upper()}` |" in listed for field in fields(Settings))
    assert all(f"| `{kind.value}` |" in problems for kind in ProblemType)
    kinds = [kind for module in every for kind in vars(module).values()]
    messages = {kind.__name__ for kind in kinds if inspect.isclass(kind) and issubclass(kind, device_messages.Message)}
    assert len(messages) > 20
    assert not [name for name in messages if f"### {name}\n" not in wire]


def test_pages_that_have_not_changed_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "old.md").write_text("gone")
    pages.write(tmp_path)
    written = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    pages.write(tmp_path)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == written
    assert "old.md" not in written


# The look through the built site


def built(folder: Path, **texts: str) -> list[str]:
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    found = check_site.read_pages(folder)
    return [*check_site.dead_links(found), *check_site.fetched_from_elsewhere(found)]


def test_a_site_that_holds_together_has_no_faults(tmp_path: Path) -> None:
    assert built(tmp_path, a='<a href="b.html#x">b</a> <a href="https://c.example">c</a>', b='<p id="x">x</p>') == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('<a href="gone.html">', "leads nowhere"),
        ('<a href="#gone">', "no such anchor"),
        ('<img src="gone.png">', "leads nowhere"),
        ('<script src="https://cdn.example/x.js"></script>', "from elsewhere"),
        ('<link rel="stylesheet" href="//fonts.example/y.css">', "from elsewhere"),
    ],
)
def test_dead_links_and_foreign_scripts_are_faults(tmp_path: Path, text: str, fault: str) -> None:
    assert [fault in sentence for sentence in built(tmp_path, a=text)] == [True]


def test_a_notebook_that_drew_nothing_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()
    for name, text in {"drawn": '<img src="../_images/a.png">', "bare": "<p>", "index": "<p>"}.items():
        (tmp_path / "notebooks" / f"{name}.html").write_text(text, encoding="utf-8")
    faults = list(check_site.without_pictures(check_site.read_pages(tmp_path)))
    assert faults == ["bare.html: a notebook without a picture"]


def test_a_public_name_without_an_entry_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<dt id="pdqs.Terms">', encoding="utf-8")
    faults = list(check_site.undocumented(check_site.read_pages(tmp_path)))
    assert "pdqs.clear has no entry in the reference" in faults
    assert len(faults) == len(pdqs.__all__) - 1
