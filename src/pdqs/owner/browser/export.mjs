// Everything that this device knows, to take away: the twin of pdqs/owner/export.py and own_proof.py, to the letter.

import { facts, factsAndWords, OVERALL } from "./account.mjs";
import { bidEntry, chanceInWords, isIncluded, pseudonymOf } from "./lots.mjs";
import { fixed, money } from "./money.mjs";
import { NANOS_PER_EPSILON } from "./price.mjs";
import { fallsShort, isSigned } from "./receipts.mjs";
import { hexOf } from "./sha256.mjs";

const VERSION = 1;
const REPORT_FIELDS = ["market", "round_id", "attribute", "text", "terms_hash", "epsilon_nanos", "payment_micros",
  "drawn_at_ms", "body", "sent_at_ms", "accepted_at_ms", "refused", "paid_micros", "receipt", "taken_back_micros"];
const BID_FIELDS = ["market", "round_id", "bid_micros", "terms_hash", "question", "terms", "body", "accepted", "receipt"];
const LOT_FIELDS = ["asked", "draw", "chance_numerator", "posted_micros", "evidence"];

const picked = (held, names) => Object.fromEntries(names.map((name) => [name, held[name]]));
const bidOf = (account, made) => account.bid(made.market, made.round_id);
const spendings = (account) => [...account.attributes(), OVERALL].map((name) => account.spending(name));

/** Every bid that was made, oldest first, each round once. */
function bidsOf(account) {
  const places = new Map(account.all("bid").map(({ market, round_id: round }) => [JSON.stringify([market, round]), [market, round]]));
  return [...places.values()].map((place) => account.bid(...place)).filter(Boolean);
}

/** Her bid's place under the published root, and all that she was told, sent and paid. */
function proofOf(account, { market, round_id: round, terms_hash, bid_micros, owner_id: owner = "" }, told) {
  const [report, asked, { root, lots }] = [account.report(market, round), account.question(market, round), JSON.parse(told.evidence)];
  return {
    terms_hash, pseudonym: hexOf(pseudonymOf(round, owner)), bid_micros, bids_root: root.root, bids: root.bids, place: lots.place, path: lots.path,
    ...picked(told, ["asked", "draw", "chance_numerator", "posted_micros"]),
    payment_micros: report?.payment_micros ?? null,
    code: report && report.accepted_at_ms !== null ? JSON.parse(report.body).code : null,
    paid_micros: report?.paid_micros ?? null,
    epsilon_nanos: report?.epsilon_nanos ?? null,
    stage: asked?.stage ?? null,
    side: asked?.side ?? null,
    receipt: report?.receipt ? JSON.parse(report.receipt) : null,
  };
}

/** The proof that a bid was counted, looked at anew; nothing where the device was told of no draw. */
async function proven(account, bid) {
  const told = account.lots(bid.market, bid.round_id);
  if (!told) return null;
  const [proof, { root }] = [proofOf(account, bid, told), JSON.parse(told.evidence)];
  const entry = bidEntry(pseudonymOf(bid.round_id, bid.owner_id ?? ""), bid.bid_micros);
  return {
    proof,
    counted: isIncluded(entry, { place: proof.place, leaves: proof.bids, path: proof.path }, proof.bids_root),
    root_signed: await isSigned(String(JSON.parse(bid.terms).receipt_key), "BidsRoot", root).catch(() => null), // it cannot be told here
  };
}

/** What was asked by which market, at which price and epsilon, what was drawn and signed for, and the account. */
export async function exported(account, markets, nowMs) {
  const bids = await Promise.all(bidsOf(account).map(async (bid) => {
    const lots = account.lots(bid.market, bid.round_id);
    return { ...picked(bid, BID_FIELDS), owner_id: bid.owner_id ?? "", after_ms: bid.after_ms ?? 0, receipt_falls_short: fallsShort(bid, bid.receipt), lots: lots && picked(lots, LOT_FIELDS), inclusion: await proven(account, bid) };
  }));
  return {
    version: VERSION,
    exported_at_ms: nowMs,
    markets: [...markets].sort(),
    spending: spendings(account).map(({ attribute, spentNanos, capNanos, reports }) => ({ attribute, spent_nanos: spentNanos, cap_nanos: capNanos, reports })),
    bids,
    reports: account.reports().map((made) => ({ ...picked(made, REPORT_FIELDS), receipt_falls_short: fallsShort(bidOf(account, made), made.receipt), facts: facts(made) })),
    entries: account.entries,
  };
}

