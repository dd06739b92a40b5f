// Everything the device holds a market to, as named checks: the twin of pdqs/owner/checks.py, with the same names.
// Each gives a sentence that says what is wrong, or nothing. `shape`, which Python's messages do by themselves, is here
// by name too; visit.mjs makes it of all that comes in.

import { closedMs, closingMs, DEAL_CHECKS, overInWords, waits } from "./dealing.mjs";
import { notedMicros } from "./account.mjs";
import { LOT_CHECKS, MARGIN_MS, nameOf } from "./lots.mjs";
import { domainSize, isCanonical } from "./messages.mjs";
import { money } from "./money.mjs";
import { epsilonNanos, isFair, leastPaymentMicros, NANOS_PER_EPSILON } from "./price.mjs";
import { readDocument } from "./reading.mjs";
import { isOfForm2, isSigned, isWeak, paidBy, SAYS_LESS } from "./receipts.mjs";
import { Refusal } from "./refusal.mjs";
import { hexOf, sha256 } from "./sha256.mjs";
import { faultOfLabels, isTurned } from "./words.mjs";

const FINEST = 1e-11; // the least step of a grid, as a part of its largest number: twelve digits are shown

const domainKey = (domain) => JSON.stringify([domain.kind, domain.labels, domain.start, domain.step, domain.size]);
export const questionKey = (question) => JSON.stringify([question.attribute, question.text, domainKey(question.domain)]);

/** The facts of the frozen document that the owner's side relies on; one that cannot be read is refused. */
export function promiseOf(notice) {
  try {
    const { query: { text, domain }, asking, bidMicros, ...said } = readDocument(notice.terms);
    return { ...said, text, domain, asking, k: domain.size, kappa: asking.codes, bidRange: bidMicros.join(" to ") };
  } catch {
    throw new Refusal("The terms cannot be read.");
  }
}

const wrong = (good, sentence) => (good ? null : sentence);
const shown = (what, frozen, seen) => wrong(frozen === seen, `The ${what} shown is not that of the terms.`);
const otherBid = ({ bid, bidThere }) => {
  if (!bidThere) return null;
  if (!bid) return "The market has a bid of yours that this browser did not make.";
  return wrong(bidThere.bid_micros === bid.bid_micros && bidThere.terms_hash === bid.terms_hash,
    "The market has another bid of yours than the one this browser made.");
};
const withoutClock = (offer) => JSON.stringify([offer.round_id, offer.terms_hash, questionKey(offer.question),
  offer.q_numerator, offer.payment_micros, offer.reports_close_at_ms, offer.chance_numerator, offer.draw, offer.posted_micros,
  offer.lots && [offer.lots.seed, offer.lots.nonce, offer.lots.place, offer.lots.path], offer.stage, offer.side]);
/** What is wrong with how the answers look, if anything. */
function looksApart({ kind, labels, start, step, size }) {
  if (kind !== "grid") return faultOfLabels(labels);
  return wrong(step >= FINEST * Math.max(Math.abs(start), Math.abs(start + step * (size - 1))), "Two of the answers look the same, so that nobody could tell which she gives.");
}
const receiptKey = (key) => (/^[0-9a-f]{64}$/.test(key) ? wrong(!isWeak(key), "The terms name a key that anyone can sign with.")
  : "The terms name no key that receipts could be checked with.");
const epsilonOf = (t) => epsilonNanos(t.offer.q_numerator, t.promise.kappa);
const twoDeadlines = (t) => {
  const later = t.promise.asking.stages > 1 && waits(t.promise, t.offer); // a stage, whose end may come later
  const good = later || t.offer.reports_close_at_ms === closingMs(t);
  return wrong(good, "The offer and the round name two deadlines.");
};

/** Whoever was not drawn may look at that for ever; whoever is asked is asked while reports are taken. */
function stillAsking({ offer, notice: { state }, report }) {
  return offer.q_numerator === 0 || report || state === "reporting" ? null : overInWords(offer, state);
}

