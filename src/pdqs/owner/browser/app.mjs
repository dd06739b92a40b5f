// The device as a page of its own, from her own machine or a place she trusts: the same modules that a market serves, with
// the market reached by token alone.

import { facts, OVERALL } from "./account.mjs";
import { Device } from "./device.mjs";
import { saveData, savePage } from "./export.mjs";
import { lotInWords } from "./lots.mjs";
import { amount, money } from "./money.mjs";
import { oddsInWords } from "./price.mjs";
import { openStore } from "./store.mjs";
import { asker, Visit } from "./visit.mjs";

const at = (id) => document.getElementById(id);
const epsilonText = (nanos) => (nanos / 1e9).toFixed(4);
const store = await openStore();

function element(tag, fields = {}, ...children) {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
}

const table = (pairs) => element("dl", {}, ...pairs.flatMap(([name, value]) => [element("dt", { textContent: name }), element("dd", { textContent: value })]));

/** Run what a person started; what goes wrong is said on the page. */
async function doing(action) {
  at("trouble").hidden = true;
  try {
    await action();
  } catch (fault) {
    at("trouble").textContent = fault.message;
    at("trouble").hidden = false;
  }
  await presentPrivacy().catch((fault) => { at("privacy").textContent = fault.message; });
}

const onSubmit = (form, action) => form.addEventListener("submit", (event) => { event.preventDefault(); doing(action); });

// Markets: an address, and a token that only this page's origin can read.

const known = () => JSON.parse(localStorage.getItem("pdqs-markets") ?? "{}");

async function enrol() {
  const address = new URL(at("address").value).origin;
  const ask = asker(address, { Authorization: "" });
  const body = JSON.stringify({ code: at("code").value.trim() });
  const { token, user } = await ask("/tokens", { method: "POST", body });
  if (user?.role !== "owner") throw new Error("This code is not for an owner.");
  localStorage.setItem("pdqs-markets", JSON.stringify({ ...known(), [address]: { token, user: user.user_id } }));
  at("enrol").reset();
  presentMarkets();
  await presentRounds(address);
}

function visiting(address) {
  const { token, user } = known()[address];
  return new Visit(new Device(store, `${address} ${user}`), asker(address, { Authorization: `Bearer ${token}` }));
}

function presentMarkets() {
  at("markets").replaceChildren(...Object.keys(known()).map((address) =>
    element("button", { type: "button", textContent: address, onclick: () => doing(() => presentRounds(address)) })));
}

async function presentRounds(address) {
  const visit = visiting(address);
  at("faults").hidden = true;
  const notices = await visit.notices();
  const listed = notices.map((notice) => element("button", {
    type: "button",
    textContent: `${notice.text || "(no words)"} (${notice.state})`,
    onclick: () => doing(() => presentRound(visit, notice.round_id)),
  }));
  at("rounds").replaceChildren(...(listed.length ? listed : [element("p", { textContent: "No rounds are open." })]));
  await presentFaults(visit, notices);
}

/** What the market did not keep to, in rounds that were reported in from here. */
async function presentFaults(visit, notices) {
  const found = await visit.lookOver(notices);
  at("faults").replaceChildren(...found.map(({ text, wrong }) => element("p", { textContent: text ? `“${text}”: ${wrong}` : wrong })));
  at("faults").hidden = !found.length;
}

// One round: bid, or look at the offer and report, or what became of it.

async function presentRound(visit, round) {
  const notice = await visit.notice(round);
  await visit.device.look(notice);
  at("round").hidden = false;
  at("round-title").textContent = notice.question.text || "(no words)";
  at("round-body").replaceChildren();
  const [bid, made] = [await visit.device.bidFor(round), await visit.device.reportFor(round)];
  if (made) return presentMade(visit, round, made);
  if (notice.state === "open") return presentBidding(visit, notice, bid?.accepted ? bid : null);
  if (notice.state === "reporting") return presentOffer(visit, round);
  at("round-body").append(bid ? `Your bid of ${money(bid.bid_micros)} stands. The round is ${notice.state}.` : `The round is ${notice.state}.`);
}

/** Words from outside as one line: nothing that turns the direction or starts a line, and not too long. */
const printable = (words) => [...String(words)].slice(0, 400).join("").replace(/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/gu, "?");

function presentBidding(visit, notice, standing) {
  const price = element("input", { inputMode: "decimal", required: true });
  const said = JSON.parse(notice.terms);
  const why = [["Who asks", said.asked_by], ["Why", said.purpose], ["What for", said.use], ["For groups", [said.groups ?? []].flat().join(", ")]].filter(([, words]) => words).map(([name, words]) => [name, printable(words)]);
  const form = element("form", { autocomplete: "off" },
    element("label", {}, `Your price per unit of epsilon (${money(notice.bid_low_micros)} to ${money(notice.bid_high_micros)}) `, price),
    element("button", { textContent: standing ? "Change it" : "Bid" }));
  onSubmit(form, async () => {
    const { micros, fault } = amount(price.value);
    if (fault) throw new Error(`Your price: ${fault}.`);
    await visit.namePrice(notice.round_id, micros, notice.terms_hash);
    at("said").textContent = "Your bid stands.";
    await presentRound(visit, notice.round_id);
  });
  const most = `someone who guessed 50:50 before could be at most ${oddsInWords(notice.epsilon_max)} sure after (epsilon ${notice.epsilon_max})`;
  at("round-body").append(table([...why, ["About", notice.question.attribute], ["Most that can be learned", most], ["Terms", notice.terms_hash]]));
  if (standing) at("round-body").append(`Your bid of ${money(standing.bid_micros)} stands. You can change or withdraw it until bids close.`);
  at("round-body").append(form);
  if (standing) at("round-body").append(withdrawing(visit, notice.round_id));
}

