// What the device's own page shows of a round, without a browser: a page of boxes that hold words.
// node page_twin.mjs MODULES_DIRECTORY < JSON of {over: [{state, offer, refusal}], looks: [{kind, status, message}]}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

class Box {
  constructor() { Object.assign(this, { boxes: [], words: "", hidden: true, told: 0 }); }
  set textContent(words) { Object.assign(this, { words, boxes: [] }); }
  get textContent() { return this.words + this.boxes.map((box) => box.textContent ?? box).join("\n"); }
  append(...boxes) { this.boxes.push(...boxes); }
  replaceChildren(...boxes) { Object.assign(this, { words: "", boxes }); }
  querySelector() { return null; }
  scrollIntoView() { this.told += 1; }
}

const boxes = new Map();
const at = (id) => { if (!boxes.has(id)) boxes.set(id, new Box()); return boxes.get(id); };
globalThis.document = { hidden: false, getElementById: at, createElement: () => new Box() };
globalThis.DOMException ??= class extends Error {};
const ticks = [];
globalThis.setInterval = (tick) => { ticks.push(tick); };
let now = Date.now();
Date.now = () => now;

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { keepLooking, presentRound } = await load("rounds.mjs");
const { Refusal } = await load("refusal.mjs");
const { MarketRefusal } = await load("visit.mjs");

const device = { look: async () => ({}), bidFor: async () => ({ bid_micros: 1, accepted: true }), reportFor: async () => null };
const told = (state) => ({ round_id: "r", state, question: { text: "What?" } });

async function shownWhenOver({ state, offer, refusal }) {
  const asked = async () => { if (refusal) throw new Refusal(refusal); return offer; };
  await presentRound({ device, notice: async () => told(state), offer: asked, askForBid: async () => "" }, "r");
  return at("round-body").textContent;
}

const fault = ({ kind, status, message }) => ({ Refusal: () => new Refusal(message), MarketRefusal: () => new MarketRefusal(status, "", message), TypeError: () => new TypeError(message) })[kind]();

/** A round that waits, and what is said after two looks of the page's own that end in this. */
async function saidAfterLooking(ending) {
  Object.assign(at("trouble"), { words: "", boxes: [], hidden: true, told: 0 });
  let looks = 0;
  const notice = async () => { looks += 1; if (looks > 1) throw fault(ending); return told("reporting"); };
  const review = async () => { throw Object.assign(new Error(), { type: "no-offer" }); };
  await presentRound({ device, notice, review, askForBid: async () => "" }, "r");
  for (let look = 0; look < 2; look += 1) {
    now += 60_000;
    ticks[0]();
    await new Promise((done) => { setImmediate(done); });
  }
  return { looks, said: at("trouble").hidden ? "" : at("trouble").textContent, told: at("trouble").told };
}

keepLooking(async () => {});
const { over, looks } = JSON.parse(readFileSync(0, "utf8"));
const found = { over: [], looks: [] };
for (const each of over) found.over.push(await shownWhenOver(each));
for (const each of looks) found.looks.push(await saidAfterLooking(each));
process.stdout.write(JSON.stringify(found));
