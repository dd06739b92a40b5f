// The browser's device in two tabs on one store: one withdraws a bid while its receipt is on its way to the other.
// node withdrawn_twin.mjs MODULES_DIRECTORY < JSON of {address, round, bid}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { Device } = await load("device.mjs");
const { memoryStore } = await load("store.mjs");
const { asker, Visit } = await load("visit.mjs");

const { address, round, bid } = JSON.parse(readFileSync(0, "utf8"));
const [store, honest] = [memoryStore(), asker(address)];

async function ask(path, how = {}) {
  const told = await honest(path, how);
  if (how.method === "PUT") await new Device(store, address).withdrawn(round, 7, 7);
  return told;
}

const said = await new Visit(new Device(store, address), ask, () => 7).bid(round, bid).then(() => null, (fault) => `${fault.name}: ${fault.message}`);
process.stdout.write(JSON.stringify({ said, kinds: (await new Device(store, address).account()).entries.map(({ kind }) => kind) }));
