// Draws that nobody chose, and proofs that a bid was counted: the twin of pdqs/owner/lots.py, and of pdqs/rounds/merkle.py,
// pdqs/rounds/commitments.py and pdqs/privacy/draws.py under it.

import { money } from "./money.mjs";
import { isSigned } from "./receipts.mjs";
import { Refusal } from "./refusal.mjs";
import { bytesOf, hexOf, hmacSha256, joined, sha256Bytes, utf8 } from "./sha256.mjs";

const LOTTERY_WORD = 0;
const JITTER_WORD = 1;
const CERTAIN = 2 ** 32;
export const MARGIN_MS = 5_000; // a report that might come too late is not drawn; nor may the market's clock go back by more

const whole = (value, bytes) => Uint8Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** (bytes - 1 - i)) % 256);

export const commitmentTo = (what, secret) => hexOf(sha256Bytes(joined(utf8(`pdqs ${what} 1\n`), bytesOf(secret))));
export const pseudonymOf = (round, owner) => sha256Bytes(utf8(`pdqs pseudonym 1\n${round}\n${owner}`));
export const bidEntry = (pseudonym, bidMicros) => joined(pseudonym, whole(bidMicros, 8));

/** Word `word` of an owner; seed and nonce are in hexadecimal. */
export function committedWord(seed, nonce, pseudonym, word) {
  const said = joined(utf8("pdqs draws 1\n"), bytesOf(nonce), pseudonym, whole(Math.floor(word / 8), 4));
  return new DataView(hmacSha256(bytesOf(seed), said).buffer).getUint32(4 * (word % 8));
}

/** Whether the entry stands at `place` among `leaves`, by its neighbours on the way up to the root. */
export function isIncluded(entry, { place, leaves, path }, root) {
  if (!(place >= 0 && place < leaves)) return false;
  let [at, width, found] = [place, leaves, sha256Bytes(joined(Uint8Array.of(0), entry))];
  const left = [...path];
  for (; width > 1; at = Math.floor(at / 2), width = Math.ceil(width / 2)) {
    if ((at % 2 === 0 ? at + 1 : at - 1) >= width) continue;
    if (!left.length) return false;
    const beside = bytesOf(left.shift());
    found = sha256Bytes(joined(Uint8Array.of(1), ...(at % 2 === 0 ? [found, beside] : [beside, found])));
  }
  return !left.length && hexOf(found) === root;
}

/** What is to be looked at, where anything is. */
function there({ promise, offer, notice }) {
  return promise.seedHash && offer?.lots && notice.bids_root ? { offer, lots: offer.lots, root: notice.bids_root } : null;
}

/** Hers in this round, from the id that the market knew her by when she bid. */
export const nameOf = (t) => pseudonymOf(t.notice.round_id, t.bid?.owner_id ?? "");
const goesByLot = ({ byLot, asking: { kind, stages } }) => byLot || stages > 1 || kind === "bucket";
const isHash = (text) => /^[0-9a-f]{64}$/.test(text);
const wrong = (good, sentence) => (good ? null : sentence);
const ifThere = (look) => (t) => { const found = there(t); return found ? look(t, found) : null; };

/** A public word of hers, from the seed and the nonce that came with the offer. */
export function ownWord(t, word) {
  const lots = t.offer?.lots;
  if (!lots) throw new Refusal("The offer does not show where its draw came from.");
  return committedWord(lots.seed, lots.nonce, nameOf(t), word);
}

/** What the device keeps of a draw: the figures, and all that shows them to be right. */
export function lotsOf(offer, root) {
  const { draw, chance_numerator, posted_micros, lots } = offer;
  return { asked: offer.q_numerator > 0, draw, chance_numerator, posted_micros, evidence: sorted({ root, lots }) };
}

function sorted(value) {
  return JSON.stringify(value, (_, part) => (part !== null && typeof part === "object" && !Array.isArray(part)
    ? Object.fromEntries(Object.keys(part).sort().map((name) => [name, part[name]])) : part));
}

/** What the device holds later offers in the round to. */
export const offerOf = ({ q_numerator, payment_micros, stage, reports_close_at_ms: closes }) => ({ q_numerator, payment_micros, stage, closes_at_ms: closes });

/** Whether an offer is the one that was told first; a later end is held against its receipt. */
const sameOffer = (one, other) => ["q_numerator", "payment_micros", "stage"].every((name) => one[name] === other[name]);

const isIn = (one, other) => Object.keys(one).every((name) => one[name] === other[name]);

function lot({ promise, offer }) {
  if (!promise.byLot || (offer.q_numerator > 0) === (offer.draw < offer.chance_numerator)) return null;
  return offer.q_numerator ? "You are asked, though the lot did not fall on you." : "You are not asked, though the lot fell on you.";
}

