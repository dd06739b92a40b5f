// What a market may say, to the field: the twin of pdqs/protocol/device_messages.py. Nothing is coerced and nothing is
// left out; what has another shape is no message. Where the text of an answer is known, a whole number is one that is written
// as one: each shape is asked with what it says and with what was written (json.mjs).

import { parsed } from "./json.mjs";
import { Refusal } from "./refusal.mjs";
import { MOST_COUNTED_MICROS } from "./statement.mjs";

export const MOST_CODES = 10_000;
const MOST_TERMS = 3 * 2 ** 18 + 2 ** 14; // a plan of 256 KiB, spelled in plain ASCII, and what the market adds to it

const isWritten = (asWritten) => asWritten === undefined || typeof asWritten === "bigint";
const whole = (low, high) => (value, asWritten) => Number.isSafeInteger(value) && value >= low && value <= high && isWritten(asWritten);
const real = (good) => (value) => typeof value === "number" && Number.isFinite(value) && good(value);
const text = (pattern, most = Infinity) => (value) => typeof value === "string" && (value.length <= most || [...value].length <= most) && pattern.test(value);
const one = (...words) => (value) => words.includes(value);
const maybe = (good) => (value, asWritten) => value === null || good(value, asWritten);
const either = (...forms) => (value, asWritten) => forms.some((good) => good(value, asWritten));
const list = (good, most) => (value, asWritten) => Array.isArray(value) && value.length <= most && value.every((item, i) => good(item, asWritten?.[i]));
const fields = (spec) => (value, asWritten) =>
  value !== null && typeof value === "object" && !Array.isArray(value)
  && Object.keys(value).length === Object.keys(spec).length
  && Object.entries(spec).every(([name, good]) => Object.hasOwn(value, name) && good(value[name], asWritten?.[name]));

const PRINTED = /^[^\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]*$/u;
const id = text(/^[a-z]{1,3}_[0-9a-f]{24}$/);
const hash = text(/^[0-9a-f]{64}$/);
const micros = whole(0, 1e15);
const bidMicros = whole(0, 1e9);
const millis = whole(0, 1e14);
const code = whole(0, MOST_CODES - 1);
const count = whole(0, 1e9);
const signature = text(/^([0-9a-f]{128})?$/);
const epsilonMax = real((x) => x > 0 && x <= 20);
const attribute = text(/^[a-z][a-z0-9_.-]{0,59}$/);
const domainKind = one("binary", "categories", "grid");
const size = whole(2, MOST_CODES);
const label = text(PRINTED, 80);
export const isLabel = (value) => label(value) && value !== "";

/** k: how many values a report can take, counted from the answers themselves; nothing for one that contradicts itself. */
export function domainSize({ kind, labels, start, step, size }) {
  const counted = { binary: 2, categories: new Set(labels).size, grid: size }[kind];
  const placed = kind === "grid" || (start === 0 && step === 1);
  const named = labels.length === (kind === "categories" ? size : 0);
  return placed && named && counted === size ? size : undefined;
}

const domain = fields({
  kind: domainKind,
  labels: list(isLabel, MOST_CODES),
  start: real((x) => Math.abs(x) <= 1e12),
  step: real((x) => x > 0 && x <= 1e12),
  size,
});
const question = fields({
  attribute,
  text: text(PRINTED, 400),
  domain: (value, asWritten) => domain(value, asWritten) && domainSize(value) !== undefined,
});

const root = fields({ round_id: id, terms_hash: hash, root: hash, bids: count, published_at_ms: millis, signature });
const stageNumber = whole(1, 8);
const stage = fields({ number: stageNumber, opened_at_ms: millis, closes_at_ms: millis, low: code, high: code });
const lots = fields({ seed: hash, nonce: hash, place: count, path: list(hash, 40) });

const state = one("open", "reporting", "settled", "cancelled");
const cursor = text(/^[A-Za-z0-9_.:-]{1,120}$/);
const page = (item) => ({ items: list(item, 1000), next: maybe(cursor) });
const user = fields({ user_id: id, role: one("consumer", "owner", "operator"), name: isLabel, created_at_ms: millis });

const BID = { round_id: id, terms_hash: hash, bid_micros: bidMicros, placed_at_ms: millis, signature };
const REPORT = { round_id: id, terms_hash: hash, code, received_at_ms: millis, payment_micros: micros, ordinal: count, signature };

/** What a line of money is about: the twin of EntryKind in pdqs/protocol/market_messages.py. */
export const KINDS = ["deposit", "escrow", "settlement", "return", "payout", "refund", "reversal", "given-up"];

const line = fields({
  transaction_id: text(PRINTED, 200),
  kind: one(...KINDS),
  account: text(PRINTED, 200),
  amount_micros: whole(-MOST_COUNTED_MICROS, MOST_COUNTED_MICROS),
  at_ms: millis,
  round_id: maybe(id),
});
const summary = fields({
  round_id: id,
  state,
  text: text(PRINTED, 400),
  attribute,
  domain_kind: domainKind,
  domain_size: size,
  bid_low_micros: bidMicros,
  bid_high_micros: bidMicros,
  epsilon_max: epsilonMax,
  bids_close_at_ms: millis,
  reports_close_at_ms: maybe(millis),
  terms_hash: hash,
  purpose: text(PRINTED, 400),
  stages_in_all: stageNumber,
});

