"""The checks of a record: each thing that follows from others is made again, and compared to the last bit."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict

from pdqs.model.errors import InvariantError, PdqsError
from pdqs.model.money import exact_money
from pdqs.model.names import QuestionKind
from pdqs.rounds.commitments import commitment_to
from pdqs.rounds.offers import Offers
from pdqs.rounds.settlement import settle
from pdqs.rounds.terms import Terms
from pdqs.verifying.draws import check_draws
from pdqs.verifying.few_reports import bids_of_few, check_all_listed, check_few, owners_of_few
from pdqs.verifying.figures import (
    AnswerFigures,
    Cleared,
    answer_figures,
    cleared,
    reports_of,
    why_hopeless,
    with_stages,
)
from pdqs.verifying.findings import Finding, blamed, compared, judged, skipped
from pdqs.verifying.making import lines_of, words_for
from pdqs.verifying.record import FrozenPromise, RoundRecord, reports_tree

_OFFER = ("chance", "q", "posted", "payment")


def check_promises(record: RoundRecord, promise: FrozenPromise) -> list[Finding]:
    """Terms, secrets and root: what was fixed before anyone could know the draws."""
    found = hashlib.sha256(record.terms.encode()).hexdigest()
    seed = commitment_to("seed", bytes.fromhex(record.seed)) == promise.seed_hash
    nonce = commitment_to("nonce", bytes.fromhex(record.nonce)) == promise.nonce_hash
    return [
        judged(
            "terms",
            found == record.terms_hash and promise.as_written,
            f"their hash is {found}",
            f"the terms as they stand hash to {found[:12]}..., the record says {record.terms_hash[:12]}..."
            if promise.as_written
            else "they are not written as the terms that they describe",
        ),
        judged("seed", seed, "it is the one committed to", "it is not the one that the terms are committed to"),
        judged("nonce", nonce, "it is the one committed to", "it is not the one that the terms are committed to"),
        _bids(record, promise.terms),
        *([] if promise.minimum_owners is None else [_enough(record, promise.minimum_owners)]),
    ]


def _bids(record: RoundRecord, terms: Terms) -> Finding:
    if record.of_few:
        return bids_of_few(record, terms)
    root, listed = record.tree().root.hex(), f"{len(record.owners):,} bids"
    changed = f"the {listed} listed have another root than the one published: one was dropped, added or changed"
    return judged("bids", root == record.bids_root, f"{listed} under the root {root}", changed)


def _enough(record: RoundRecord, needed: int) -> Finding:
    if record.of_few:
        return owners_of_few(record, needed)
    owners = len(record.owners)
    good = f"{owners:,} bid, and the terms ask for {needed:,} at least"
    return judged(
        "owners", owners >= needed, good, f"{owners:,} bid, and below {needed:,} the terms call the round off"
    )


def check_kept(record: RoundRecord, root: str | None, terms_hash: str | None) -> list[Finding]:
    """What the reader wrote down when it was published, if she did."""
    found = []
    if terms_hash is not None:
        same = record.terms_hash == terms_hash
        found.append(judged("terms you kept", same, "they are those of the record", "the record has other terms"))
    if root is not None:
        same = record.bids_root == root
        found.append(judged("root you kept", same, "it is that of the record", "the record has another root"))
    return found


def check_outcome(record: RoundRecord, promise: FrozenPromise) -> list[Finding]:
    """Draws, offers, reports, answer, payments and totals, each made again from what comes before it."""
    if record.of_few:
        return [*check_few(record, promise), _totals(record, promise)]
    terms, names, bids = promise.terms, record.names, record.bid_micros
    words = words_for(record.seed, record.nonce, names)
    before = [*check_all_listed(record, promise), check_draws(record, terms)]
    try:
        made = cleared(bids, words, terms)
    except (PdqsError, InvariantError, ArithmeticError, ValueError) as fault:
        why = "the offers cannot be made again"
        offers = Finding(name="offers", verdict="does not agree", told=f"{why}: {_in_words(fault)}")
        return [*before, offers, *(skipped(name, why) for name in _following(promise)), _totals(record, promise)]
    again = lines_of(names, bids, made, record.codes, [0] * len(names))
    asked = sum(line.q_numerator > 0 for line in again)
    return [
        *before,
        compared("offers", _OFFER, record.owners, again, f"{asked:,} of {len(again):,} owners asked, to the last bit"),
        *([_answerable(made.offers, terms)] if promise.only_with_answer else []),
        *_ending(record, promise, made),
        _totals(record, promise),
    ]


def _answerable(offers: Offers, terms: Terms) -> Finding:
    good = "reports of all who were asked could answer, without which the terms call the round off"
    return judged(
        "hope", not why_hopeless(offers, terms), good, "no answer could come of it, and then the terms call it off"
    )


def _following(promise: FrozenPromise) -> tuple[str, ...]:
    """The checks that come after that of the offers."""
    return (*(("hope",) if promise.only_with_answer else ()), "reports", *_after_reports(promise.terms))


def _after_reports(terms: Terms) -> tuple[str, ...]:
    """The checks that come after that of the reports."""
    return (*(("questions",) if _by_sides(terms) else ()), "answer", "payments")


def _by_sides(terms: Terms) -> bool:
    return terms.asking.kind == QuestionKind.SIDE


def _ending(record: RoundRecord, promise: FrozenPromise, made: Cleared) -> list[Finding]:
    """Reports, the questions of every stage, answer and payments."""
    strange = _strange_reports(record, made.offers, promise.terms.kappa)
    if strange:
        why = "there are reports that cannot be"
        return [blamed("reports", strange), *(skipped(name, why) for name in _after_reports(promise.terms))]
    codes, terms, said = record.codes, promise.terms, record.answer
    came = sum(code is not None for code in codes)
    reports = judged(
        "reports",
        reports_tree(record.names, codes).root.hex() == record.reports_root,
        f"{came:,} came, all of them from owners who were asked",
        "those listed have another root than the one told with the answer: one was dropped, added or changed",
    )
    try:
        made = with_stages(codes, made, terms)
        figures = answer_figures(codes, made.offers, terms)
        paid = settle(made.offers, reports_of(codes, made.offers, terms), terms).micros.tolist()
    except (PdqsError, InvariantError, ArithmeticError, ValueError) as fault:
        faulty = Finding(name="answer", verdict="does not agree", told=_in_words(fault))
        *before, _, last = (skipped(name, "the answer cannot be made again") for name in _after_reports(terms))
        return [reports, *before, faulty, last]
    again = lines_of(record.names, record.bid_micros, made, codes, paid)
    payments = compared("payments", ("paid",), record.owners, again, "each is what was offered for a report that came")
    stages = f"all follow from the words and the reports, through {terms.asking.stages} stages"
    questions = compared("questions", ("stage", "side"), record.owners, again, stages)
    shown = _by_sides(terms) or questions.verdict != "held"
    return [reports, *([questions] if shown else []), _answer(said, figures), payments]


def _in_words(fault: Exception) -> str:
    """Why a step cannot be made again; what comes of values beyond all numbers, the language words for programmers."""
    return str(fault) if isinstance(fault, PdqsError | InvariantError) else "its values are beyond all numbers"


def _strange_reports(record: RoundRecord, offers: Offers, values: int) -> dict[str, str]:
    """What is wrong with whose report, as far as anyone but its owner can tell."""
    wrong = {}
    for line, asked in zip(record.owners, offers.asked.tolist(), strict=True):
        if line.code is not None and not asked:
            wrong[line.pseudonym] = "there is a report, and she was not asked"
        elif line.code is not None and line.code >= values:
            wrong[line.pseudonym] = "the report is none of the values that were asked about"
    return wrong


_ONLY_WORDS = (
    "; all figures of the answer agree, and another version of pdqs than the one that settled the round may word a"
    " warning otherwise"
)


def _answer(said: AnswerFigures, made: AnswerFigures) -> Finding:
    both = zip(asdict(said).items(), asdict(made).values(), strict=True)
    differ = {name: (theirs, ours) for (name, theirs), ours in both if repr(ours) != repr(theirs)}  # -0.0 is not 0.0
    for name, (theirs, ours) in differ.items():
        most = 400 if name == "warnings" else 80
        told = f"{name.replace('_', ' ')} {_brief(theirs, most)} in the record, {_brief(ours, most)} from the reports"
        told += _ONLY_WORDS if set(differ) == {"warnings"} and len(theirs) == len(ours) else ""
        return Finding(name="answer", verdict="does not agree", told=told)
    sure = f"with an interval at level {said.level:g}"
    shown = f"{_brief(said.values)}, to the last bit, {sure}" if said.values else "none, for too little came"
    return Finding(name="answer", verdict="held", told=shown)


def _brief(figure: object, most: int = 80) -> str:
    """Figures in a sentence: one of them bare, many cut short."""
    bare = figure[0] if isinstance(figure, tuple) and len(figure) == 1 else figure
    said = str(bare)
    return said if len(said) <= most else f"{said[:most]}..."


def _totals(record: RoundRecord, promise: FrozenPromise) -> Finding:
    ledger, paid = record.ledger, sum(line.paid_micros for line in record.owners)
    budget = promise.terms.budget_micros
    for wrong, told in (
        (
            ledger.escrow_micros != budget,
            f"{exact_money(ledger.escrow_micros)} in escrow for a budget of {exact_money(budget)}",
        ),
        (
            ledger.paid_micros != paid,
            f"{exact_money(ledger.paid_micros)} paid in all, {exact_money(paid)} owner by owner",
        ),
        (
            ledger.returned_micros != ledger.escrow_micros - ledger.paid_micros,
            f"{exact_money(ledger.returned_micros)} went back, which is not what was left",
        ),
    ):
        if wrong:
            return Finding(name="totals", verdict="does not agree", told=told)
    shown = f"{exact_money(paid)} paid and {exact_money(ledger.returned_micros)} returned of {exact_money(budget)}"
    return Finding(name="totals", verdict="held", told=shown)


def failed(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Those that do not agree."""
    return tuple(each for each in findings if each.verdict == "does not agree")
