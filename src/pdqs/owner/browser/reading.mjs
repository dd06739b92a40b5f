// The frozen document as the browser's device reads it: the twin of pdqs/owner/reading.py, and of the core's own reader under
// it (pdqs/rounds/canonical.py and terms.py). It takes what a market's round can say, and nothing else: every field of the
// terms and none beside them, names from lists, a number with a point where one is written with a point.

import { parsed } from "./json.mjs";
import { domainSize, isLabel, MOST_CODES } from "./messages.mjs";

const MOST_EPSILON = 20;
const MOST_BUDGET = 1e9;
const MOST_BID_MICROS = 1e9;
const MOST_STAGES = 8;
const MOST_RECEIPT_FORM = 2; // receipts that say whose they are and what was asked; in a round whose document has no `receipt_form` they do not
const LEAST_Q = 2 ** -16; // a smaller q tells nothing
export const RULES = ["optimal", "robust", "lottery", "flat", "linear", "exponential", "logarithmic", "quadratic", "step", "laplace"];
const BY_LOT = ["lottery", "flat"];
const CLEARINGS = ["ladder", "greedy", "fairquery", "open", "single-minded", "fallah"];
const ESTIMATORS = ["weighted", "unbiased", "shrunk", "naive"];
const CONTRACTS = ["on-report", "on-selection"];
const SERVES = { count: [], mean: ["level"], histogram: ["bucket"], median: ["side"], quantile: ["side"] }; // beside whole values
const BINARY = { kind: "binary", labels: [], start: 0, step: 1, size: 2 };

const need = (good) => { if (!good) throw new TypeError("this is not written as terms are"); };

const isText = (held) => typeof held === "string";
const isObject = (held) => held !== null && typeof held === "object" && !Array.isArray(held);
const isReal = (held) => typeof held === "number" && !Object.is(held, -0);
const isWhole = (held, low, high) => typeof held === "bigint" && held >= low && held <= high;
const has = (held, ...names) => isObject(held) && Object.keys(held).length === names.length && names.every((name) => Object.hasOwn(held, name));

function domainOf(plain) {
  need(has(plain, "is", "kind", "labels", "size", "start", "step") && plain.is === plain.kind);
  const { kind, labels, start, step } = plain;
  need(["binary", "categories", "grid"].includes(kind) && isWhole(plain.size, 2, MOST_CODES));
  need(isReal(start) && Math.abs(start) <= 1e12 && isReal(step) && step > 0 && step <= 1e12);
  need(Array.isArray(labels) && labels.length <= MOST_CODES && labels.every(isLabel));
  const domain = { kind, labels, start, step, size: Number(plain.size) };
  need(domainSize(domain) !== undefined);
  return domain;
}

/** The query: what it is, its text and the domain of what is asked. */
function queryOf(plain) {
  need(isObject(plain) && Object.hasOwn(SERVES, plain.is) && isText(plain.text));
  const { is, text } = plain;
  if (is === "count") {
    need(has(plain, "is", "text"));
    return { is, text, domain: BINARY };
  }
  need(is === "quantile" ? has(plain, "is", "domain", "p", "text") && isReal(plain.p) && plain.p > 0 && plain.p < 1 : has(plain, "is", "domain", "text"));
  const domain = domainOf(plain.domain);
  need(is === "histogram" || domain.kind !== "categories");
  return { is, text, domain };
}

/** Whether a guess is two values of the domain, low and high. */
function isGuess(guess, { start, step, size }) {
  if (!Array.isArray(guess) || guess.length !== 2 || !guess.every(isReal)) return false;
  const places = guess.map((end) => (end - start) / step);
  const codes = places.map(Math.round);
  return places.every((place, i) => Math.abs(place - codes[i]) <= 1e-6 && codes[i] >= 0 && codes[i] < size) && codes[0] <= codes[1];
}

