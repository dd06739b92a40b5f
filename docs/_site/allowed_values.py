"""What a choice may be, added to the docstring of whatever takes it: read from the one list of names."""

from __future__ import annotations

from collections.abc import Mapping

from sphinx.application import Sphinx

from pdqs.model import names

CHOICES: Mapping[str, Mapping[str, type[names.Choice]]] = {
    "pdqs.Terms": {
        "rule": names.RuleName,
        "clearing": names.ClearingName,
        "contract": names.ContractName,
        "estimator": names.EstimatorName,
        "question": names.QuestionKind,
    },
}
"""Which field of which public name takes one of which list."""


def append(app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    """Sphinx's hook: the lines of a docstring, changed in place."""
    del app, what, found, options
    for field, choices in CHOICES.get(name, {}).items():
        lines += ["", f"Allowed values of ``{field}``:", ""]
        lines += [f"* ``{choice}``: {choice.words}" for choice in choices]
    lines.append("")
