"""The k that is priced, shown and charged is the one that draws: a domain that contradicts itself is refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import pdqs
from pdqs.owner.errors import OfferRefused
from pdqs.owner.ledger import Ledger
from pdqs.owner.review import Device
from pdqs.protocol.device_messages import DomainMessage, Question, RoundNotice

from .node import mutant, twin
from .rounds import bid_fields, notice, offer

MANY = [f"label {i}" for i in range(1000)]

LIES: dict[str, dict[str, Any]] = {
    "many labels said to be two": {"kind": "categories", "labels": MANY, "start": 0.0, "step": 1.0, "size": 2},
    "fewer labels than said": {"kind": "categories", "labels": ["a", "b"], "start": 0.0, "step": 1.0, "size": 9},
    "a label twice": {"kind": "categories", "labels": ["a", "a"], "start": 0.0, "step": 1.0, "size": 2},
    "a grid with labels": {"kind": "grid", "labels": MANY[:2], "start": 0.0, "step": 1.0, "size": 2},
    "a binary of three": {"kind": "binary", "labels": [], "start": 0.0, "step": 1.0, "size": 3},
    "categories with a step": {"kind": "categories", "labels": ["a", "b"], "start": 0.0, "step": 2.0, "size": 2},
}


def told(domain: dict[str, Any]) -> RoundNotice:
    """A round whose frozen terms and notice both tell the lie, and hash to what they say."""
    about = notice(pdqs.Histogram(pdqs.Domain.categories(["a", "b"]), "Which?"), attribute="kind")
    document = json.loads(about.terms)
    document["terms"]["query"]["domain"] = {"is": domain["kind"], **domain}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    question = Question.model_construct(attribute="kind", text="Which?", domain=DomainMessage.model_construct(**domain))
    return about.model_copy(
        update={"terms": text, "terms_hash": hashlib.sha256(text.encode()).hexdigest(), "question": question}
    )


@pytest.mark.parametrize("lie", LIES)
def test_a_domain_that_contradicts_itself_is_no_message(lie: str) -> None:
    with pytest.raises(ValidationError):
        DomainMessage(**LIES[lie])


@pytest.mark.parametrize("lie", LIES)
def test_the_device_refuses_it_even_when_it_was_read_carelessly(lie: str, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "device.sqlite")
    about = told(LIES[lie])
    ledger.keep_bid(bid_fields(about, 0, "m"))
    with pytest.raises(OfferRefused):
        Device(market="m", ledger=ledger).review(about, offer(about, bid_micros=0))
    ledger.close()


def cases() -> list[dict[str, Any]]:
    found = []
    for domain in LIES.values():
        about = told(domain)
        made = offer(about, bid_micros=0)
        bid = bid_fields(about, 0, "m")
        found.append({"notice": about.model_dump(), "offer": made.model_dump(), "bid": bid, "code": 1})
    return found


def test_the_browsers_device_refuses_the_same_domains() -> None:
    assert [one.get("refused") for one in twin(consents=cases())["consents"]] == ["Refusal"] * len(LIES)


def test_a_browser_device_that_believes_the_size_is_caught(tmp_path: Path) -> None:
    careless = mutant(
        tmp_path, "messages.mjs", "return placed && named && counted === size ? size", "return true ? size"
    )
    assert any("refused" not in one for one in twin(careless, consents=cases())["consents"])


def test_a_grid_has_as_many_values_as_it_says_however_its_steps_round() -> None:
    for size in (2, 11, 9_999):
        for start, step in ((0.1, 0.1), (1e9, 1e-3), (-7.3, 0.7)):
            message = DomainMessage(kind="grid", start=start, step=step, size=size)
            assert message.domain().size == size
            assert DomainMessage.of(message.domain()) == message