function withdrawing(visit, round) {
  const button = element("button", { type: "button", textContent: "Withdraw it" });
  button.addEventListener("click", () => doing(async () => {
    await visit.withdrawBid(round);
    at("said").textContent = "You have no bid in this round.";
    await presentRound(visit, round);
  }));
  return button;
}

function answers({ kind, labels, start, step, size }) {
  if (kind === "grid") return Array.from({ length: size }, (_, code) => String(start + step * code));
  return kind === "binary" ? ["No", "Yes"] : labels;
}

async function presentOffer(visit, round) {
  const review = await visit.review(round);
  const { offer, spending, overall } = review;
  at("round-body").append(table([
    ["Payment", `${money(offer.payment_micros)} (your price comes to ${money(review.leastPaymentMicros)}: checked)`],
    ["Privacy", `epsilon ${review.epsilon.toFixed(4)}: someone who guessed 50:50 before could be at most ${oddsInWords(review.epsilon)} sure after`],
    ...(offer.lots ? [["The lot", `${lotInWords(offer)} (draw and bid checked)`]] : []),
    [offer.question.attribute, `${epsilonText(spending.spentNanos)} spent of ${epsilonText(spending.capNanos)}`],
    ["Everything together", `${epsilonText(overall.spentNanos)} spent of ${epsilonText(overall.capNanos)}`],
    ["Terms", `${offer.terms_hash} (hash checked)`],
  ]));
  if (offer.q_numerator === 0) { at("round-body").append("Nothing is asked of you in this round: you send nothing and lose no privacy."); return; }
  if (review.waits) { at("round-body").append(`You are asked in stage ${offer.stage}: your question has not come yet. Look again later.`); return; }
  if (!review.withinCap) throw new Error("This would pass your own lifetime cap, so nothing will be drawn or sent.");
  const yesOrNo = { kind: "binary" };
  const choice = element("select", { required: true }, element("option", { value: "", textContent: "Choose one" }),
    ...answers(offer.side === null ? offer.question.domain : yesOrNo).map((label, code) => element("option", { value: String(code), textContent: label })));
  const boxes = Object.entries(review.asks).map(([name, sentence]) => [name, element("input", { type: "checkbox", required: true }), sentence]);
  const form = element("form", { autocomplete: "off" },
    element("label", {}, `${review.said} Your true answer (stays on this device) `, choice),
    ...boxes.map(([, box, sentence]) => element("label", {}, box, ` ${sentence}`)),
    element("button", { textContent: "Randomise and send" }));
  onSubmit(form, async () => {
    const agreed = boxes.filter(([, box]) => box.checked).map(([name]) => name);
    const stored = await visit.draw(review, Number(choice.value), agreed);
    form.reset();
    await visit.send(stored).finally(() => presentRound(visit, round));
  });
  at("round-body").append(form);
}

async function presentMade(visit, round, made) {
  await visit.settleUp(round).catch((fault) => { [at("trouble").textContent, at("trouble").hidden] = [fault.message, false]; });
  const now = await visit.device.reportFor(round);
  at("round-body").append(table([["Known", facts(now)], ["Offered", money(now.payment_micros)], ["Epsilon", epsilonText(now.epsilon_nanos)], ["Left this device", now.body]]));
  if (now.accepted_at_ms !== null) return;
  const again = element("button", { type: "button", textContent: "Send the same bytes again" });
  again.addEventListener("click", () => doing(async () => { await visit.send(made).finally(() => presentRound(visit, round)); }));
  at("round-body").append(again);
}

async function presentPrivacy() {
  const device = new Device(store, "");
  const account = await device.account();
  const rows = [...account.attributes(), OVERALL].map((name) => account.spending(name));
  at("privacy").replaceChildren(table(rows.map((one) => [one.attribute || "Everything together", `${epsilonText(one.spentNanos)} of ${epsilonText(one.capNanos)} epsilon`])), capForm(device));
}

function capForm(device) {
  const [name, cap] = [element("input", { placeholder: "income; empty: everything together" }), element("input", { inputMode: "decimal", required: true })];
  const form = element("form", { autocomplete: "off" }, element("label", {}, "Fact ", name), element("label", {}, "Lifetime cap ", cap), element("button", { textContent: "Set the cap" }));
  onSubmit(form, async () => {
    const amount = Number(cap.value.trim());
    const good = cap.value.trim() && amount >= 0 && amount <= 1000 && /^([a-z][a-z0-9_.-]{0,59})?$/.test(name.value.trim());
    if (!good) throw new Error("A cap is a number from 0 to 1000, for a fact named in small letters.");
    await device.setCap(name.value.trim(), Math.floor(amount * 1e9));
  });
  return form;
}

async function presentManifest() {
  const text = await (await fetch("manifest.json", { cache: "no-store" })).text();
  const { sha256 } = await import("./sha256.mjs");
  at("version").textContent = JSON.parse(text).version;
  at("manifest").textContent = sha256(text);
}

onSubmit(at("enrol"), enrol);
const account = () => new Device(store, "").account();
at("export-data").addEventListener("click", () => doing(async () => saveData(await account(), Object.keys(known()))));
at("export-page").addEventListener("click", () => doing(async () => savePage(await account())));
presentMarkets();
at("late").remove(); // seen only where this script does not get so far
await doing(presentManifest);
