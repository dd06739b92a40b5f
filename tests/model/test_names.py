"""Every choice has one name, in one place, and something behind it."""

from __future__ import annotations

import ast
from collections.abc import Collection
from pathlib import Path

import pytest

import pdqs
from pdqs.clearing import WAYS
from pdqs.estimate.answers import READINGS
from pdqs.estimate.estimators import ESTIMATORS
from pdqs.model import names, questions
from pdqs.model.errors import TermsError
from pdqs.model.names import Choice, ClearingName, ContractName, EstimatorName, QueryKind, QuestionKind, RuleName
from pdqs.model.query import BY_KIND, KINDS
from pdqs.pricing import rules
from pdqs.privacy.contracts import CONTRACTS
from pdqs.rounds.clearings import FACTS

CLIMBING = {name for name, facts in FACTS.items() if facts.calibrates}
"""Clearings that draw and climb a ladder; they have code of their own beside the registry."""

REGISTRIES: list[tuple[type[Choice], Collection[str]]] = [
    (ClearingName, {*WAYS, *CLIMBING}),
    (ClearingName, FACTS),
    (EstimatorName, ESTIMATORS),
    (ContractName, CONTRACTS),
    (RuleName, rules.NAMED),
    (QueryKind, BY_KIND),
    (QueryKind, READINGS),
]
CHOICES = [kind for kind in vars(names).values() if isinstance(kind, type) and issubclass(kind, Choice)]


@pytest.mark.parametrize(("choices", "registry"), REGISTRIES)
def test_every_name_has_something_behind_it_and_every_thing_a_name(
    choices: type[Choice], registry: Collection[str]
) -> None:
    assert set(registry) == {choice.value for choice in choices}


def test_every_question_has_a_name_and_every_name_but_the_one_that_leaves_it_open_a_question() -> None:
    assert [question.kind for question in questions.KINDS] == [
        kind for kind in QuestionKind if kind != QuestionKind.AUTO
    ]


def test_every_name_has_words_for_people() -> None:
    for kind in CHOICES:
        for choice in kind:
            assert choice.words, f"{kind.__name__}.{choice.name} says nothing"
            assert "\n" not in choice.words


def test_what_is_registered_answers_to_its_name() -> None:
    assert {query.kind for query in KINDS} == set(BY_KIND)
    for name in RuleName:
        assert rules.name_of(rules.named(name)) == name
    assert all(contract.name == name for name, contract in CONTRACTS.items())
    assert all(facts.name == name for name, facts in FACTS.items())


def test_a_member_and_its_string_make_the_same_terms_to_the_byte() -> None:
    plain = pdqs.presets.sound(
        query=pdqs.Count(), budget=5.0, rule="robust", clearing="greedy", contract="on-selection", estimator="shrunk"
    )
    members = pdqs.presets.sound(
        query=pdqs.Count(),
        budget=5.0,
        rule=RuleName.ROBUST,
        clearing=ClearingName.GREEDY,
        contract=ContractName.ON_SELECTION,
        estimator=EstimatorName.SHRUNK,
    )
    assert members == plain
    assert members.canonical() == plain.canonical()
    assert repr(members) == repr(plain)
    assert all(type(kept) is str for kept in (members.rule, members.clearing, members.contract, members.estimator))


@pytest.mark.parametrize("rule", [RuleName.LOTTERY, RuleName.FLAT])
@pytest.mark.parametrize("clearing", [ClearingName.OPEN, ClearingName.GREEDY])
def test_a_rule_that_asks_some_needs_a_clearing_that_can(rule: RuleName, clearing: ClearingName) -> None:
    with pytest.raises(TermsError, match=f"rule '{rule}' asks by lot, which needs clearing 'ladder'.*not '{clearing}'"):
        pdqs.presets.sound(query=pdqs.Count(), budget=5.0, rule=rule, clearing=clearing)


def test_only_clearings_that_keep_the_budget_say_so() -> None:
    kept = {name for name in FACTS if pdqs.presets.sound(query=pdqs.Count(), budget=5.0, clearing=name).keeps_budget}
    assert kept == {"ladder", "greedy", "fairquery", "single-minded"}
    by_coin = ContractName.ON_SELECTION
    still = {
        name
        for name in FACTS
        if pdqs.presets.sound(query=pdqs.Count(), budget=5.0, clearing=name, contract=by_coin).keeps_budget
    }
    assert still == {"fairquery"}, "a payment that hangs on a coin may pass the budget"


FIELDS: dict[str, type[Choice]] = {
    "clearing": ClearingName,
    "contract": ContractName,
    "estimator": EstimatorName,
    "kind": QueryKind,
    "query": QueryKind,
    "rule": RuleName,
}


def last_word(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def spelled_out(text: str) -> list[str]:
    """Choices written as strings where they are compared, passed by name or set as a default."""
    places: list[tuple[set[str], list[ast.AST]]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            sides: list[ast.AST] = [node.left, *node.comparators]
            places.append(({last_word(side) for side in sides}, sides))
        elif isinstance(node, ast.keyword):
            places.append(({str(node.arg)}, [node.value]))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant):
            places.append(({last_word(node.target)}, [node.value]))
    return [
        f"line {leaf.lineno}: {leaf.value}"
        for fields, nodes in places
        for field in sorted(fields & FIELDS.keys())
        for node in nodes
        for leaf in ast.walk(node)
        if isinstance(leaf, ast.Constant) and leaf.value in {choice.value for choice in FIELDS[field]}
    ]


def test_no_choice_is_spelled_out_again() -> None:
    package = Path(str(pdqs.__file__)).parent
    found = {path.relative_to(package): spelled_out(path.read_text(encoding="utf-8")) for path in package.rglob("*.py")}
    assert not {path: lines for path, lines in found.items() if lines}


def test_a_choice_that_is_spelled_out_would_be_found() -> None:
    assert spelled_out("if terms.rule in (None, 'linear'): pass") == ["line 1: linear"]
    assert spelled_out("replace(terms, contract='on-report')") == ["line 1: on-report"]
    assert spelled_out("estimator: str = 'naive'") == ["line 1: naive"]
    assert spelled_out("if word == 'linear' or rule == 'count': pass") == []
