// Requests of the owner's pages to the market, and figures for people.

import { Device } from "../device/device.mjs";
import { printable } from "../device/spelling.mjs";
import { payoutsInWords } from "../device/statement.mjs";
import { openStore } from "../device/store.mjs";
import { asker, Visit } from "../device/visit.mjs";

import { fixed, useCurrency } from "../device/money.mjs";

import { inWords, isSignedOut } from "./words.mjs";

export { amount, fixed, money, number, numberText, owed, typedMoney } from "../device/money.mjs";

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

export const epsilonText = (nanos) => fixed(nanos / 1e9, 4);

/** The way back in for someone who was signed out, to this very page; null for any other fault. */
export function wayIn(fault) {
  if (!isSignedOut(fault)) return null;
  const wanted = location.pathname.slice(new URL(place).pathname.replace(/\/$/, "").length) + location.search;
  return Object.assign(document.createElement("a"), { href: `${place}/enter?next=${encodeURIComponent(wanted)}`, textContent: "Sign in again" });
}

/** Say what went wrong; `drawn`: while a report was sent that is drawn. */
export function trouble(fault, drawn = false) {
  const box = document.getElementById("trouble");
  const door = wayIn(fault);
  box.replaceChildren(inWords(fault, drawn), ...(door ? [" ", door] : []));
  box.hidden = false;
  box.scrollIntoView({ block: "nearest" }); // the button that asked may be screens below; at once, as nothing here glides
}

/** What the market did not keep to in the rounds that were reported in from this browser, on top of the page. */
export async function tellFaults(visit) {
  const box = document.getElementById("faults");
  const { faults: wrongs, payouts, notes } = await visit.lookOver().catch((fault) =>
    ({ payouts: [], notes: [], faults: [{ wrong: `Whether you were paid for what you reported could not be looked at. ${inWords(fault)}`, door: wayIn(fault) }] }));
  const faults = [...wrongs, ...notes];
  box.replaceChildren(...faults.map(({ text, wrong, door }) => {
    const line = Object.assign(document.createElement("p"), { textContent: text ? `“${text}”: ${wrong}` : wrong });
    if (door) line.append(" ", door);
    return line;
  }));
  box.hidden = !faults.length;
  tellPayouts(visit, payouts);
}

const NOT_COME = "If it did not come: tell the operator, and show this line. It stays here until you have it.";
const ONE_NOT_COME = "If one did not come: tell the operator, and show its line. It stays here until you have it.";

/** Payouts that only she can know of, each with a button by which she says that it came. */
function tellPayouts(visit, payouts) {
  const box = document.getElementById("payouts");
  const told = payoutsInWords(payouts);
  box.replaceChildren(...told.map(({ said, payout }) => {
    const line = Object.assign(document.createElement("p"), { textContent: `${said} ` });
    if (!payout) return line;
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Yes, I got it" });
    button.addEventListener("click", () => {
      button.disabled = true;
      visit.got(payout).then(() => tellPayouts(visit, payouts.filter((other) => other !== payout)), trouble);
    });
    line.append(button);
    return line;
  }));
  if (told.length) box.append(Object.assign(document.createElement("p"), { className: "quiet", textContent: told.length === 1 ? NOT_COME : ONE_NOT_COME }));
  box.hidden = !told.length;
}

export function calm() {
  document.getElementById("trouble").hidden = true;
}

/** The page is ready, or has said what stands against it: the word that a part of it is missing goes. */
export function arrived() {
  document.getElementById("late")?.remove();
}
