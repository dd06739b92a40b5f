"""Her true answer, as ``pdqs owner report`` asks for it: typed, never an argument, so that no shell history keeps it.

What is no answer to the question is told here, before the market hears anything more: were it told by what is sent, a
list that leaves answers out would sort its owners for nothing.
"""

from __future__ import annotations

import typer

from pdqs.cli.offer_words import answers_in_words
from pdqs.cli.owner_device import asking, someone_is_there
from pdqs.model.domain import Domain
from pdqs.model.errors import InputError
from pdqs.owner.answers import label_typed, number_typed, numbers_in_words
from pdqs.owner.errors import OfferRefused
from pdqs.owner.review import encoded, not_among

_SPELLING = "in digits, with nothing between thousands and a point before decimals"


def answer_to(domain: Domain, otherwise: str) -> object:
    """The owner's answer; a person is asked until it is one. ``otherwise`` is said where nobody answers."""
    while True:
        hidden = someone_is_there()
        with asking(otherwise):
            asked = "Your true answer, yes or no" if domain.kind == "binary" else "Your true answer"
            text = str(typer.prompt(f"{asked} (stays on this device)", hide_input=hidden)).strip()
        try:
            value = _value_of(text, domain)
            encoded(domain, value, answers_in_words(domain))
        except OfferRefused as fault:
            if not hidden:
                raise
            print(f"{str(fault)[0].upper()}{str(fault)[1:]}.")
        else:
            return value


def _value_of(text: str, domain: Domain) -> object:
    if domain.kind == "categories":
        return label_typed(text, domain)
    if domain.kind == "grid":
        return _number(text, domain)
    words = {"yes": 1.0, "no": 0.0}
    try:
        return words[text.lower()] if text.lower() in words else float(text)
    except ValueError:
        return text


def _number(text: str, domain: Domain) -> float:
    """A number, read as prices are; what is none is refused with how to write one. What was typed is not written."""
    try:
        return domain.start + domain.step * number_typed(text, domain)
    except InputError:  # its message quotes what she typed
        raise not_among(f"{numbers_in_words(domain)}; write it {_SPELLING}") from None