function posted({ promise, offer, bid }) {
  const price = offer.posted_micros ?? 0;
  if (!promise.byLot || ((offer.posted_micros ?? null) === null && !offer.q_numerator)) return null;
  if (offer.q_numerator) { // whoever is asked is paid the price posted, so there is one
    return wrong(offer.payment_micros === price, `The offer pays ${money(offer.payment_micros)} where the price posted is ${money(price)}.`);
  }
  // Nobody is asked for more than the cap, so her price comes to this at most.
  return wrong(offer.posted_micros <= Math.ceil(bid.bid_micros * promise.epsilonMax), `The price posted, ${money(offer.posted_micros)}, is above yours, and you are not asked.`);
}

export const LOT_CHECKS = {
  "commitments": ["notice", ({ promise }) => wrong(!goesByLot(promise) || (isHash(promise.seedHash) && isHash(promise.nonceHash)),
    `Who is asked${promise.byLot ? "" : " what"} goes by lot, and the terms are committed to no seed and nonce.`)],
  "committed": ["bidding", ({ promise }) => wrong(isHash(promise.seedHash) && isHash(promise.nonceHash),
    "The terms are committed to no seed and nonce: nothing would show that your bid was counted.")],
  "fresh secrets": ["bidding", ({ promise, knownSecrets }) => wrong(!knownSecrets.includes(promise.seedHash) && !knownSecrets.includes(promise.nonceHash),
    "The draws hang on a seed or a nonce of another round, which is known by now.")],
  "lots told": ["offer", (t) => wrong(!t.promise.seedHash || there(t), "The offer does not show where its draw came from.")],
  "root round": ["offer", ifThere((t, { root }) => wrong(root.round_id === t.notice.round_id && root.terms_hash === t.notice.terms_hash,
    "The root over the bids is that of another round."))],
  "root time": ["offer", ifThere((t, { offer, root }) => (root.published_at_ms < t.notice.bids_close_at_ms
    ? "The root over the bids was published before bids were closed."
    : wrong(root.published_at_ms <= offer.now_ms + MARGIN_MS, "The root over the bids is to be published later, and the draws are told already.")))],
  "root signature": ["offer", ifThere(async (t, { root }) => wrong(await isSigned(t.promise.receiptKey, "BidsRoot", root),
    "The root over the bids is not signed by the market's key."))],
  "seed": ["offer", ifThere((t, { lots }) => wrong(commitmentTo("seed", lots.seed) === t.promise.seedHash,
    "The seed is not the one that the terms are committed to."))],
  "nonce": ["offer", ifThere((t, { lots }) => wrong(commitmentTo("nonce", lots.nonce) === t.promise.nonceHash,
    "The nonce is not the one that the terms are committed to."))],
  "bid counted": ["offer", ifThere((t, { lots, root }) => wrong(
    isIncluded(bidEntry(nameOf(t), t.bid.bid_micros), { place: lots.place, leaves: root.bids, path: lots.path }, root.root),
    "Your bid is not among those that the root was published over."))],
  "draw": ["offer", ifThere((t, { offer }) => wrong(
    offer.draw === ownWord(t, t.promise.byLot ? LOTTERY_WORD : JITTER_WORD),
    "The draw is not the one that follows from seed and nonce."))],
  "lot": ["offer", lot],
  "whole chance": ["offer", ({ promise, offer }) => wrong(promise.byLot || offer.chance_numerator === CERTAIN,
    "The offer speaks of a chance, and by the terms no lot says who is asked.")],
  "posted price": ["offer", posted],
  "lots stand": ["offer", ifThere((t, { offer, root }) => wrong(!t.lots || isIn(lotsOf(offer, root), t.lots),
    "The draw or the root is not the one that the market told before."))],
  "offer stands": ["offer", (t) => wrong(!t.first || sameOffer(t.offer, t.first),
    "The offer is not the one that the market told first, and no other is taken.")],
  "asked": ["drawing", (t) => wrong(t.offer.q_numerator, "Nothing is asked of you: nothing is drawn.")],
};

/** A chance in hundredths, never rounded to what it is not. */
export function chanceInWords(numerator) {
  if (numerator === 0 || numerator === CERTAIN) return numerator ? "100 in 100" : "0 in 100";
  const hundredths = (100 * numerator) / CERTAIN;
  if (hundredths < 1) return "less than 1 in 100";
  return hundredths > 99 ? "more than 99 in 100" : `${Math.round(hundredths)} in 100`;
}

/** What the lot decided, for the owner. */
export const lotInWords = ({ q_numerator, chance_numerator }) =>
  `${q_numerator ? "drawn" : "not drawn this time"}: your chance was ${chanceInWords(chance_numerator)}`;
