// The browser's device at a market whose lists have pages without an end.
// node lists_twin.mjs MODULES_DIRECTORY < JSON of [items, padding, kind]

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { Device } = await load("device.mjs");
const { memoryStore } = await load("store.mjs");
const { asker, Visit } = await load("visit.mjs");
const [items, padding, kind] = JSON.parse(readFileSync(0, "utf8"));

const round = `rnd_${"a1".repeat(12)}`;
const LINES = {
  notices: {
    round_id: round, state: "open", text: "x", attribute: "a", domain_kind: "binary", domain_size: 2, bid_low_micros: 0, bid_high_micros: 1,
    epsilon_max: 1.5, bids_close_at_ms: 1, reports_close_at_ms: null, terms_hash: "0".repeat(64), purpose: "", stages_in_all: 1,
  },
  statement: { transaction_id: "t", kind: "settlement", account: "o", amount_micros: 1, at_ms: 1, round_id: round },
};
const [line, spaces] = [JSON.stringify(LINES[kind]), " ".repeat(padding)];
const listed = Array(items).fill(line).join(",");
const owed = kind === "statement" ? '"balance_micros":0,' : "";
let pages = 0;
const fetched = async () => { pages += 1; return new Response(`{${owed}"items":[${listed}],"next":"c${pages}"}${spaces}`); };
const visit = new Visit(new Device(memoryStore(), "m"), asker("http://market.test", {}, fetched, () => new AbortController().signal));
const said = await visit[kind]().then(() => null, (fault) => `${fault.name}: ${fault.message}`);
process.stdout.write(JSON.stringify({ pages, said }));
