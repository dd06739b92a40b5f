// The browser's device at a hostile market, outside a browser: it reports, and then looks over what became of it, again and
// again. node settling_twin.mjs MODULES_DIRECTORY < JSON of {cases: [{address, round, bid, later, looks, asksOfPayouts, now}]}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { facts } = await load("account.mjs");
const { Device } = await load("device.mjs");
const { memoryStore } = await load("store.mjs");
const { payoutInWords } = await load("statement.mjs");
const { asker, Visit } = await load("visit.mjs");

async function looked({ address, round, bid, later, looks, asksOfPayouts, now }) {
  const device = new Device(memoryStore(), address);
  const visit = new Visit(device, asker(address), () => now);
  await visit.bid(round, bid);
  await visit.send(await visit.draw(await visit.review(round), 1, ["new fact"]));
  for (const { kind, ...fields } of later) await device.note(kind, { market: address, ...fields });
  const [told, notes] = [[], []];
  for (let look = 0; look < looks; look += 1) {
    const over = await visit.lookOver();
    notes.push(...over.notes.map(({ wrong }) => wrong));
    const found = over.faults.map(({ round: about, wrong }) => [about, wrong]);
    told.push([found, facts(await device.reportFor(round))]);
  }
  const payoutsNow = async () => (asksOfPayouts ? (await visit.lookOver()).payouts : []);
  const payouts = await payoutsNow();
  for (const payout of payouts.slice(0, -1)) await visit.got(payout);
  const left = await payoutsNow();
  const money = (await device.account()).entries.filter(({ kind }) => ["paid", "taken-back"].includes(kind));
  return { told, notes, payouts: [payouts.map(payoutInWords), left.map(payoutInWords)], money: money.map((entry) => Object.fromEntries(Object.entries(entry).filter(([name]) => name !== "market"))) };
}

const { cases } = JSON.parse(readFileSync(0, "utf8"));
const found = [];
for (const one of cases) found.push(await looked(one));
process.stdout.write(JSON.stringify({ found }));
