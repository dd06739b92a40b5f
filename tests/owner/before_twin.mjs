// The browser's device with a report that one without some checks drew: sent and settled by one that has all of them.
// node before_twin.mjs MODULES_DIRECTORY < JSON of {address, round, bid, without}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { facts } = await load("account.mjs");
const { CHECKS } = await load("checks.mjs");
const { Device } = await load("device.mjs");
const { memoryStore } = await load("store.mjs");
const { asker, Visit } = await load("visit.mjs");

const { address, round, bid, without } = JSON.parse(readFileSync(0, "utf8"));
const store = memoryStore();
const checks = Object.fromEntries(Object.entries(CHECKS).filter(([name]) => !without.includes(name)));
const before = new Visit(new Device(store, "m", { checks }), asker(address), () => 7);
const now = new Visit(new Device(store, "m"), asker(address), () => 7);

await before.bid(round, bid);
const refused = await now.review(round).then(() => "", (fault) => fault.message);
const made = await before.draw(await before.review(round), 0, ["new fact"]);
const known = [];
for (const step of [async () => {}, () => now.send(made), () => now.settleUp(round)]) {
  await step();
  known.push(facts(await now.device.reportFor(round)));
}
process.stdout.write(JSON.stringify({ refused, facts: known }));
