// The browser's device at a market that answers nothing to her report, or refuses it, outside a browser: it looks over its rounds.
// node lost_report_twin.mjs MODULES_DIRECTORY < JSON of {address, round, bid, before, now}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { Device } = await load("device.mjs");
const { memoryStore } = await load("store.mjs");
const { asker, Visit } = await load("visit.mjs");

const { address, round, bid, before, now } = JSON.parse(readFileSync(0, "utf8"));
let clock = 7;
const visit = new Visit(new Device(memoryStore(), address), asker(address), () => clock);
for (const { kind, ...fields } of before) await visit.device.note(kind, { ...visit.device.at(round), ...fields });
await visit.bid(round, bid);
const stored = await visit.draw(await visit.review(round), 1, ["new fact"]);
await visit.send(stored).catch((fault) => { if (![409, 502].includes(fault.status)) throw fault; });
clock = now;
const { faults, notes } = await visit.lookOver();
const isAccepted = (await visit.device.reportFor(round)).accepted_at_ms !== null;
process.stdout.write(JSON.stringify({ faults: faults.map(({ wrong }) => wrong), notes: notes.map(({ wrong }) => wrong), isAccepted }));
