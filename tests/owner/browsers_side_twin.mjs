// What the browser's device does with what Python's device is tested with too.
// node browsers_side_twin.mjs MODULES_DIRECTORY < JSON of {addresses, spellings, words, notices, bids, late}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { oneAddress } = await load("account.mjs");
const { CHECKS } = await load("checks.mjs");
const { Device } = await load("device.mjs");
const { read } = await load("messages.mjs");
const { printable, quoted } = await load("spelling.mjs");
const { memoryStore } = await load("store.mjs");

const checks = Object.fromEntries(Object.entries(CHECKS).filter(([name]) => name !== "committed"));
const refusal = async (action) => { try { await action(); return ""; } catch (fault) { return `${fault.name}: ${fault.message}`; } };

/** A report that was noted under one spelling of a market's address, looked for under another; and what is stored. */
async function spelled({ stored, asked, entry: { kind, ...fields } }) {
  const device = new Device(memoryStore(), asked);
  await device.note(kind, { ...fields, market: stored });
  const rows = await device.store.rows();
  return { found: Boolean(await device.reportFor(fields.round_id)), stored: JSON.parse(rows[0].entry).market };
}

/** Bid on these terms: why not, and whether a bid is kept. */
async function bid({ market, notice, micros }) {
  const device = new Device(memoryStore(), market, { checks });
  const refused = await refusal(() => device.bid(notice, micros));
  return { refused, kept: Boolean(await device.bidFor(notice.round_id)) };
}

/** Two reports, one after the other; the receipt of the one at `first` comes first. What is said of the other, and what is kept. */
async function late({ market, rounds, ordinals, first = 1 }) {
  const device = new Device(memoryStore(), market, { checks });
  const codes = [];
  for (const { notice, offer, bid: fields } of rounds) {
    await device.note("bid", fields);
    const review = await device.review(notice, offer);
    const { body } = await device.report(review, 1, { fresh: offer, nowMs: 1, agreed: Object.keys(review.asks) });
    codes.push(JSON.parse(body).code);
  }
  const take = (place, ordinal) => device.takeReceipt(rounds[place].notice, rounds[place].receipts[ordinal][codes[place]]);
  await take(first, ordinals[first]);
  const refused = await refusal(() => take(1 - first, ordinals[1 - first]));
  return { refused, accepted: (await device.history()).map((made) => made.accepted_at_ms !== null) };
}

const each = async (cases, act) => { const found = []; for (const one of cases ?? []) found.push(await act(one)); return found; };
const asked = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify({
  addresses: (asked.addresses ?? []).map(oneAddress),
  spellings: await each(asked.spellings, spelled),
  words: (asked.words ?? []).map((words) => printable(words)),
  quoted: (asked.words ?? []).map((words) => quoted(words, 40)),
  notices: await each(asked.notices, (notice) => refusal(() => read("notice", notice))),
  bids: await each(asked.bids, bid),
  late: await each(asked.late, late),
}));