/** What the market signs that it asked for, against the offer that was drawn from. */
function receiptAsked({ promise, report, reportThere, first, asked }) {
  if (!isOfForm2(reportThere)) return wrong(promise.receiptForm < 2, "The market's receipt does not say what you were asked for, as its terms promise.");
  const { q_numerator: q, stage, side } = reportThere;
  const nanos = epsilonNanos(q, promise.kappa);
  if (nanos !== report.epsilon_nanos || (first && first.q_numerator !== q)) {
    const [theirs, yours] = [nanos, report.epsilon_nanos].map((some) => (some / NANOS_PER_EPSILON).toFixed(9));
    return `The market's receipt says that you were asked for epsilon ${theirs}, and the offer asked for ${yours}.`;
  }
  if (first && first.stage !== stage) return `The market's receipt is for stage ${stage}, and you were asked in stage ${first.stage}.`;
  return wrong(side === (asked?.side ?? null), "The market's receipt says that you were asked about another side than you were.");
}

/** Whose the market signs that a receipt is, against her name in the round. */
function receiptOwner(t, receipt) {
  if (!isOfForm2(receipt)) return wrong(t.promise.receiptForm < 2, SAYS_LESS);
  return wrong(receipt.pseudonym === hexOf(nameOf(t)), "The market's receipt is another owner's: it does not have your name in this round.");
}

/** A receipt's time names one bid: what was signed for a price before is no word for the same price named again. */
function receiptInTurn({ notice, bid, bidThere: { placed_at_ms: placed } }) {
  if (placed >= notice.bids_close_at_ms) return "The market's receipt says that the bid came late.";
  return wrong(placed > (JSON.parse(bid.body).replaces ?? -1), "The market's receipt is no later than that of the bid whose place yours takes.");
}

/** The market's number of her report; one beyond those known of here may come from another device of hers. */
function receiptCounts({ reportThere: { ordinal }, made, acceptedBefore, ordinals }) {
  const said = "The market's receipt counts your reports wrongly";
  if (ordinal > made) return `${said}, or another device reported for you meanwhile (it counts ${ordinal}, and this browser knows of ${made}). If so, say that at your next offer, and it is taken.`;
  return wrong(acceptedBefore < ordinal && !ordinals.includes(ordinal), `${said}.`);
}

/** That money which was noted as paid is no longer there, and what she holds. */
function takenBack({ report, lines }) {
  const noted = notedMicros(report);
  const names = [...new Set(lines.filter(({ amount_micros: amount }) => amount < 0).map(({ kind }) => kind))].sort();
  const how = names.length ? `the market calls it ${names.join(" and ")}` : "the line is gone from the market's statement";
  return `${money(noted)} was paid for your report, and ${money(noted - Math.max(paidBy(lines) ?? 0, 0))} of it was taken back since (${how}). `
    + "This browser keeps the market's signed receipt and the statement's lines as it saw them then and now: save them under Privacy spent.";
}

