// Requests of the owner's pages to the market, and figures for people.

import { Device } from "../device/device.mjs";
import { printable } from "../device/spelling.mjs";
import { openStore } from "../device/store.mjs";
import { asker, Visit } from "../device/visit.mjs";

import { useCurrency } from "../device/money.mjs";

import { inWords } from "./words.mjs";

export { amount, money, number, numberText, owed } from "../device/money.mjs";

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? "";
useCurrency(JSON.parse(meta("currency") || "{}"));

const place = new URL("..", import.meta.url).href.replace(/\/$/, "");

/** Of a request that was refused since the session is no longer this page's: who else is signed in now, if anyone. */
async function whoIsIn(fault) {
  if (fault.type !== "bad-csrf-token") return fault;
  const { user } = await asker(place)("/me").catch(() => ({}));
  return user && user.user_id !== meta("user") ? Object.assign(fault, { who: printable(user.name, 80) }) : fault;
}

/** This browser's device at this market, for the user who is signed in. `lasting`: whether the browser is asked to keep its
 * store when space is short, which some browsers ask her about. */
export async function visiting({ lasting = true } = {}) {
  const device = new Device(await openStore(lasting), `${location.origin} ${meta("user")}`);
  const ask = asker(place, { "X-CSRF-Token": meta("csrf-token") });
  return new Visit(device, (...given) => ask(...given).catch(async (fault) => { throw await whoIsIn(fault); }));
}

const ahead = Number(meta("now") || Date.now()) - Date.now();

/** The market's time, whatever this machine's own clock says. */
export const marketNow = () => Date.now() + ahead;

export const epsilonText = (nanos) => (nanos / 1e9).toFixed(4);

/** Say what went wrong; `drawn`: while a report was sent that is drawn. */
export function trouble(fault, drawn = false) {
  const box = document.getElementById("trouble");
  box.textContent = inWords(fault, drawn);
  box.hidden = false;
  box.scrollIntoView({ block: "nearest" }); // the button that asked may be screens below; at once, as nothing here glides
}

/** What the market did not keep to in the rounds that were reported in from this browser, on top of the page. */
export async function tellFaults(visit) {
  const box = document.getElementById("faults");
  const sentences = await visit.lookOver().then(
    (found) => found.map(({ text, wrong }) => (text ? `“${text}”: ${wrong}` : wrong)),
    (fault) => [`Whether you were paid for what you reported could not be looked at. ${inWords(fault)}`],
  );
  box.replaceChildren(...sentences.map((textContent) => Object.assign(document.createElement("p"), { textContent })));
  box.hidden = !sentences.length;
}

export function calm() {
  document.getElementById("trouble").hidden = true;
}

/** The page is ready, or has said what stands against it: the word that a part of it is missing goes. */
export function arrived() {
  document.getElementById("late")?.remove();
}