export const SHAPES = {
  notice: fields({
    round_id: id,
    state,
    question,
    bid_low_micros: bidMicros,
    bid_high_micros: bidMicros,
    epsilon_max: epsilonMax,
    bids_close_at_ms: millis,
    reports_close_at_ms: maybe(millis),
    terms: text(/^\P{Cs}*$/u, MOST_TERMS),
    terms_hash: hash,
    bids_root: maybe(root),
    stages: list(stage, 8),
  }),
  offer: fields({
    round_id: id,
    terms_hash: hash,
    question,
    q_numerator: whole(0, 2 ** 32 - 1),
    payment_micros: micros,
    reports_close_at_ms: millis,
    now_ms: millis,
    chance_numerator: whole(0, 2 ** 32),
    draw: whole(0, 2 ** 32 - 1),
    posted_micros: maybe(micros),
    lots: maybe(lots),
    stage: stageNumber,
    side: maybe(code),
  }),
  BidReceipt: either(fields(BID), fields({ ...BID, pseudonym: hash })),
  Withdrawal: fields({ round_id: id, withdrawn_at_ms: millis }),
  withdrawn: (value) => value !== null && typeof value === "object" && millis(value.withdrawn_at_ms),
  ReportReceipt: either(fields(REPORT), fields({ ...REPORT, pseudonym: hash, q_numerator: whole(0, 2 ** 32 - 1), stage: stageNumber, side: maybe(code) })),
  me: fields({ user, balance_micros: micros, reports_made: count }),
  token: fields({ token: text(/^[A-Za-z0-9_-]{20,80}$/), user }),
  statement: fields({ balance_micros: micros, ...page(line) }),
  notices: fields(page(summary)),
};

const sources = new WeakMap();

/** Keep the text that an answer was read from, for as long as the answer is held. */
export function keepSource(value, json) {
  if (value !== null && typeof value === "object") sources.set(value, json);
  return value;
}

/** An answer as it was written, where its text is known. */
function written(value) {
  const json = sources.get(value);
  return json === undefined ? undefined : parsed(json);
}

function isShaped(kind, value) {
  try {
    return SHAPES[kind](value) && SHAPES[kind](value, written(value)); // what has no such shape is not read once more
  } catch {
    return false;
  }
}

/** The message, if it has the shape of one. */
export function read(kind, value) {
  if (!isShaped(kind, value)) throw new Refusal(`What the market sent is not a ${kind.toLowerCase()} as one is written.`);
  return value;
}

/** A text as it is written: what is not plain ASCII by its number. */
const spelledText = (held) => JSON.stringify(held)
  .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** A number as it is written: as few digits as tell it from every other, with a point unless it counts something. */
function spelledNumber(token) {
  if (/^-?\d+$/.test(token)) return String(BigInt(token));
  const [value, sign] = [Math.abs(Number(token)), token.startsWith("-") ? "-" : ""];
  const [lead, power] = value.toExponential().split("e");
  const [digits, places] = [lead.replace(".", ""), Number(power)];
  if (places < -4 || places >= 16) return `${sign}${lead}e${places < 0 ? "-" : "+"}${String(Math.abs(places)).padStart(2, "0")}`;
  if (places < 0) return `${sign}0.${"0".repeat(-places - 1)}${digits}`;
  return `${sign}${digits.slice(0, places + 1).padEnd(places + 1, "0")}.${digits.slice(places + 1) || "0"}`;
}

/** Whether a word of a JSON text is written in the one way that it is. */
function isSpelled(token) {
  if (/^([{}[\]:,]|true|false|null)$/.test(token)) return true;
  try {
    return token === (token[0] === '"' ? spelledText(JSON.parse(token)) : spelledNumber(token));
  } catch {
    return false;
  }
}

/** Whether a text comes after another by the numbers of its characters, not by the halves that some are stored in. */
function follows(text, before) {
  const [here, there] = [[...text], [...before]];
  const place = here.findIndex((letter, i) => letter !== there[i]);
  return place >= 0 && (place >= there.length || here[place].codePointAt(0) > there[place].codePointAt(0));
}

/** Whether a JSON text has no spaces outside its texts, every object's keys in strictly rising order, and each text and
 * number spelled in one way: one way to say a thing, and no key twice. */
export function isCanonical(json) {
  try { JSON.parse(json); } catch { return false; } // as json.mjs does, and for its reason
  const tokens = json.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+|\s+/g) ?? [];
  if (tokens.join("") !== json || !tokens.every(isSpelled)) return false;
  const open = [];
  return tokens.every((token, place) => {
    if (token === "{" || token === "[") open.push(null); // no key yet
    else if (token === "}" || token === "]") open.pop();
    else if (tokens[place + 1] === ":" && token[0] === '"') {
      const [key, before] = [JSON.parse(token), open.at(-1)];
      if (before !== null && !follows(key, before)) return false;
      open[open.length - 1] = key;
    }
    return true;
  });
}
