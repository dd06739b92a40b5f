"""The checks of a record: each thing that follows from others is made again, and compared to the last bit."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict

from pdqs.model.errors import PdqsError
from pdqs.model.money import exact_money
from pdqs.model.names import QuestionKind
from pdqs.rounds.commitments import commitment_to
from pdqs.rounds.offers import Offers
from pdqs.rounds.settlement import settle
from pdqs.rounds.terms import Terms
from pdqs.verifying.figures import AnswerFigures, Cleared, answer_figures, cleared, reports_of, with_stages
from pdqs.verifying.findings import Finding, blamed, compared, judged, skipped
from pdqs.verifying.making import lines_of, words_for
from pdqs.verifying.record import FrozenPromise, RoundRecord, reports_tree

_OFFER = ("chance", "q", "posted", "payment")


def check_promises(record: RoundRecord, promise: FrozenPromise) -> list[Finding]:
    """Terms, secrets and root: what was fixed before anyone could know the draws."""
    found = hashlib.sha256(record.terms.encode()).hexdigest()
    root = record.tree().root.hex()
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
        judged(
            "bids",
            root == record.bids_root,
            f"{len(record.owners):,} bids under the root {root}",
            f"the {len(record.owners):,} bids listed have another root than the one published: one was dropped, added"
            " or changed",
        ),
        *([] if promise.minimum_owners is None else [_enough(len(record.owners), promise.minimum_owners)]),
    ]


def _enough(owners: int, needed: int) -> Finding:
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
    terms, names, bids = promise.terms, record.names, record.bid_micros
    words = words_for(record.seed, record.nonce, names)
    nothing = [0] * len(names)
    try:
        made = cleared(bids, words, terms)
    except PdqsError as fault:
        why = "the offers cannot be made again"
        offers = Finding(name="offers", verdict="does not agree", told=f"{why}: {fault}")
        return [offers, *(skipped(name, why) for name in _following(terms)), _totals(record, promise)]
    again = lines_of(names, bids, made, record.codes, nothing)
    asked = sum(line.q_numerator > 0 for line in again)
    return [
        compared("draws", ("draw",), record.owners, again, "all follow from seed and nonce"),
        compared("offers", _OFFER, record.owners, again, f"{asked:,} of {len(again):,} owners asked, to the last bit"),
        *_ending(record, promise, made),
        _totals(record, promise),
    ]


def _following(terms: Terms) -> tuple[str, ...]:
    """The checks that come after that of the offers."""
    return ("reports", *(("questions",) if _by_sides(terms) else ()), "answer", "payments")


def _by_sides(terms: Terms) -> bool:
    return terms.asking.kind == QuestionKind.SIDE


def _ending(record: RoundRecord, promise: FrozenPromise, made: Cleared) -> list[Finding]:
    """Reports, the questions of every stage, answer and payments."""
    strange = _strange_reports(record, made.offers, promise.terms.kappa)
    if strange:
        why = "there are reports that cannot be"
        return [blamed("reports", strange), *(skipped(name, why) for name in _following(promise.terms)[1:])]
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
    except PdqsError as fault:
        faulty = Finding(name="answer", verdict="does not agree", told=str(fault))
        return [reports, *(skipped(name, "") for name in _following(terms)[1:-2]), faulty, skipped("payments", "")]
    again = lines_of(record.names, record.bid_micros, made, codes, paid)
    payments = compared("payments", ("paid",), record.owners, again, "each is what was offered for a report that came")
    stages = f"all follow from the words and the reports, through {terms.asking.stages} stages"
    questions = compared("questions", ("stage", "side"), record.owners, again, stages)
    shown = _by_sides(terms) or questions.verdict != "held"
    return [reports, *([questions] if shown else []), _answer(said, figures), payments]


def _strange_reports(record: RoundRecord, offers: Offers, values: int) -> dict[str, str]:
    """What is wrong with whose report, as far as anyone but its owner can tell."""
    wrong = {}
    for line, asked in zip(record.owners, offers.asked.tolist(), strict=True):
        if line.code is not None and not asked:
            wrong[line.pseudonym] = "there is a report, and she was not asked"
        elif line.code is not None and line.code >= values:
            wrong[line.pseudonym] = "the report is none of the values that were asked about"
    return wrong


def _answer(said: AnswerFigures, made: AnswerFigures) -> Finding:
    for (name, theirs), ours in zip(asdict(said).items(), asdict(made).values(), strict=True):
        if ours != theirs:
            told = f"{name.replace('_', ' ')} {_brief(theirs)} in the record, {_brief(ours)} from the reports"
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
