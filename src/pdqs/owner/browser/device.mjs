// What the owner's device decides, in the browser: the twin of pdqs/owner/device.py.
//
// The order is fixed: check, charge and store, then send. Only the report's code goes on from the draw; the value is in
// no message, no store and no log.

import { money } from "./money.mjs";
import { drawReport, systemWords } from "./randomiser.mjs";
import { epsilon, epsilonNanos, isFair, leastPaymentMicros, NANOS_PER_EPSILON } from "./price.mjs";

const MOST_CODES = 10_000;
export const DEFAULT_CAP_NANOS = 10 * NANOS_PER_EPSILON;

/** The device stopped before anything was sent; the message says why, in words for the owner. */
export class Refusal extends Error {
  constructor(message) {
    super(message);
    this.name = "Refusal";
  }
}

/** SHA-256 of a text in hexadecimal; fails closed where the browser gives none. */
export async function sha256(text, subtle = globalThis.crypto?.subtle) {
  if (!subtle) throw new Refusal("This page is not on a secure connection, so the terms cannot be checked.");
  const digest = await subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** k: how many values a report can take, counted from the answers themselves; refuses a domain that contradicts itself. */
export function domainSize({ kind, labels, start, step, size }) {
  const texts = Array.isArray(labels) && labels.every((label) => typeof label === "string" && label.length > 0);
  const counted = { binary: 2, categories: labels?.length, grid: size }[kind];
  const plain = kind === "grid" ? Number.isFinite(start) && step > 0 && Number.isFinite(step) : start === 0 && step === 1;
  const listed = kind === "categories" ? new Set(labels).size === size : labels?.length === 0;
  if (!texts || !plain || !listed || !Number.isInteger(size) || size < 2 || size > MOST_CODES || counted !== size) {
    throw new Refusal("The list of answers contradicts itself, so what an answer would cost cannot be known.");
  }
  return size;
}

const BINARY = { kind: "binary", labels: [], start: 0, step: 1, size: 2 };

function domainKey(domain) {
  return JSON.stringify([domain.kind, domain.labels, domain.start, domain.step, domain.size]);
}

function questionKey(question) {
  return JSON.stringify([question.attribute, question.text, domainKey(question.domain)]);
}

/** The frozen document behind the hash says what the notice shows. */
export async function checkNotice(notice) {
  if ((await sha256(notice.terms)) !== notice.terms_hash) throw new Refusal("The terms do not match their hash.");
  let pairs;
  let contract;
  try {
    const document = JSON.parse(notice.terms);
    const { query, bid_range: range, epsilon_max: cap } = document.terms;
    contract = document.terms.contract;
    pairs = {
      "round": [document.round, notice.round_id],
      "attribute": [document.attribute, notice.question.attribute],
      "question": [query.text, notice.question.text],
      "list of answers": [domainKey(query.domain ?? BINARY), domainKey(notice.question.domain)],
      "lowest bid": [Math.round(range[0] * 1e6), notice.bid_low_micros],
      "highest bid": [Math.round(range[1] * 1e6), notice.bid_high_micros],
      "cap on epsilon": [cap, notice.epsilon_max],
      "closing time": [document.bids_close_at_ms, notice.bids_close_at_ms],
    };
  } catch {
    throw new Refusal("The terms cannot be read.");
  }
  for (const [what, [frozen, shown]] of Object.entries(pairs)) {
    if (frozen !== shown) throw new Refusal(`The ${what} shown is not that of the terms.`);
  }
  domainSize(notice.question.domain);
  if (contract !== "on-report") throw new Refusal("This contract would give away whether your report is the truth.");
}

/** The offer belongs to the round, asks what it asked, keeps to its cap and pays the owner's price. */
export async function checkOffer(notice, offer, bidMicros) {
  await checkNotice(notice);
  if (offer.round_id !== notice.round_id || offer.terms_hash !== notice.terms_hash) {
    throw new Refusal("The offer is not for the terms that were bid on.");
  }
  if (questionKey(offer.question) !== questionKey(notice.question)) {
    throw new Refusal("The offer asks another question than the round did.");
  }
  const k = domainSize(offer.question.domain);
  const nanos = epsilonNanos(offer.q_numerator, k);
  if (nanos > Math.round(notice.epsilon_max * NANOS_PER_EPSILON) + 1) {
    throw new Refusal("The offer asks for more privacy than the round's cap allows.");
  }
  if (!isFair(bidMicros, offer.q_numerator, k, offer.payment_micros)) {
    const least = leastPaymentMicros(bidMicros, offer.q_numerator, k);
    throw new Refusal(`The offer pays ${money(offer.payment_micros)} where your price comes to ${money(least)}.`);
  }
}

/** One owner's device. `store` keeps bids, reports and caps (see store.mjs); `words` gives random words. */
export class Device {
  constructor(store, owner, words = systemWords) {
    this.store = store;
    this.owner = owner;
    this.words = words;
  }

  key(roundId) {
    return `${this.owner}/${roundId}`;
  }

  /** Check the round, and store a bid for it before it is sent. An acknowledged bid stands. */
  async bid(notice, bidMicros) {
    await checkNotice(notice);
    if (!Number.isInteger(bidMicros) || bidMicros < notice.bid_low_micros || bidMicros > notice.bid_high_micros) {
      throw new Refusal("Your price must lie within the round's range.");
    }
    const body = JSON.stringify({ terms_hash: notice.terms_hash, bid_micros: bidMicros });
    return this.store.change("bids", this.key(notice.round_id), (kept) =>
      kept?.acknowledged ? kept : { bid_micros: bidMicros, body, acknowledged: false },
    );
  }

  /** Privacy spent on an attribute by this owner, against the cap. */
  async spending(attribute) {
    const [reports, cap] = await Promise.all([this.store.all("reports"), this.store.get("caps", this.key(attribute))]);
    return spent(reports, this.owner, attribute, cap);
  }

  async setCap(attribute, capNanos) {
    const cap = { owner: this.owner, attribute, cap_nanos: capNanos };
    await this.store.change("caps", this.key(attribute), () => cap);
  }

  /** Every attribute that this owner ever reported on or set a cap for. */
  async attributes() {
    const kept = [...(await this.store.all("reports")), ...(await this.store.all("caps"))];
    return [...new Set(kept.filter((one) => one.owner === this.owner).map((one) => one.attribute))].sort();
  }

  /** Recompute all that the offer claims, against this device's own record of the bid. */
  async review(notice, offer) {
    const bid = await this.store.get("bids", this.key(notice.round_id));
    if (!bid) throw new Refusal("This browser has no record of your bid, so it cannot hold the offer to it. Report from where you bid.");
    await checkOffer(notice, offer, bid.bid_micros);
    const k = domainSize(offer.question.domain);
    const spending = await this.spending(offer.question.attribute);
    const nanos = epsilonNanos(offer.q_numerator, k);
    return {
      offer,
      domainSize: k,
      bidMicros: bid.bid_micros,
      epsilon: epsilon(offer.q_numerator, k),
      epsilonNanos: nanos,
      leastPaymentMicros: leastPaymentMicros(bid.bid_micros, offer.q_numerator, k),
      spending,
      withinCap: spending.spentNanos + nanos <= spending.capNanos,
    };
  }

  /** Draw once, charge and store in one transaction; a round reported on before gives its old record. */
  async report(review, code, nowMs) {
    const { offer } = review;
    const { attribute } = offer.question;
    const nextWord = this.words(); // throws here, before anything is stored, where there is no entropy
    const cap = await this.store.get("caps", this.key(attribute));
    return this.store.change("reports", this.key(offer.round_id), (made, reports) => {
      if (made) return made;
      const { spentNanos, capNanos } = spent(reports, this.owner, attribute, cap);
      if (spentNanos + review.epsilonNanos > capNanos) {
        throw new Refusal("This would pass your lifetime cap: nothing was drawn and nothing was sent.");
      }
      return {
        owner: this.owner,
        round_id: offer.round_id,
        attribute,
        epsilon_nanos: review.epsilonNanos,
        payment_micros: offer.payment_micros,
        made_at_ms: nowMs,
        body: JSON.stringify({
          terms_hash: offer.terms_hash,
          code: drawReport(code, offer.q_numerator, review.domainSize, nextWord),
        }),
        acknowledged: false,
      };
    });
  }

  /** The market has said that it keeps this bid or report. */
  async acknowledge(what, roundId) {
    return this.store.change(what, this.key(roundId), (kept) => ({ ...kept, acknowledged: true }));
  }

  bidFor(roundId) {
    return this.store.get("bids", this.key(roundId));
  }

  reportFor(roundId) {
    return this.store.get("reports", this.key(roundId));
  }

  /** Everything this owner ever sent from here, oldest first. */
  async history() {
    const reports = await this.store.all("reports");
    return reports.filter((made) => made.owner === this.owner).sort((a, b) => a.made_at_ms - b.made_at_ms);
  }
}

function spent(reports, owner, attribute, cap) {
  const made = reports.filter((one) => one.owner === owner && one.attribute === attribute);
  return {
    spentNanos: made.reduce((sum, one) => sum + one.epsilon_nanos, 0),
    capNanos: cap?.cap_nanos ?? DEFAULT_CAP_NANOS,
    reports: made.length,
  };
}
