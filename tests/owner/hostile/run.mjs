// The browser's device at a hostile market, outside a browser.
// node run.mjs MODULES_DIRECTORY < JSON of [{address, round, bid, without, agreed, seed, looks, lost, named}]

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { CHECKS } = await load("checks.mjs");
const { Device } = await load("device.mjs");
const { memoryStore } = await load("store.mjs");
const { asker, Visit } = await load("visit.mjs");

async function visit({ address, round, bid, without, agreed, seed, looks, lost, named }) {
  const checks = Object.fromEntries(Object.entries(CHECKS).filter(([name]) => !without.includes(name)));
  const device = new Device(memoryStore(), named ? `${address} ${named}` : address, { checks });
  let refused = null;
  try {
    for (const { kind, ...fields } of seed) await device.note(kind, { market: address, ...fields });
    for (const name of ["drink", "beverage", "illness", ""]) await device.setCap(name, 90e9);
    const ask = asker(address);
    const visiting = new Visit(device, ask, () => 7);
    const looked = await ask(`/notices/${round}`); // by the page, which shows it to her
    const unanswered = (fault) => { if (!lost || fault.status !== 502) throw fault; };
    await visiting.bid(round, bid, looked?.terms_hash).catch(unanswered);
    let review;
    for (let look = 0; look < looks; look += 1) review = await visiting.review(round);
    const stored = await visiting.draw(review, 1, agreed);
    await visiting.send(stored).catch(unanswered);
    await visiting.settleUp(round);
    await visiting.settleUp(round); // on another day
  } catch (fault) {
    refused = `${fault.name}: ${fault.message}`;
  }
  const entries = (await device.account()).entries.slice(seed.length);
  return { refused, kinds: entries.map((entry) => entry.kind) };
}

const found = [];
const asked = JSON.parse(readFileSync(0, "utf8"));
while (found.length < asked.length) found.push(...(await Promise.all(asked.slice(found.length, found.length + 8).map(visit))));
process.stdout.write(JSON.stringify(found));
