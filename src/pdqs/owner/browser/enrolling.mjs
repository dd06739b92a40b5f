// Before and after a one-time code is used up: whose device this is at a market, and whether it stays hers. The twin of
// pdqs/cli/owner_typed.py and owner_enrolling.py.

import { read } from "./messages.mjs";
import { Refusal } from "./refusal.mjs";
import { quoted } from "./spelling.mjs";

const KEPT = "pdqs-markets";
const SECRET = /^[A-Za-z0-9_-]{20,80}$/;
const BEHIND = /[^A-Za-z0-9_-]+$/; // what a letter has behind a link, as a full stop, is no part of its code
const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/;
const PATH = /^(\/[A-Za-z0-9._~%-]+)*$/;

function parsed(words) {
  try {
    return /^https?:\/\//i.test(words) ? new URL(words) : null;
  } catch {
    return null;
  }
}

/** A market's address, spelled as all spellings of it are: one market has one account here. */
export function addressOf(words) {
  const given = words.trim();
  const url = parsed(given);
  const path = url?.pathname.replace(/\/+$/, "");
  const bare = url && !url.username && !url.password && !url.search && !url.hash && url.port !== "0";
  if (!bare || !HOST.test(url.hostname) || !PATH.test(path)) {
    throw new Refusal(`“${[...given].slice(0, 80).join("")}” is not a market's address: write it like https://market.example.`);
  }
  return `${url.origin}${path}`;
}

/** A market's address and a one-time code, given as two or as the link that was handed out, in either place. */
export function invitationOf(address, code) {
  const [market, linked = ""] = address.trim().split("/enter#");
  const [before, after] = code.trim().split("/enter#");
  const given = (after ?? (before || linked)).replace(BEHIND, "");
  if (!given) throw new Refusal("No one-time code was given: write it below the address, or put the whole link there.");
  if (!SECRET.test(given)) throw new Refusal("This is not a one-time code: copy all of it.");
  return { address: addressOf(market || (after === undefined ? "" : before)), code: given };
}

/** The markets of this device: for each address its token, and who she is there. What has another shape is not one. */
export function marketsKept(storage = localStorage) {
  let found = {};
  try {
    found = JSON.parse(storage.getItem(KEPT) ?? "{}") ?? {};
  } catch {
    // what cannot be read is as good as gone; a new code brings the market back
  }
  return Object.fromEntries(Object.entries(found).filter(([, kept]) => SECRET.test(kept?.token) && /^[a-z]{1,3}_[0-9a-f]{24}$/.test(kept.user)));
}

/** Keep another market; called with none before a code is used up, for a browser that keeps nothing. */
export function keepMarket(added = {}, storage = localStorage) {
  try {
    storage.setItem(KEPT, JSON.stringify({ ...marketsKept(storage), ...added }));
  } catch {
    throw new Refusal("This browser keeps nothing for this page, so the code was not used: leave the private window, or let the page keep data.");
  }
}

/** Exchange a code for a token; now the code is used up. */
export async function redeemed(address, ask, code) {
  let answer;
  try {
    answer = await ask("/tokens", { method: "POST", body: JSON.stringify({ code }) });
  } catch (fault) {
    if (fault.status === 401) throw new Refusal("The market does not know this code: copy all of it, or the whole link. If that is what you did it was used or has run out: ask for another.");
    if (fault.status === 404) throw new Refusal(`There is no market at ${address}: give its address alone.`);
    throw fault;
  }
  const { token, user } = read("token", answer);
  if (user.role !== "owner") throw new Refusal(`This code was for a ${user.role}, not for an owner, and is used up now: ask for another.`);
  return { token, user };
}

/** Where bids or reports were made from here, the device stays hers who made them. */
export function refuseAnother(account, address, user) {
  const made = account.entries.filter(({ kind, market }) => ["bid", "drawn"].includes(kind) && market.startsWith(`${address} `));
  if (!made.length || made.some(({ market }) => market === `${address} ${user.user_id}`)) return;
  throw new Refusal(`The code was for ${quoted(user.name)}, and the bids and reports of this device at ${address} are somebody else's: the device stays as it was. `
    + "The code is used up: ask for another, and use it in a browser profile or on a device of its own.");
}
