"""A draft that was changed elsewhere while its form was open: what is kept now, beside what she typed."""

from __future__ import annotations

from pdqs.market.pages.field_names import NAMES
from pdqs.market.pages.plan_form import fields_of
from pdqs.model.money import Currency
from pdqs.protocol.market_messages import RoundPlan

_MOST_LETTERS = 60


def kept_instead(kept: RoundPlan, typed: RoundPlan, money: Currency) -> str:
    """Why what she typed was not put in the place of what is kept, and where the two differ."""
    now, hers = _with_units(fields_of(kept, money)), _with_units(fields_of(typed, money))
    differ = [f"{name} {_said(now.get(field, ''))}" for field, name in NAMES.items() if _differ(field, now, hers)]
    return (
        "this draft was changed since you opened this form, and what you typed is not saved."
        f" Kept now: {'; '.join(differ) or 'what a program set'}."
        " Save once more to keep what stands below instead"
    )


def _with_units(fields: dict[str, str]) -> dict[str, str]:
    units = {f"{name}_time": f"{fields[f'{name}_time']} {fields[f'{name}_unit']}" for name in ("bid", "report")}
    return {**fields, **units}


def _differ(field: str, now: dict[str, str], hers: dict[str, str]) -> bool:
    return now.get(field, "") != hers.get(field, "")


def _said(value: str) -> str:
    words = ", ".join(value.splitlines())
    cut = f"{words[: _MOST_LETTERS - 1]}…" if len(words) > _MOST_LETTERS else words
    return f"“{cut}”" if cut else "left empty"