export const CHECKS = {
  "shape": ["shape", () => null],
  "asked round": ["answer", (t) => wrong(t.notice.round_id === t.askedFor, "The market answered about another round.")],
  "terms hash": ["notice", (t) => wrong(sha256(t.notice.terms) === t.notice.terms_hash, "The terms do not match their hash.")],
  "terms canonical": ["notice", (t) => wrong(isCanonical(t.notice.terms), "The terms are not written as terms are.")],
  "shown round": ["notice", (t) => shown("round", t.promise.round, t.notice.round_id)],
  "shown attribute": ["notice", (t) => shown("attribute", t.promise.attribute, t.notice.question.attribute)],
  "shown text": ["notice", (t) => shown("question", t.promise.text, t.notice.question.text)],
  "domain": ["notice", (t) => wrong(domainSize(t.notice.question.domain) !== undefined, "The list of answers contradicts itself.")],
  "shown answers": ["notice", (t) => shown("list of answers", domainKey(t.promise.domain), domainKey(t.notice.question.domain))],
  "answers apart": ["looks", (t) => looksApart(t.promise.domain)],
  "one direction": ["looks", (t) => wrong(![t.promise.text, ...t.promise.domain.labels].some(isTurned), "The question or an answer holds a mark that turns the direction of writing.")],
  "shown bid range": ["notice", (t) => shown("bid range", t.promise.bidRange, `${t.notice.bid_low_micros} to ${t.notice.bid_high_micros}`)],
  "shown cap": ["notice", (t) => shown("cap on epsilon", t.promise.epsilonMax, t.notice.epsilon_max)],
  "shown closing time": ["notice", (t) => shown("closing time", t.promise.closes, t.notice.bids_close_at_ms)],
  "contract": ["notice", (t) => wrong(t.promise.contract === "on-report", "This contract would give away whether your report is the truth.")],
  "receipt key": ["notice", (t) => receiptKey(t.promise.receiptKey)],
  "open for bids": ["bidding", (t) => wrong(t.notice.state === "open", "The round takes no bids.")],
  "time to draw": ["bidding", (t) => wrong(1000 * t.promise.reportSeconds > MARGIN_MS, "It takes reports for so short a time that none could surely arrive: it would have your bid alone.")],
  "terms seen": ["bidding", (t) => wrong([t.seenHash, t.bid?.terms_hash].every((hash) => !hash || hash === t.notice.terms_hash), "These are not the terms you looked at.")],
  "same owner": ["bidding", (t) => wrong(!t.ownerId || !t.knownAs.length || t.knownAs.includes(t.ownerId),
    "The market takes you for somebody else than when you enrolled or bid before, and with a name it would choose your draw.")],
  "bid elsewhere": ["bidding", otherBid],
  "still asking": ["offer", stillAsking],
  "bid terms": ["offer", (t) => wrong(t.bid?.terms_hash === t.notice.terms_hash, "These are not the terms you bid on.")],
  "bid question": ["offer", (t) => wrong(t.bid && questionKey(JSON.parse(t.bid.question)) === questionKey(t.notice.question), "This is not the question you bid on.")],
  "bid still there": ["offer", (t) => wrong(!t.bid?.accepted || t.bidThere, "The market signed for your bid and now says that there is none.")],
  "bid there": ["offer", otherBid],
  "offer round": ["offer", (t) => wrong(t.offer.round_id === t.notice.round_id, "The offer is for another round.")],
  "offer terms": ["offer", (t) => wrong(t.offer.terms_hash === t.notice.terms_hash, "The offer is not for the terms that were bid on.")],
  "offer question": ["offer", (t) => wrong(questionKey(t.offer.question) === questionKey(t.notice.question), "The offer asks another question than the round did.")],
  "epsilon cap": ["offer", (t) => wrong(epsilonOf(t) <= Math.round(t.promise.epsilonMax * NANOS_PER_EPSILON) + 1, "The offer asks for more privacy than the round's cap allows.")],
  "price": ["offer", (t) => wrong(isFair(t.bid.bid_micros, t.offer.q_numerator, t.promise.kappa, t.offer.payment_micros),
    `The offer pays ${money(t.offer.payment_micros)} where your price comes to ${money(leastPaymentMicros(t.bid.bid_micros, t.offer.q_numerator, t.promise.kappa))}.`)],
  "time to report": ["offer", (t) => wrong(t.offer.reports_close_at_ms >= t.notice.bids_close_at_ms + 1000 * t.promise.reportSeconds * t.offer.stage, "The offer leaves less time than the terms promise.")],
  "same deadline": ["offer", twoDeadlines],
  "report elsewhere": ["offer", (t) => wrong(!t.reportThere || t.report, "The market has a report of yours that this browser did not make: drawing again would spend again.")],
  "market forgets": ["offer", (t) => wrong(t.counted >= t.accepted, "The market signed for more reports of yours than it now counts.")],
  "offer unchanged": ["drawing", (t) => wrong(withoutClock(t.shown) === withoutClock(t.offer), "The offer is no longer the one you looked at.")],
  "clock": ["drawing", (t) => wrong(t.offer.now_ms + MARGIN_MS >= t.shown.now_ms, "The market's clock has gone back since you looked.")],
  "in time": ["drawing", (t) => wrong(t.offer.now_ms + MARGIN_MS < t.offer.reports_close_at_ms, "Reports close before yours could surely arrive: nothing was drawn, so you lose no privacy, and you are not paid.")],
  ...LOT_CHECKS,
  ...DEAL_CHECKS,
  "bid receipt round": ["bid receipt", (t) => wrong(t.bidThere.round_id === t.notice.round_id, "The market's receipt is for another round.")],
  "bid receipt terms": ["bid receipt", (t) => wrong(t.bidThere.terms_hash === t.notice.terms_hash, "The market's receipt is for other terms.")],
  "bid receipt price": ["bid receipt", (t) => wrong(t.bidThere.bid_micros === t.bid.bid_micros, "The market's receipt says another price.")],
  "bid receipt owner": ["bid receipt", (t) => receiptOwner(t, t.bidThere)],
  "bid receipt time": ["bid receipt", receiptInTurn],
  "bid receipt signature": ["bid receipt", async (t) => wrong(await isSigned(t.promise.receiptKey, "BidReceipt", t.bidThere), "The market's receipt is not signed by its key.")],
  "receipt round": ["report receipt", (t) => wrong(t.reportThere.round_id === t.notice.round_id, "The market's receipt is for another round.")],
  "receipt terms": ["report receipt", (t) => wrong(t.reportThere.terms_hash === t.notice.terms_hash, "The market's receipt is for other terms.")],
  "receipt owner": ["report receipt", (t) => receiptOwner(t, t.reportThere)],
  "receipt code": ["report receipt", (t) => wrong(t.reportThere.code === JSON.parse(t.report.body).code, "The market's receipt says another answer.")],
  "receipt payment": ["report receipt", (t) => wrong(t.reportThere.payment_micros === t.report.payment_micros,
    `The market's receipt promises ${money(t.reportThere.payment_micros)} where the offer said ${money(t.report.payment_micros)}.`)],
  "receipt asked": ["report receipt", receiptAsked],
  "receipt time": ["report receipt", (t) => wrong(t.notice.bids_close_at_ms <= t.reportThere.received_at_ms
    && t.reportThere.received_at_ms < closedMs(t), "The market's receipt says that the report came late.")],
  "receipt count": ["report receipt", receiptCounts],
  "receipt signature": ["report receipt", async (t) => wrong(await isSigned(t.promise.receiptKey, "ReportReceipt", t.reportThere), "The market's receipt is not signed by its key.")],
  "report still there": ["payment", (t) => wrong(t.report.accepted_at_ms === null || t.reportThere || t.mayBeDeleted, "The market signed for your report and now has none.")],
  "payment": ["payment", (t) => wrong(t.paidMicros === t.report.payment_micros,
    `${money(t.report.payment_micros)} was promised and ${t.paidMicros > 0 ? money(t.paidMicros) : "nothing"} was paid${t.notice.state === "cancelled" ? " (the market calls the round cancelled)" : ""}.`)],
  "payment stays": ["afterwards", (t) => wrong(Math.max(paidBy(t.lines) ?? 0, 0) >= notedMicros(t.report), takenBack(t))],
};

/** Make every check of a stage; the first that fails is the refusal. */
export async function refuse(stage, told, checks) {
  for (const [belongs, check] of Object.values(checks)) {
    if (belongs !== stage) continue;
    const sentence = await check(told);
    if (sentence) throw new Refusal(sentence);
  }
}
