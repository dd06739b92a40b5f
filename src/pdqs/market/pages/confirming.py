"""A second word before what cannot be undone: what would happen is said, and nothing is done until it is confirmed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from fastapi import Request, Response
from starlette.datastructures import FormData

from pdqs.market.pages.render import page
from pdqs.market.times import moment_text
from pdqs.model.money import Currency
from pdqs.protocol.market_messages import Member, Round, User


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Sure:
    """What is asked back. ``kept``: fields of the form that go with the confirmation."""

    question: str
    what: str
    button: str
    no: str = "No, change nothing"
    about: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    kept: Mapping[str, str] = field(default_factory=dict)


def is_confirmed(form: FormData) -> bool:
    """Whether this is the second word."""
    return form.get("confirmed") == "yes"


def asked_back(request: Request, sure: Sure, *, back: str) -> Response:
    """The page that asks; ``back`` leads away from it with nothing done."""
    return page(request, "sure.html", sure=sure, back=back)


STATE = "state"
"""The field of the confirmation with the state of the round that was asked about."""


def to_cancel(found: Round, money: Currency, *, whose: str) -> Sure:
    """Before a round is called off; ``whose`` balance its escrow goes back to."""
    if found.state == "draft":
        return Sure(
            question="Discard this draft?",
            about=found.plan.query.text or "(no words)",
            what="Nobody has seen it, and nothing was paid. It cannot be brought back.",
            button="Discard the draft",
            no="No, keep it",
            kept={STATE: found.state},
        )
    back = money.exact(found.escrow_micros)
    return Sure(
        question="Cancel this round?",
        about=found.plan.query.text or "(no words)",
        facts={"Bids so far": f"{found.bids:,}", f"Goes back to {whose}": back},
        what="Nobody has reported yet, and nobody is paid. The bids are lost. It cannot be undone.",
        button="Cancel the round",
        no="No, keep it",
        kept={STATE: found.state},
    )


TO_END_ALL = Sure(
    question="End all sign-ins?",
    what=(
        "Every browser, device and program that is signed in as you is signed out, this page too, and your passkeys are"
        " removed. To come in again you need a new code from the operator."
    ),
    button="End all sign-ins",
)


GIVEN_UP = "given_up"
"""The field of the confirmation with what is given up."""


def to_erase(given_up_micros: int, money: Currency) -> Sure:
    """Before a name is erased: how much she gives up with it, which the confirmation says again."""
    given_up = {"You give up": money.exact(given_up_micros)} if given_up_micros else {}
    return Sure(
        question="Erase your name?",
        facts=given_up,
        what=(
            "Your account is closed for good, and nobody can open it again. The ledger keeps its lines, under a number."
            + (" What you give up is owed to you no longer." if given_up else "")
        ),
        button="Erase my name",
        kept={GIVEN_UP: str(given_up_micros)} if given_up else {},
    )


def to_renew_code(person: User, name: str, signed_in: int, asked_at: str) -> Sure:
    """Before a new code signs someone out of her browsers."""
    browsers = "1 browser" if signed_in == 1 else f"{signed_in} browsers"
    return Sure(
        question=f"Make a new code for {name}?",
        facts={"Who": f"{name}, {person.role}", "Signed in with": browsers},
        what="She is signed out there, and whoever has the new code comes in as her. Her programs and devices stay in.",
        button="Make a new code",
        kept={"asked_at": asked_at},
    )


def to_change_access(person: Member, change: str, name: str) -> Sure | None:
    """Before someone is signed out everywhere or shut out; nothing where there is nothing to lose."""
    words = {
        "revoke": ("End all sign-ins of", "She is signed out everywhere and her passkeys are removed.", "End them"),
        "disable": ("Disable", "She is signed out everywhere, and cannot come in until you enable her.", "Disable"),
    }
    if change not in words:
        return None
    question, what, button = words[change]
    return Sure(
        question=f"{question} {name}?",
        facts={"Who": f"{name}, {person.role}", "Here since": moment_text(person.created_at_ms)},
        what=f"{what} Her money stays hers.",
        button=button,
    )
