// What a device's entries add up to: the twin of pdqs/owner/account.py, entry for entry and hash for hash.

import { NANOS_PER_EPSILON } from "./price.mjs";
import { Refusal } from "./refusal.mjs";
import { sha256 } from "./sha256.mjs";
import { quoted } from "./spelling.mjs";
import { plainWords } from "./words.mjs";

export const DEFAULT_CAP_NANOS = 4 * NANOS_PER_EPSILON;
export const DEFAULT_OVERALL_CAP_NANOS = 12 * NANOS_PER_EPSILON;
export const OVERALL = "";
const FIRST_HASH = "0".repeat(64);

/** An entry as it is stored and hashed: its fields in the order of their names. */
export function entryText(fields) {
  return JSON.stringify(Object.fromEntries(Object.keys(fields).sort().map((name) => [name, fields[name]])));
}

export const chained = (before, text) => sha256(`${before}\n${text}`);

/** The row that follows these rows. */
export function nextRow(rows, fields) {
  const entry = entryText(fields);
  return { entry, hash: chained(rows.at(-1)?.hash ?? FIRST_HASH, entry) };
}

/** A market's name as all spellings of its address are spelled: one market has one account. */
export function oneAddress(market) {
  const [, scheme, host, rest] = /^(https?):\/\/([^/?#\s]*)(.*)$/is.exec(market) ?? [];
  if (scheme === undefined) return market;
  const usual = scheme.toLowerCase() === "http" ? /:80$/ : /:443$/;
  return `${scheme.toLowerCase()}://${host.toLowerCase().replace(usual, "")}${rest}`.replace(/\/+$/, "");
}

// The links that were checked since the page was loaded, by their hash: an entry is hashed and read once, however often it is
// met. Nothing is taken on trust for that: every row is compared with the one that was hashed, letter by letter.
const checked = new Map();

/** What an entry says, if `hash` is that of it and of all before it; null where it is not. */
function linked(before, entry, hash) {
  const known = checked.get(hash);
  if (known?.before === before && known.entry === entry) return known.fields;
  if (chained(before, entry) !== hash) return null;
  const fields = JSON.parse(entry);
  if (typeof fields.market === "string") fields.market = oneAddress(fields.market); // stored as it was written
  checked.set(hash, { before, entry, fields: Object.freeze(fields) });
  return fields;
}

/** Rows as the store gave them, every link checked; anything else is refused. */
export function accountOf(rows) {
  let before = FIRST_HASH;
  const entries = rows.map(({ entry, hash }, place) => {
    const fields = linked(before, entry, hash);
    if (!fields) throw new Refusal(`The account in this browser is damaged or was tampered with (entry ${place + 1}), so nothing is drawn.`);
    before = hash;
    return fields;
  });
  return new Account(entries);
}

const said = new WeakMap();

/** What the terms of a bid say of keys and secrets, read once. */
export function termsOf(bid) {
  if (!said.has(bid)) {
    const { seed_hash: seed, nonce_hash: nonce, receipt_key: key } = JSON.parse(bid.terms);
    said.set(bid, { key, secrets: JSON.stringify([seed, nonce]).match(/[0-9a-f]{64}/g) ?? [] }); // in a list, too
  }
  return said.get(bid);
}

/** What stands once a receipt came, and what waits for one; it may be a second one for the bid that stands. */
function signedFor(receipt, standing, sent) {
  const price = JSON.parse(receipt).bid_micros;
  const named = sent.findLast((bid) => bid.bid_micros === price);
  if (standing && !named && (!sent.length || standing.bid_micros === price)) return [{ ...standing, receipt }, sent];
  return [{ ...(named ?? sent.at(-1)), accepted: true, receipt }, []];
}

const LATER = { "sent": "sent_at_ms", "accepted": "accepted_at_ms", "refused": "refused", "paid": "paid_micros", "taken-back": "taken_back_micros" };

export class Account {
  #rounds = null; // its entries by market and round, so that they are gone through once, and not for each round

  constructor(entries) {
    this.entries = entries;
  }

  all(kind) {
    return this.entries.filter((entry) => entry.kind === kind);
  }

  of(market, roundId) {
    if (!this.#rounds) {
      this.#rounds = new Map();
      for (const entry of this.entries) {
        const name = JSON.stringify([entry.market, entry.round_id]);
        if (this.#rounds.has(name)) this.#rounds.get(name).push(entry);
        else this.#rounds.set(name, [entry]);
      }
    }
    return this.#rounds.get(JSON.stringify([market, roundId])) ?? [];
  }

  /** What was spent on an attribute in all markets together; of OVERALL, on everything. */
  spending(attribute) {
    const charges = this.all("drawn").filter((entry) => attribute === OVERALL || entry.attribute === attribute);
    const cap = this.all("cap").filter((entry) => entry.attribute === attribute).at(-1);
    const spentNanos = charges.reduce((sum, entry) => sum + entry.epsilon_nanos, 0);
    const capNanos = cap?.cap_nanos ?? (attribute ? DEFAULT_CAP_NANOS : DEFAULT_OVERALL_CAP_NANOS);
    return { attribute, spentNanos, capNanos, leftNanos: Math.max(capNanos - spentNanos, 0), reports: charges.length };
  }

  attributes() {
    const named = this.entries.filter((entry) => ["drawn", "cap"].includes(entry.kind)).map((entry) => entry.attribute);
    return [...new Set(named)].filter((name) => name !== OVERALL).sort();
  }

  #known() {
    return this.entries.filter((entry) => ["drawn", "admitted"].includes(entry.kind));
  }

  knows(attribute) {
    return this.#known().some((entry) => entry.attribute === attribute);
  }

  /** Other attributes under which the same words were asked before. */
  alsoAskedAs(attribute, text) {
    return this.#namesOf(text).filter((name) => name !== attribute).sort();
  }

  /** Whether these words were asked before under this attribute. */
  askedSo(attribute, text) {
    return this.#namesOf(text).includes(attribute);
  }

  #namesOf(text) {
    const words = plainWords(text);
    return [...new Set(this.#known().filter((entry) => words && plainWords(entry.text) === words).map((entry) => entry.attribute))];
  }

  elsewhere(market) {
    return this.all("elsewhere").filter((entry) => entry.market === market).at(-1)?.reports ?? 0;
  }

  /** How many reports this device made in a market. */
  made(market) {
    return this.all("drawn").filter((entry) => entry.market === market).length;
  }

  /** Whether a report on these very terms was made from here under another name. */
  answeredAsAnother(market, termsHash) {
    return this.all("drawn").some((entry) => entry.terms_hash === termsHash && entry.market !== market);
  }

  /** The bid of this device that stands in a round: the last the market signed for, else the last it stored. */
  bid(market, roundId) {
    const { standing, sent } = this.#bids(market, roundId);
    return standing ?? sent.at(-1) ?? null;
  }

  /** Bids stored since the one that stands, of which no receipt has come: the market may have any of them. */
  unsignedBids(market, roundId) {
    return this.#bids(market, roundId).sent;
  }

  #bids(market, roundId) {
    let [standing, sent] = [null, []];
    for (const entry of this.of(market, roundId)) {
      if (entry.kind === "bid") sent.push({ ...entry, accepted: false, receipt: null });
      if (entry.kind === "bid-accepted" && (sent.length || standing)) [standing, sent] = signedFor(entry.receipt, standing, sent);
      if (entry.kind === "bid-withdrawn") [standing, sent] = [null, []];
    }
    return { standing, sent };
  }

  /** When she last withdrew from a round, by the market's clock, as far as this device knows; 0 for never. */
  withdrawnMs(market, roundId) {
    const gone = this.of(market, roundId).filter((entry) => entry.kind === "bid-withdrawn");
    return Math.max(0, ...gone.map((entry) => entry.withdrawn_at_ms ?? 0));
  }

  /** Who a market took her for when she bid; before her first bid, when she enrolled. A browser's name for a market has the id that
   * she came to it with (`https://market.example u_…`), and then that is who she is there. */
  knownAs(market) {
    const [, named] = market.split(" ");
    if (named) return [named];
    const [bids, enrolled] = ["bid", "enrolled"].map((kind) => this.all(kind).filter((entry) => entry.market === market && entry.owner_id).map((entry) => entry.owner_id));
    return bids.length ? bids : enrolled.slice(-1);
  }

  /** The keys of a market's receipts in the rounds that she reported in. */
  keys(market) {
    const reported = this.all("drawn").filter((entry) => entry.market === market).map((entry) => entry.round_id);
    const bids = this.all("bid").filter((entry) => entry.market === market && reported.includes(entry.round_id));
    return bids.map((entry) => termsOf(entry).key);
  }

  /** What the lot decided in a round, as it was first told. */
  lots(market, roundId) {
    return this.of(market, roundId).find((entry) => entry.kind === "lots") ?? null;
  }

  /** The offer in a round as it was first told; nothing in accounts from before this was kept. */
  offer(market, roundId) {
    return this.of(market, roundId).find((entry) => entry.kind === "offer") ?? null;
  }

  /** The question that was asked in a round, as it was first told. */
  question(market, roundId) {
    return this.of(market, roundId).find((entry) => entry.kind === "question") ?? null;
  }

  /** The payouts that she says came. */
  received(market) {
    return this.all("received").filter((entry) => entry.market === market);
  }

  /** The report made in a round, with what is known to have become of it: drawn, sent, accepted, paid. */
  report(market, roundId) {
    const drawn = this.of(market, roundId).find(({ kind }) => kind === "drawn");
    return drawn ? this.#made(drawn) : null;
  }

  reports() {
    return this.all("drawn").map((drawn) => this.#made(drawn));
  }

  #made(drawn) {
    const made = { sent_at_ms: null, accepted_at_ms: null, refused: null, paid_micros: null, receipt: null, taken_back_micros: null, ...drawn };
    for (const entry of this.of(drawn.market, drawn.round_id)) {
      if (!(entry.kind in LATER)) continue;
      made[LATER[entry.kind]] = entry.at_ms ?? made[LATER[entry.kind]];
      for (const kept of ["refused", "paid_micros", "receipt", "taken_back_micros"]) if (kept in entry) made[kept] = entry[kept];
      if (entry.kind === "paid") made.taken_back_micros = null;
    }
    return made;
  }
}

/** What was noted as paid for a report, whether it is still there or not. */
export const notedMicros = ({ paid_micros: paid, taken_back_micros: gone }) => (paid ?? 0) + (gone ?? 0);

/** What the market said as it refused a report, in the market's words; nothing once it has signed for it. */
export const refusalOf = ({ refused, accepted_at_ms: accepted }) => (accepted === null && refused) || "";

/** What is known to have happened to a report, in words of the device's own. */
export function facts(made) {
  const said = ["drawn"];
  if (made.sent_at_ms !== null) said.push("sent");
  if (made.accepted_at_ms !== null) said.push("accepted");
  if (made.paid_micros !== null) said.push("paid");
  if (made.taken_back_micros) said.push("taken back");
  return `${said.join(", ")}${refusalOf(made) ? "; refused" : ""}`;
}

/** Both in one line: the facts, and the market's words as a quotation. */
export const factsAndWords = (made) => `${facts(made)}${refusalOf(made) ? `; the market said: ${quoted(refusalOf(made))}` : ""}`;
