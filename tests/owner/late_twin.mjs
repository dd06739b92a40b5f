// The browser's device at a market that is there, outside a browser: its first bid hangs on the way, she withdraws, and
// then the bid arrives.
// node late_twin.mjs MODULES_DIRECTORY < JSON of {address, token, round, bid}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { Device } = await load("device.mjs");
const { memoryStore } = await load("store.mjs");
const { asker, Visit } = await load("visit.mjs");

const { address, token, round, bid } = JSON.parse(readFileSync(0, "utf8"));
const headers = { Authorization: `Bearer ${token}` };
const late = [];
let hangs = true;

async function fetched(url, how) {
  if (how.method === "PUT" && hangs) {
    late.push([url, how]);
    throw new TypeError("the line hangs");
  }
  return fetch(url, how);
}

const visit = new Visit(new Device(memoryStore(), address), asker(address, headers, fetched));
const outcome = async (action) => action().then(() => "done", (fault) => fault.type ?? fault.name);

const first = await outcome(() => visit.bid(round, bid));
const withdrawn = await outcome(() => visit.withdrawBid(round));
hangs = false;
const arrived = await Promise.all(late.map(async ([url, { method, body, headers: sent }]) => (await fetch(url, { method, body, headers: sent })).status));
const stands = Boolean(await visit.bidThere(round));

const elsewhere = new Visit(new Device(memoryStore(), address), asker(address, headers));
const other = [await outcome(() => elsewhere.bid(round, bid)), await outcome(() => elsewhere.bid(round, bid + 1))];
const entries = (await elsewhere.device.account()).entries.map(({ kind }) => kind);
const withdrawals = await Promise.all([visit, elsewhere].map(async ({ device }) => (await device.account()).withdrawnMs(address, round)));
process.stdout.write(JSON.stringify({ first, withdrawn, arrived, stands, other, entries, withdrawals }));