const SIGNS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };
const escaped = (text) => String(text).replace(/[&<>"']/g, (sign) => SIGNS[sign]);
const epsilonText = (nanos) => fixed(nanos / NANOS_PER_EPSILON, 4);

function table(title, head, rows) {
  const line = (row) => `<tr>${row.map((cell) => `<td>${escaped(cell)}</td>`).join("")}</tr>`;
  const names = head.map((name) => `<th>${escaped(name)}</th>`).join("");
  return `<h2>${escaped(title)}</h2><table><tr>${names}</tr>${rows.map(line).join("") || "<tr><td>Nothing.</td></tr>"}</table>`;
}

const spentRow = (one) => [one.attribute || "all together", epsilonText(one.spentNanos), epsilonText(one.capNanos), one.reports];

/** The signature of a kept receipt, and where it is not the one that was promised, that. */
function signatureInWords(bid, receipt) {
  const signature = JSON.parse(receipt ?? "{}").signature || "none";
  return fallsShort(bid, receipt) ? `${signature} (the market's receipt does not say whose it is, as its terms promise)` : signature;
}

function bidRow(bid) {
  const { market, round_id: round, terms, question, bid_micros: price, terms_hash: hash, receipt } = bid;
  return [market, round, JSON.parse(terms).asked_by || "(not said)", JSON.parse(question).text || "(no words)", money(price), hash, signatureInWords(bid, receipt)];
}

const SIGNED = new Map([[true, "which the market signed"], [false, "but the market did not sign the root"], [null, "whose signature this browser cannot check"]]);

function countedRow({ round_id: round }, { proof, counted, root_signed: signed }) {
  const lot = `${proof.asked ? "drawn" : "not drawn"} (draw ${proof.draw}, chance ${chanceInWords(proof.chance_numerator)})`;
  const under = `yes: your bid is under this root, ${SIGNED.get(signed)}`;
  return [round, lot, proof.pseudonym, `${proof.place + 1} of ${proof.bids}`, proof.bids_root, counted ? under : "no: your bid is not under this root"];
}

function reportRow(bid, made) {
  const paid = made.paid_micros === null ? "not yet" : money(made.paid_micros);
  const gone = made.taken_back_micros ? ` (${money(made.taken_back_micros)} was taken back)` : "";
  const told = [made.text || "(no words)", epsilonText(made.epsilon_nanos), money(made.payment_micros), `${paid}${gone}`];
  return [made.market, made.round_id, ...told, factsAndWords(made), made.body, signatureInWords(bid, made.receipt)];
}

/** What of it people read, as one page of HTML that fetches nothing and runs nothing. */
export async function readable(account) {
  const bids = bidsOf(account);
  const counted = await Promise.all(bids.map(async (bid) => [bid, await proven(account, bid)]));
  const parts = [
    table("Privacy spent", ["about", "epsilon spent", "cap", "reports"], spendings(account).map(spentRow)),
    table("What you bid on", ["market", "round", "asked by", "question", "your price", "terms", "signature"], bids.map(bidRow)),
    table("That your bids were counted", ["round", "lot", "your name in the round", "place", "root over all bids", "checked"],
      counted.filter(([, found]) => found).map((each) => countedRow(...each))),
    table("What left this device", ["market", "round", "question", "epsilon", "promised", "paid", "what is known", "sent", "signature"], account.reports().map((made) => reportRow(bidOf(account, made), made))),
  ];
  const style = ":root{color-scheme:light dark}body{font:1rem/1.5 sans-serif;margin:1rem}table{display:block;overflow-x:auto}"
    + "td,th{text-align:left;vertical-align:top;padding:.2rem .8rem;min-width:7rem;word-break:break-word}";
  return '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    + '<meta name="viewport" content="width=device-width"><title>What my device knows</title>'
    + `<style>${style}</style></head><body><h1>What my device knows</h1>`
    + "<p>Your answers are not here: the device keeps what it sent, randomised, and nothing else.</p>"
    + `${parts.join("")}</body></html>\n`;
}

/** Hand a text to the browser to keep as a file. */
function save(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // some browsers begin to read it only after a while
}

/** All of it as a file of data. */
export const saveData = async (account, markets) => save("known.json", `${JSON.stringify(await exported(account, markets, Date.now()), null, 2)}\n`, "application/json");

/** What of it people read, as a file. */
export const savePage = async (account) => save("known.html", await readable(account), "text/html");
