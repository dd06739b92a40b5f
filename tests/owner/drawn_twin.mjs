// The browser's device with a report that is drawn and not sent: asked to draw once more, whatever stands against it.
// node drawn_twin.mjs MODULES_DIRECTORY < JSON of {address, round, bid}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { Device } = await load("device.mjs");
const { memoryStore } = await load("store.mjs");
const { asker, Visit } = await load("visit.mjs");

const { address, round, bid } = JSON.parse(readFileSync(0, "utf8"));
const store = memoryStore();
await new Device(store, "").setCap("drink", 4e9);
const visit = new Visit(new Device(store, "m"), asker(address), () => 7);
await visit.bid(round, bid);
const review = await visit.review(round);
const agreed = Object.keys(review.asks);
const given = { fresh: review.offer, nowMs: 8, agreed };
const outcome = (doing) => doing().then(({ body }) => body, (fault) => `${fault.name}: ${fault.message}`);
const blind = new Device(store, "m", { words: () => { throw new Error("no secure random numbers"); } });
const away = new Visit(visit.device, () => Promise.reject(new TypeError("nobody answers")), () => 7);

const against = {
  "she has not agreed": () => visit.device.report(review, 1, { ...given, agreed: [] }),
  "it is too late": () => visit.device.report(review, 1, { ...given, fresh: { ...review.offer, now_ms: review.offer.reports_close_at_ms } }),
  "the offer is another": () => visit.device.report(review, 1, { ...given, fresh: { ...review.offer, payment_micros: 1 } }),
  "nothing is random": () => blind.report(review, 1, given),
  "the market is away": () => away.draw(review, 1, agreed),
};
const before = {};
for (const [name, doing] of Object.entries(against)) before[name] = await outcome(doing);
const drawn = await outcome(() => visit.draw(review, 0, agreed));
const after = {};
for (const [name, doing] of Object.entries(against)) after[name] = await outcome(doing);
const { spentNanos, reports } = await visit.device.spending("drink");
process.stdout.write(JSON.stringify({ before, drawn, after, spent: spentNanos, cost: review.epsilonNanos, reports }));
