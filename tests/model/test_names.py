"""Every choice has one name, in one place, and something behind it."""

from __future__ import annotations

from collections.abc import Collection

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

REGISTRIES: list[tuple[type[Choice], Collection[str]]] = [
    (ClearingName, WAYS),
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
    for name, contract in CONTRACTS.items():
        assert contract.name == name
    for name, facts in FACTS.items():
        assert facts.name == name


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
