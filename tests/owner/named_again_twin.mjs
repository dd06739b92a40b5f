// The browser's device at a hostile market, outside a browser: she names one price after another.
// node named_again_twin.mjs MODULES_DIRECTORY < JSON of {address, round, prices}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { Device } = await load("device.mjs");
const { memoryStore } = await load("store.mjs");
const { asker, Visit } = await load("visit.mjs");

const { address, round, prices } = JSON.parse(readFileSync(0, "utf8"));
const visit = new Visit(new Device(memoryStore(), address), asker(address), () => 7);
const said = [];
for (const price of prices) said.push(await visit.namePrice(round, price).then(() => "", (fault) => `${fault.name}: ${fault.message}`));
const entries = (await visit.device.account()).entries.filter(({ kind }) => kind === "bid-accepted");
process.stdout.write(JSON.stringify({ said, signed: entries.map(({ receipt }) => JSON.parse(receipt).bid_micros) }));
