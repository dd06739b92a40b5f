// The browser's device at a hostile market, outside a browser: the answer to its bid is lost, and it looks over its rounds.
// node lost_twin.mjs MODULES_DIRECTORY < JSON of {cases: [{address, round, bid, now}]}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { Device } = await load("device.mjs");
const { memoryStore } = await load("store.mjs");
const { asker, Visit } = await load("visit.mjs");

async function looked({ address, round, bid, now }) {
  const device = new Device(memoryStore(), address);
  const visit = new Visit(device, asker(address), () => now);
  await visit.bid(round, bid).catch((fault) => { if (fault.status !== 502) throw fault; });
  const { faults, notes } = await visit.lookOver();
  return { faults: faults.map(({ wrong }) => wrong), notes: notes.map(({ wrong }) => wrong), kinds: (await device.account()).entries.map(({ kind }) => kind) };
}

const { cases } = JSON.parse(readFileSync(0, "utf8"));
const found = [];
for (const one of cases) found.push(await looked(one));
process.stdout.write(JSON.stringify({ found }));
