// The browser's device in two tabs at once, on one store: both look before either draws.
// node overlapping_twin.mjs MODULES_DIRECTORY < JSON of [{tabs: [{market, address, round}], bid, seed, meanwhile}]
// `meanwhile`: an address to be asked between the two looks, so that the market tells something else from then on.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { Device } = await load("device.mjs");
const { memoryStore } = await load("store.mjs");
const { asker, Visit } = await load("visit.mjs");

const said = (doing) => doing().then(() => null, (fault) => `${fault.name}: ${fault.message}`);

async function overlapping({ tabs, bid, seed, meanwhile }) {
  const store = memoryStore();
  const setting = new Device(store, "");
  for (const { kind, ...fields } of seed) await setting.note(kind, fields);
  for (const name of ["drink", "beverage", ""]) await setting.setCap(name, 90e9);
  const visits = tabs.map(({ market, address }) => new Visit(new Device(store, market), asker(address), () => 7));
  for (const [place, visit] of visits.entries()) await visit.bid(tabs[place].round, bid);
  const [first, second] = tabs.map(({ round }) => round);
  const looked = [await visits[0].review(first)];
  if (meanwhile) await fetch(meanwhile);
  const late = await said(async () => looked.push(await visits[1].review(second)));
  const refused = [];
  for (const [place, review] of looked.entries()) {
    refused.push(await said(async () => visits[place].send(await visits[place].draw(review, 1, Object.keys(review.asks)))));
  }
  let again = [];
  const third = await said(async () => {
    const review = await visits[1].review(second);
    again = Object.keys(review.asks);
    await visits[1].send(await visits[1].draw(review, 1, again));
  });
  const account = await setting.account();
  const drawn = account.entries.filter(({ kind }) => kind === "drawn").length;
  return { asked: looked.map(({ asks }) => Object.keys(asks).sort()), late, refused, again: again.sort(), third, drawn, elsewhere: account.elsewhere(tabs[0].market) };
}

/** Two tabs have both looked before either keeps what it was told. */
async function twoStories({ tabs: [{ market, address, round }], bid, meanwhile }) {
  const store = memoryStore();
  for (const name of ["drink", ""]) await new Device(store, "").setCap(name, 90e9);
  const visit = new Visit(new Device(store, market), asker(address), () => 7);
  await visit.bid(round, bid);
  const look = async () => visit.device.review(await visit.notice(round), await visit.offer(round), { bidThere: await visit.bidThere(round) });
  const one = await look();
  await fetch(meanwhile);
  const two = await look();
  const kept = [await said(() => visit.device.keepTold(one)), await said(() => visit.device.keepTold(two))];
  const drawn = [await said(() => visit.draw(two, 1, Object.keys(two.asks)))];
  const kinds = (await visit.device.account()).entries.map(({ kind }) => kind);
  return { kept, drawn, kinds };
}

const found = [];
for (const each of JSON.parse(readFileSync(0, "utf8"))) found.push(await (each.stories ? twoStories(each) : overlapping(each)));
process.stdout.write(JSON.stringify(found));