/** What is asked of a value: {kind, codes, stages}, kappa being `codes`. */
function askingOf(plain, { is, domain }) {
  if (plain === undefined) return { kind: "value", codes: domain.size, stages: 1 };
  need(isObject(plain) && SERVES[is].includes(plain.is));
  const { is: kind, guess } = plain;
  need(guess === undefined ? has(plain, "is", "codes", "stages") : has(plain, "is", "codes", "stages", "guess"));
  need(isWhole(plain.codes, 2, kind === "side" ? 2 : domain.size) && isWhole(plain.stages, 1, kind === "side" ? MOST_STAGES : 1));
  need(guess === undefined || (kind === "side" && plain.stages === 1n && isGuess(guess, domain)));
  return { kind, codes: Number(plain.codes), stages: Number(plain.stages) };
}

/** The range of bids in micro-units. */
function rangeOf(plain) {
  need(Array.isArray(plain) && plain.length === 2 && plain.every(isReal));
  const micros = plain.map((end) => Math.round(end * 1e6));
  need(plain[0] >= 0 && plain[0] < plain[1] && micros[1] <= MOST_BID_MICROS && micros.every((end, i) => end / 1e6 === plain[i]));
  return micros;
}

/** Whether a report at the cap would tell anything. */
function tells(epsilonMax, codes) {
  const truth = -Math.expm1(-epsilonMax);
  return truth / (truth + codes * Math.exp(-epsilonMax)) >= LEAST_Q;
}

const NAMES = ["bid_range", "budget", "clearing", "contract", "epsilon_max", "estimator", "is", "prior", "priced_as_binary", "query", "rule", "scale"];

function termsOf(plain) {
  need(isObject(plain) && has(plain, ...NAMES, ...(Object.hasOwn(plain, "question") ? ["question"] : [])) && plain.is === "Terms");
  const { budget, clearing, contract, epsilon_max: epsilonMax, estimator, rule } = plain;
  need(RULES.includes(rule) && CLEARINGS.includes(clearing) && CONTRACTS.includes(contract) && ESTIMATORS.includes(estimator));
  need(plain.prior === null && plain.scale === null && plain.priced_as_binary === false);
  const byLot = BY_LOT.includes(rule);
  need(!byLot || (clearing === "ladder" && contract === "on-report"));
  need(isReal(budget) && budget >= 0 && budget <= MOST_BUDGET && isReal(epsilonMax) && epsilonMax >= 1e-9 && epsilonMax <= MOST_EPSILON);
  const query = queryOf(plain.query);
  const asking = askingOf(plain.question, query);
  need(asking.kind === "value" || ["unbiased", "weighted"].includes(estimator));
  need(tells(epsilonMax, asking.codes));
  return { query, asking, contract, epsilonMax, byLot, bidMicros: rangeOf(plain.bid_range) };
}

const isTextOrNone = (held) => held === undefined || isText(held);

/** A frozen document, with its terms; throws where it is not what a market's round could say. */
export function readDocument(json) {
  const document = parsed(json);
  need(isObject(document) && isText(document.round) && isText(document.attribute) && isText(document.receipt_key));
  need(isWhole(document.bids_close_at_ms, -(2 ** 53), 2 ** 53) && isWhole(document.report_seconds, 1, 2 ** 31 - 1));
  need(["seed_hash", "nonce_hash", "nonce_by", "asked_by", "purpose", "use"].every((name) => isTextOrNone(document[name])));
  need(document.receipt_form === undefined || isWhole(document.receipt_form, 1, MOST_RECEIPT_FORM));
  need(document.groups === undefined || (Array.isArray(document.groups) && document.groups.every(isText)));
  return {
    round: document.round, attribute: document.attribute, receiptKey: document.receipt_key,
    closes: Number(document.bids_close_at_ms), reportSeconds: Number(document.report_seconds),
    receiptForm: Number(document.receipt_form ?? 1),
    seedHash: document.seed_hash ?? "", nonceHash: document.nonce_hash ?? "",
    ...termsOf(document.terms),
  };
}
