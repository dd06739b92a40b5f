// The device as a page of its own, from her own machine or a place she trusts: the same modules that a market serves, with
// the market reached by token alone.

import "./alone.mjs";
import { OVERALL } from "./account.mjs";
import { Device } from "./device.mjs";
import { invitationOf, keepMarket, marketsKept, redeemed, refuseAnother } from "./enrolling.mjs";
import { saveData, savePage } from "./export.mjs";
import { fixed } from "./money.mjs";
import { Refusal } from "./refusal.mjs";
import { closeRound, keepLooking, openRound, STATES } from "./rounds.mjs";
import { afterEach, asking, at, doing, element, onSubmit, paragraph, pressed, table, turns } from "./screen.mjs";
import { plainDecimal, quoted } from "./spelling.mjs";
import { payoutsInWords } from "./statement.mjs";
import { openStore } from "./store.mjs";
import { Visit } from "./visit.mjs";

const epsilonText = (nanos) => fixed(nanos / 1e9, 4);
const turn = turns();

async function opened() {
  try {
    keepMarket();
    return await openStore();
  } catch (fault) {
    at("late").textContent = "This browser keeps nothing for this page: leave the private window, or let the page keep data, then load it again. Your device counts what you spend, so without that it does nothing.";
    at("late").className = "bad now";
    throw fault;
  }
}

const store = await opened();
const account = () => new Device(store, "").account();

// Markets: an address, and a token that only this page's origin can read.

/** Ask before a code is used up where somebody is enrolled: a second person's would put her in the place of the first. */
function askedAgain(address, { name }) {
  const whom = name ? quoted(name) : "the same person";
  const said = `This device is enrolled at ${address}${name ? ` as ${whom}` : ""} already`;
  if (at("same").checked && at("again").dataset.address === address) return;
  at("again").dataset.address = address;
  at("same-words").textContent = `The code is for ${whom}.`;
  at("again").hidden = false;
  throw new Refusal(`${said}, so the code was not used. If it is for ${whom}, say so below and press Enrol again. A second person needs a browser profile or a device of her own.`);
}

async function enrol() {
  const { address, code } = invitationOf(at("address").value, at("code").value);
  const before = marketsKept()[address];
  if (before) askedAgain(address, before);
  const told = await account(); // an account that cannot be read uses up no code
  keepMarket();
  const { token, user } = await redeemed(address, asking(address), code);
  refuseAnother(told, address, user);
  keepMarket({ [address]: { token, user: user.user_id, name: user.name } });
  at("enrol").reset();
  at("again").hidden = true;
  presentMarkets();
  await presentRounds(address);
}

function visiting(address) {
  const { token, user } = marketsKept()[address] ?? {};
  if (!token) throw new Refusal(`What this browser kept of ${address} is gone: enrol there again with a fresh code.`);
  return new Visit(new Device(store, `${address} ${user}`), asking(address, token));
}

function presentMarkets() {
  at("markets").replaceChildren(...Object.keys(marketsKept()).map((address) => pressed(address, () => presentRounds(address))));
}

const nameOf = ({ text, state }) => `${text || "(no words)"} (${STATES[state]})`;

/** How each round of the list stands by now. */
async function nameAgain(visit) {
  const names = new Map((await visit.notices()).map((notice) => [notice.round_id, nameOf(notice)]));
  for (const button of at("rounds").querySelectorAll("[data-round]")) button.textContent = names.get(button.dataset.round) ?? button.textContent;
}

let again = async () => {};

async function presentRounds(address) {
  const [visit, isLast] = [visiting(address), turn()];
  at("faults").hidden = true;
  at("payouts").replaceChildren();
  closeRound();
  at("rounds").replaceChildren(paragraph(`Asking ${address} …`));
  const notices = await visit.notices().catch((fault) => {
    if (isLast()) at("rounds").replaceChildren(paragraph("Choose a market."));
    throw fault;
  });
  if (!isLast()) return;
  const listed = notices.map((notice) => {
    const button = pressed(nameOf(notice), () => openRound(visit, notice.round_id), { className: "round" });
    button.dataset.round = notice.round_id;
    return button;
  });
  again = () => nameAgain(visit);
  at("rounds").replaceChildren(paragraph(`At ${address}:`), ...(listed.length ? listed : [paragraph("No rounds are open.")]));
  const { faults: wrongs, payouts, notes } = await visit.lookOver(notices);
  if (!isLast()) return;
  const faults = [...wrongs, ...notes];
  at("faults").replaceChildren(...faults.map(({ text, wrong }) => paragraph(text ? `${quoted(text)}: ${wrong}` : wrong)));
  at("faults").hidden = !faults.length;
  presentPayouts(visit, payouts);
}

/** Payouts that only she can know of, each with a button by which she says that it came. */
function presentPayouts(visit, payouts) {
  const got = (payout) => pressed("Yes, I got it", async () => {
    await visit.got(payout);
    presentPayouts(visit, payouts.filter((other) => other !== payout));
  });
  at("payouts").replaceChildren(...payoutsInWords(payouts).map(({ said, payout }) => element("p", {}, `${said} `, ...(payout ? [got(payout)] : []))));
}

// Her account

async function presentPrivacy() {
  const told = await account();
  const rows = [...told.attributes(), OVERALL].map((name) => told.spending(name));
  at("privacy").replaceChildren(table(rows.map((one) => [one.attribute || "Everything together", `${epsilonText(one.spentNanos)} of ${epsilonText(one.capNanos)} epsilon`])));
}

async function setCap() {
  const name = at("cap-name").value.trim();
  if (!/^([a-z][a-z0-9_.-]{0,59})?$/.test(name)) throw new Refusal("A fact is called by its name in small letters, such as income. Leave it empty for everything together.");
  const { digits, fault } = plainDecimal(at("cap").value);
  if (fault) throw new Refusal(`Lifetime cap: ${fault}.`);
  const [whole, decimals] = digits.split(".");
  if (Number(digits) > 1e6) throw new Refusal(`Lifetime cap: it is a number from 0 to ${fixed(1e6, 0)}.`);
  await new Device(store, "").setCap(name, Number(whole) * 1e9 + Number(decimals.slice(0, 9).padEnd(9, "0")));
  at("cap-form").reset();
}

async function presentManifest() {
  const { sha256 } = await import("./sha256.mjs");
  const text = await fetch("manifest.json", { cache: "no-store" }).then((answer) => (answer.ok ? answer.text() : ""), () => "");
  at("version").textContent = text ? JSON.parse(text).version : "unknown";
  at("manifest").textContent = text ? sha256(text) : "It could not be read: load this page again.";
}

onSubmit(at("enrol"), enrol);
onSubmit(at("cap-form"), setCap);
at("address").addEventListener("input", () => { at("again").hidden = true; at("same").checked = false; });
const saving = (id, save) => at(id).addEventListener("click", () => doing([at(id)], async () => save(await account())));
saving("export-data", (told) => saveData(told, Object.keys(marketsKept())));
saving("export-page", savePage);
afterEach(() => presentPrivacy().catch((fault) => { at("privacy").textContent = fault.message; }));
presentMarkets();
keepLooking(() => again());
at("late").remove(); // seen only where this script does not get so far
document.querySelectorAll("button:disabled").forEach((button) => { button.disabled = false; });
await doing([], presentManifest);
