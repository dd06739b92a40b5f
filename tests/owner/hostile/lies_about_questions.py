"""Lies about the question itself: a median by sides in four stages, and what else could be asked under its name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pdqs
from pdqs.protocol.device_messages import DomainMessage
from pdqs.rounds.commitments import commitment_to

from .edits import on, put
from .market import MEDIAN, ROUND, Edit, Json, Lie, Script, sign

HONEST = Lie(goal="nothing")


def asking(question: str | None = None) -> Callable[[Script], None]:
    """The round asks for a median, by sides in stages unless told otherwise."""

    def prepare(script: Script) -> None:
        terms = pdqs.Terms(query=MEDIAN, budget=100.0, question=question or "side")
        script.document["terms"] = json.loads(terms.canonical())
        domain = DomainMessage.of(MEDIAN.domain).model_dump()
        script.question.update(text=MEDIAN.text, domain=domain)
        script.kappa = terms.kappa
        script.window = (0, terms.domain_size - 1)
        script.side = None if question else 9
        script.q_numerator = 2**29 if question else 2**30

    return prepare


def staged(
    check: str | set[str],
    edit: Edit = HONEST.edit,
    *,
    goal: str = "drawn",
    before: Callable[[Script], Any] = lambda _script: None,
    **more: Any,
) -> Lie:
    """A lie in a round that asks about sides in four stages."""

    def prepare(script: Script) -> None:
        asking()(script)
        before(script)

    names = frozenset({check} if isinstance(check, str) else check)
    return Lie(goal=goal, caught_by=names, prepare=prepare, edit=edit, answer=True, **more)


def offered(check: str | set[str], change: Callable[[Json], Any], **more: Any) -> Lie:
    return staged(check, on("GET offer", change), **more)


def later(check: str, change: Callable[[Json], Any]) -> Lie:
    """The offer changes between her looking at it and the draw."""
    return staged(check, on("GET offer", change, when=lambda script: script.offers_told > 1))


def other_stage(offer: Json) -> None:
    offer.update(stage=offer["stage"] % 4 + 1)


def all_stages_open(script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
    """She is put into another stage than hers, at the same hour, and everything else fits."""
    if told == "GET notice" and body["stages"]:
        last = body["stages"][-1]
        body["stages"] = [{**last, "number": number} for number in (1, 2, 3, 4)]
    if told == "GET offer":
        body.update(stage=1 if script.turn > 1 else 2)
    return status, body


def question_says(**fields: Any) -> Callable[[Script], None]:
    return lambda script: script.document["terms"]["question"].update(fields)


def no_draws(script: Script) -> None:
    """Stages without commitments, under a rule that draws no lots."""
    script.document["terms"].update(rule="optimal", estimator="weighted")
    script.document.pop("seed_hash")
    script.document.pop("nonce_hash")


def whole_value(check: str | set[str], change: Callable[[Json], Any]) -> Lie:
    """A round that promises to ask for the value itself."""
    names = frozenset({check} if isinstance(check, str) else check)
    return Lie(goal="drawn", caught_by=names, prepare=asking("value"), edit=on("GET offer", change), answer=45)


Q_FOR_TWO = round(2**32 * (1 - 2 / (1 + 2.718281828**2)))
"""q at the cap of 2 for a question with two answers."""


def priced_for_two(offer: Json) -> None:
    """The coin and the payment of a yes-or-no question."""
    pay = 2 * 300_000 + 1
    offer.update(q_numerator=Q_FOR_TWO, payment_micros=pay, posted_micros=pay)


TOLD_BEFORE = {"kind": "question", "round_id": ROUND, "stage": 1, "side": 4}


EARLY_SEED = bytes(range(5, 37))
"""With this one she is asked in the second of four stages, and later ones are to come."""


def early(script: Script) -> None:
    script.seed = EARLY_SEED
    script.document["seed_hash"] = commitment_to("seed", EARLY_SEED)


def too_late(script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
    """The report is signed for as one that came once her stage was over, though others were still asked."""
    if told == "PUT report":
        body = sign({**body, "received_at_ms": script.closes}, script.key)
    return status, body


def too_late_by_a_moved_end(script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
    """The same, with another end of her stage than she was told."""
    if told == "GET notice" and script.offers_told > 1:
        body["stages"][-1]["closes_at_ms"] += 60_000
    return too_late(script, told, status, body)


def says_another_side(_script: Script, told: str, status: int, body: Json) -> tuple[int, Json]:
    if told == "PUT report":
        body = sign({**body, "side": body["side"] + 1})
    return status, body


STAGES = {
    "a receipt that says another side was asked": staged("receipt asked", says_another_side, goal="accepted"),
    "a receipt from after her own stage": staged("receipt time", too_late, goal="accepted", before=early),
    "a receipt from after her own stage, whose end it moved": staged(
        "receipt time", too_late_by_a_moved_end, goal="accepted", before=early
    ),
    "a side beyond the last value": offered({"side", "stage opened"}, put(side=4000)),
    "a side that everyone is on": staged("side", before=lambda s: setattr(s, "side", 20)),
    "a side outside what the stage was opened for": offered(
        "stage opened", put(side=2), before=lambda s: setattr(s, "window", (8, 12))
    ),
    "a side above what the stage was opened for": offered(
        "stage opened", put(side=13), before=lambda s: setattr(s, "window", (8, 12))
    ),
    "a question from a stage that has not opened": staged(
        {"stage opened", "same deadline"}, on("GET notice", lambda n: n.update(stages=n["stages"][:-1]))
    ),
    "a second question, and another": staged("first question", seed=(TOLD_BEFORE,)),
    "another question once she agreed": later("offer unchanged", put(side=8)),
    "another stage once she agreed": later("offer unchanged", other_stage),
    "a stage that is not hers": staged({"stage", "time to report"}, all_stages_open),
    "a draw before her question has come": staged("turn", before=lambda s: setattr(s, "not_yet", True)),
    "stages that nobody committed to": staged({"commitments", "committed", "stage"}, goal="bid", before=no_draws),
    "less time than a stage has": staged(
        {"time to report", "same deadline"},
        on("GET offer", lambda o: o.update(reports_close_at_ms=o["reports_close_at_ms"] - 30_000)),
    ),
    "another end than her stage was published with": offered(
        "same deadline", lambda o: o.update(reports_close_at_ms=o["reports_close_at_ms"] + 1)
    ),
    "a side below every value": offered({"shape", "stage opened"}, put(side=-1)),
    "a side between two values": offered({"shape"}, put(side=9.5)),
    "a ninth stage": offered({"shape", "stage", "stage opened", "same deadline", "time to report"}, put(stage=9)),
    "half a stage": offered({"shape", "stage", "stage opened", "same deadline", "time to report"}, put(stage=0.5)),
    "more privacy than the cap, by a yes or no": offered(
        "epsilon cap", put(q_numerator=2**32 - 2**26, payment_micros=9_000_000, posted_micros=9_000_000)
    ),
    "a yes or no one micro-unit short": offered(
        "price", lambda o: o.update(payment_micros=o["payment_micros"] - 1, posted_micros=o["posted_micros"] - 1)
    ),
    "the coin of a yes or no for the whole value": whole_value({"epsilon cap", "price"}, priced_for_two),
    "the price of a yes or no for the whole value": whole_value(
        "price", lambda o: o.update(payment_micros=1000, posted_micros=1000)
    ),
    "a side where the value was promised": whole_value("side", put(side=9)),
    "a side where a bucket was promised": Lie(
        goal="drawn",
        caught_by=frozenset({"side"}),
        prepare=lambda s: bucketed(s),
        edit=on("GET offer", put(side=9)),
        answer=45,
    ),
}


def bucketed(script: Script) -> None:
    """The round asks for a histogram of many values by buckets."""
    query = pdqs.Histogram(MEDIAN.domain, MEDIAN.text)
    terms = pdqs.Terms(query=query, budget=100.0, question="bucket")
    asking("value")(script)
    script.document["terms"] = json.loads(terms.canonical())
    script.kappa = terms.kappa
