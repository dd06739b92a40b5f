// The browser's device at a market, outside a browser: she names one price after another; none: she withdraws elsewhere.
// node named_again_twin.mjs MODULES_DIRECTORY < JSON of {address, token, round, prices}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { Device } = await load("device.mjs");
const { memoryStore } = await load("store.mjs");
const { asker, Visit } = await load("visit.mjs");

const { address, token, round, prices } = JSON.parse(readFileSync(0, "utf8"));
const ask = asker(address, token ? { Authorization: `Bearer ${token}` } : {});
const [visit, elsewhere] = [memoryStore(), memoryStore()].map((store) => new Visit(new Device(store, address), ask, () => 7));
const said = [];
for (const price of prices) {
  const done = price === null ? elsewhere.withdrawBid(round) : visit.namePrice(round, price);
  said.push(await done.then(() => "", (fault) => `${fault.name}: ${fault.message}`));
}
const made = (await visit.device.account()).entries;
const stand = made.slice(made.findLastIndex(({ kind }) => kind === "bid-withdrawn") + 1);
const entries = stand.filter(({ kind }) => kind === "bid-accepted");
process.stdout.write(JSON.stringify({ said, signed: entries.map(({ receipt }) => JSON.parse(receipt).bid_micros) }));
