// The browser's device where she gives an answer that the question does not have: what the market hears of it.
// node outside_twin.mjs MODULES_DIRECTORY < JSON of {address, round, bid, codes}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { Device } = await load("device.mjs");
const { memoryStore } = await load("store.mjs");
const { asker, Visit } = await load("visit.mjs");

const { address, round, bid, codes } = JSON.parse(readFileSync(0, "utf8"));
const [device, heard, ask] = [new Device(memoryStore(), address), [], asker(address)];
const visit = new Visit(device, (path, how) => { heard.push(path); return ask(path, how); }, () => 7);
await visit.bid(round, bid);
const review = await visit.review(round);
const found = [];
for (const code of codes) {
  heard.length = 0;
  const said = await visit.draw(review, code, ["new fact"]).then(() => "", (fault) => fault.message);
  found.push({ said, heard: heard.length, drawn: (await device.reportFor(round)) !== null });
}
process.stdout.write(JSON.stringify({ found }));
