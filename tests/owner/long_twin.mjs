// An account that one market has filled with long terms, and what that costs at another: what is hashed and read is counted.
// node long_twin.mjs MODULES_DIRECTORY < JSON of {address, round, bid, long, terms, ways}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { Account } = await load("account.mjs");
const { Device } = await load("device.mjs");
const { memoryStore } = await load("store.mjs");
const { asker, Visit } = await load("visit.mjs");
const { address, round, bid, long, terms, ways } = JSON.parse(readFileSync(0, "utf8"));

let read = 0;
const parse = JSON.parse;
JSON.parse = (text, ...more) => { read += text.length; return parse(text, ...more); };
const since = async (doing) => {
  [globalThis.hashed, read] = [0, 0];
  await doing();
  return { hashed: globalThis.hashed, read };
};

async function filled(store) {
  const evil = new Device(store, "http://evil.example");
  for (let place = 0; place < long; place += 1) {
    await evil.note("bid", { ...evil.at(`r${place}`), bid_micros: 1, terms_hash: `h${place}`, question: "{}", terms, body: "{}", owner_id: "u" });
  }
  await evil.account();
}

/** From bid to payment at an honest market. */
async function dealing(store, address) {
  for (const name of ["drink", ""]) await new Device(store, "").setCap(name, 90e9);
  const visit = new Visit(new Device(store, address), asker(address), () => 7);
  await visit.bid(round, bid);
  const review = await visit.review(round);
  await visit.send(await visit.draw(review, 1, Object.keys(review.asks)));
  await visit.settleUp(round);
}

/** How often the round of an entry is read while all that was reported in so many rounds is looked over, and how often the account. */
async function looksOver(many) {
  let [counted, accounts] = [0, 0];
  const rounds = Array.from({ length: many }, (_, place) => `r${place}`);
  const entries = rounds.flatMap((round_id) => [
    { kind: "bid", bid_micros: 1, terms: "{}", question: "{}" }, { kind: "bid-accepted", receipt: '{"bid_micros":1}' },
    { kind: "drawn", payment_micros: 1, text: "" }, { kind: "accepted", at_ms: 1, receipt: "{}" }, { kind: "paid", paid_micros: 1 },
  ].map((entry) => ({ market: "m", ...entry, get round_id() { counted += 1; return round_id; } })));
  const device = new Device(memoryStore(), "m");
  device.account = async () => { accounts += 1; return new Account(entries); };
  const visit = new Visit(device, null, () => 7);
  const lines = rounds.map((round_id) => ({ transaction_id: round_id, kind: "settlement", amount_micros: 1, at_ms: 1, round_id }));
  visit.money = async () => ({ balance: many, lines });
  const { faults, notes } = await visit.lookOver(rounds.map((round_id) => ({ round_id, state: "settled" })));
  return { counted, accounts, told: [...faults, ...notes].length };
}

const store = memoryStore();
const filling = await since(() => filled(store));
const looking = await since(async () => { for (let look = 0; look < 10; look += 1) await new Device(store, "").account(); });
const visiting = await since(() => dealing(store, `${address}/1`));
const alone = await since(() => dealing(memoryStore(), `${address}/2`));

// What was checked before is changed behind the device's back, in each of these ways.
const WAYS = {
  "an entry rewritten": (rows) => { rows[1] = { ...rows[1], entry: rows[1].entry.replace('"bid_micros":1', '"bid_micros":2') }; },
  "a hash rewritten": (rows) => { rows[1] = { ...rows[1], hash: rows[2].hash }; },
  "an entry gone": (rows) => { rows.splice(1, 1); },
  "two entries changed about": (rows) => { [rows[1], rows[2]] = [rows[2], rows[1]]; },
  "an entry twice": (rows) => { rows.splice(1, 0, rows[1]); },
};
const noticed = {};
for (const way of ways) {
  const rows = [];
  const open = { rows: async () => structuredClone(rows), append: async (decide) => { rows.push(...decide(structuredClone(rows))); return structuredClone(rows); } };
  await filled(open);
  await new Device(open, "").account();
  WAYS[way](rows);
  noticed[way] = await new Device(open, "").account().then(() => "nothing", (fault) => `${fault.name}: ${fault.message}`);
}
process.stdout.write(JSON.stringify({ filling, looking, visiting, alone, noticed, over: await looksOver(long) }));
