// What the device's own page shows before a bid and at an offer, without a browser: each element with the words in it.
// node shown_twin.mjs MODULES_DIRECTORY < JSON of {notice, said, refused}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

class Box {
  constructor(tag) { Object.assign(this, { tag, boxes: [] }); }
  set textContent(words) { this.boxes = [words]; }
  get textContent() { return this.boxes.map((box) => box.textContent ?? box).join(""); }
  append(...boxes) { this.boxes.push(...boxes); }
  replaceChildren(...boxes) { this.boxes = boxes; }
  setAttribute() {}
  addEventListener() {}
  querySelector() { return null; }
  scrollIntoView() {}

  /** Every element below, with its own words: those of others in it left out. */
  get all() {
    const own = this.boxes.filter((box) => !(box instanceof Box)).join("").trim();
    return [[this.tag, own], ...this.boxes.filter((box) => box instanceof Box).flatMap((box) => box.all)];
  }
}

const boxes = new Map();
const at = (id) => { if (!boxes.has(id)) boxes.set(id, new Box(id)); return boxes.get(id); };
globalThis.document = { hidden: false, getElementById: at, createElement: (tag) => new Box(tag) };

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { promiseOf } = await load("checks.mjs");
const { presentRound } = await load("rounds.mjs");
const { notice, said, refused } = JSON.parse(readFileSync(0, "utf8"));

const spent = { spentNanos: 0, capNanos: 1 };
const offer = { round_id: "r", terms_hash: notice.terms_hash, question: notice.question, side: null, q_numerator: 2 ** 30, payment_micros: 1, chance_numerator: 2 ** 32, lots: {}, now_ms: 1, reports_close_at_ms: 9e12 };
const review = { offer, said, asks: {}, spending: spent, overall: spent, epsilon: 1, leastPaymentMicros: 1, withinCap: true, waits: false, told: { promise: promiseOf(notice) } };
const drawn = { sent_at_ms: 1, accepted_at_ms: null, paid_micros: null, taken_back_micros: null, payment_micros: 1, epsilon_nanos: 1, body: "{}", refused };

async function shown(state, made = null) {
  const device = { look: async () => ({}), bidFor: async () => null, reportFor: async () => made };
  await presentRound({ device, notice: async () => ({ ...notice, state }), review: async () => review, settleUp: async () => {}, askForBid: async () => "" }, "r");
  return at("round-body").all;
}

process.stdout.write(JSON.stringify({ before: await shown("open"), asked: await shown("reporting"), drawn: await shown("settled", drawn) }));
