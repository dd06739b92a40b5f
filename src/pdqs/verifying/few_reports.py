"""Records of rounds that too few reported in for an answer: they list those who reported, and nobody else's bid.

A round that nobody can report in costs its consumer nothing. If its record had everyone's bid all the same, bids could
be had for nothing. What is left shows what was promised, what came, what was paid for it and what went back. How many
bid, what they were offered and whether there was hope of an answer is the market's word, and said to be; whoever is
left out holds her own bid, and the number of bids, against the published root (``pdqs verify --proof``).
"""

from __future__ import annotations

from pdqs.estimate.enough import LEAST_REPORTS, fewest_reports
from pdqs.model.money import exact_money
from pdqs.model.names import ContractName, EstimatorName, QuestionKind
from pdqs.privacy.draws import STAGE_WORD
from pdqs.rounds.stages import parts_of, stages_of
from pdqs.rounds.terms import Terms
from pdqs.verifying.draws import by_owner, check_draws, words_of
from pdqs.verifying.figures import DISHONEST_SHARE, LEVEL
from pdqs.verifying.findings import Finding, blamed, judged, skipped, wrong_in
from pdqs.verifying.listed_rows import bid_fault, offer_fault, question_fault
from pdqs.verifying.record import FrozenPromise, RecordLine, RoundRecord, reports_tree

LEFT_OUT = f"fewer than {LEAST_REPORTS} reported, so that the record lists them alone"


def bids_of_few(record: RoundRecord, terms: Terms) -> Finding:
    """The bids that are listed lie in their range; that all were counted only who made them can tell."""
    wrong = wrong_in(record.owners, lambda line: bid_fault(line, terms))
    told = f"{LEFT_OUT}; whoever bid can look for her own under the root, with --proof"
    return blamed("bids", wrong) if wrong else skipped("bids", told)


def owners_of_few(record: RoundRecord, needed: int) -> Finding:
    """How many bid is the market's word: it can speak against the market, and not for it."""
    said = record.answer.owners
    if said < needed:
        told = f"{said:,} bid, and below {needed:,} the terms call the round off"
        return Finding(name="owners", verdict="does not agree", told=told)
    whose = f"that {said:,} bid, of the {needed:,} that the terms ask for, is the market's word"
    return skipped("owners", f"{LEFT_OUT}; {whose}: whoever bid can hold it against her root, with --proof")


def check_few(record: RoundRecord, promise: FrozenPromise) -> list[Finding]:
    """All that can be made again from those who reported, and whether the others may be left out."""
    terms = promise.terms
    return [
        _rows(record, promise),
        check_draws(record, terms),
        _offers(record, terms),
        *([_hope(record, terms)] if promise.only_with_answer else []),
        _reports(record, terms),
        *_questions(record, terms),
        _no_answer(record, terms),
        _payments(record, terms),
    ]


def check_all_listed(record: RoundRecord, promise: FrozenPromise) -> list[Finding]:
    """Whether a record may list everyone: a finding where its terms promise those who bid that it does not."""
    came = sum(code is not None for code in record.codes)
    if promise.record == "none":
        return [Finding(name="rows", verdict="does not agree", told="everyone is listed, and the terms promise none")]
    if promise.record == "answered" and came < LEAST_REPORTS:
        told = f"everyone is listed, which the terms allow only where {LEAST_REPORTS} reported, and {came} did"
        return [Finding(name="rows", verdict="does not agree", told=told)]
    return []


def _rows(record: RoundRecord, promise: FrozenPromise) -> Finding:
    few = len(record.owners) < LEAST_REPORTS and promise.record == "answered"
    others = f"{record.answer.owners - len(record.owners):,} bids are left out"
    return judged(
        "rows",
        few,
        f"{LEFT_OUT}, as the terms say; {others}",
        f"{others}, which the terms allow only where fewer than {LEAST_REPORTS} reported"
        if promise.record == "answered"
        else f"{others}, which the terms do not allow",
    )


def _offers(record: RoundRecord, terms: Terms) -> Finding:
    wrong = wrong_in(record.owners, lambda line: offer_fault(line, terms))
    listed = "; those listed are such as the terms allow" if record.owners else ""
    return blamed("offers", wrong) if wrong else skipped("offers", f"{LEFT_OUT}{listed}")


def _hope(record: RoundRecord, terms: Terms) -> Finding:
    """Fewer than any answer needs are too few whatever they were offered; more may be enough."""
    asked = record.answer.asked
    naive = terms.estimator == EstimatorName.NAIVE
    if asked < fewest_reports(1.0 if naive else terms.q_max):
        told = f"no answer could come of the {asked:,} who were asked, and then the terms call it off"
        return Finding(name="hope", verdict="does not agree", told=told)
    return skipped("hope", f"{LEFT_OUT}; whether all who were asked could have answered hangs on the others' offers")


def _reports(record: RoundRecord, terms: Terms) -> Finding:
    def fault(line: RecordLine) -> str:
        if line.code is None:
            return "there is no report, and she is listed"
        if not line.q_numerator:
            return "there is a report, and she was not asked"
        return "" if line.code < terms.kappa else "the report is none of the values that were asked about"

    wrong = wrong_in(record.owners, fault)
    if wrong:
        return blamed("reports", wrong)
    return judged(
        "reports",
        reports_tree(record.names, record.codes).root.hex() == record.reports_root,
        f"{len(record.owners):,} came, and those are all",
        "those listed have another root than the one told with the answer: one was dropped, added or changed",
    )


def _questions(record: RoundRecord, terms: Terms) -> list[Finding]:
    """Stages follow from words; sides, beyond that they are of the question, from reports and bids of all."""
    stages = by_owner(record, stages_of(words_of(record, STAGE_WORD), parts_of(terms.asking.stages)))
    wrong = wrong_in(record.owners, lambda line: question_fault(line, stages[line.pseudonym], terms))
    if wrong:
        return [blamed("questions", wrong)]
    listed = "; the stages of those listed follow from seed and nonce" if record.owners else ""
    return [skipped("questions", f"{LEFT_OUT}{listed}")] if terms.asking.kind == QuestionKind.SIDE else []


def _no_answer(record: RoundRecord, terms: Terms) -> Finding:
    if terms.estimator == EstimatorName.NAIVE:
        return skipped("answer", f"{LEFT_OUT}, and the naive estimator answers for all who bid")
    said, came = record.answer, len(record.owners)
    counts = said.reports == came <= said.asked <= said.owners
    empty = not (said.labels or said.values or said.raw or said.interval or said.interval_if_dishonest)
    usual = (said.level, said.dishonest_share) == (LEVEL, DISHONEST_SHARE) and not said.sensitivity
    good = "none, for too little came (how many bid and were asked, its information and warnings are not made again)"
    return judged("answer", counts and empty and usual, good, "it does not follow from the reports")


def _payments(record: RoundRecord, terms: Terms) -> Finding:
    if terms.contract != ContractName.ON_REPORT:
        return skipped("payments", LEFT_OUT)

    def fault(line: RecordLine) -> str:
        paid, offered = exact_money(line.paid_micros), exact_money(line.payment_micros)
        return "" if line.paid_micros == line.payment_micros else f"payment {paid}, and {offered} was offered"

    wrong = wrong_in(record.owners, fault)
    paid = "each is what was offered for a report that came" if record.owners else "none, for no report came"
    return blamed("payments", wrong) if wrong else judged("payments", True, paid, "")
