"""An owner who comes too late is told that she is late, what it cost her and what not; no market is accused of it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from market.pages.site import Site
from pdqs.market import round_steps
from pdqs.owner.dealing import is_late, late_in_words
from pdqs.protocol.device_messages import Offer

from .commands import Owner
from .node import twin
from .test_command import opened


@pytest.fixture
def missed(site: Site, run: Owner) -> str:
    """A round that she was asked in, left alone until reports closed."""
    round_id = opened(site)
    _, code = site.invite("owner", "Ann")
    run("enrol", site.address, code)
    run("bid", round_id, "0.1", "--yes")
    site.clock.skip(3601)
    round_steps.clear_round(site.market, site.operator, round_id)
    site.clock.skip(86_401)
    round_steps.settle_round(site.market, site.operator, round_id)
    return round_id


def test_a_report_on_a_settled_round_is_late_and_says_what_is_lost(run: Owner, missed: str) -> None:
    said = " ".join(run("report", missed, code=2).split())
    assert "you are late: " in said
    assert "was offered for a report until" in said
    assert "Nothing was drawn, so you lose no privacy, and you are not paid" in said
    assert "all the same" not in said


def test_the_list_says_which_offer_was_missed(run: Owner, missed: str) -> None:
    (line,) = [line for line in run("list").splitlines() if missed in line]
    assert "missed: " in line
    assert "was offered until" in line
    assert "bid 0.10" not in line


def test_both_devices_say_alike_that_she_is_late() -> None:
    told: dict[str, Any] = {"now_ms": 2_000, "reports_close_at_ms": 2_000, "payment_micros": 1_372_613}
    ((late, in_javascript),) = twin(script="questions_twin.mjs", late=[told])["late"]
    offer = Offer.model_construct(**told)
    assert late is is_late(offer) is True
    moment = re.compile(r"(?<=until ).*(?=\. Nothing)")
    here = late_in_words(offer)
    assert "1.37 was offered" in here
    assert moment.sub("", in_javascript) == moment.sub("", f"Y{here[1:]}.")
