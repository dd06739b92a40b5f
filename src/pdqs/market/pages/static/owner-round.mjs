// One round on the owner's side: the page around the device. All that matters is decided in /device/device.mjs.

import { facts } from "../device/account.mjs";
import { chanceInWords } from "../device/lots.mjs";
import { oddsInWords } from "../device/price.mjs";
import { arrived, calm, epsilonText, marketNow, money, number, owed, trouble, visiting } from "./market.mjs";
import { follow } from "./events.mjs";
import { Drawn } from "./owner-drawn.mjs";
import { priceForm, priceGiven } from "./price-form.mjs";
import { checkedTurn } from "./owner-stage.mjs";

const page = document.getElementById("device");
const { round, stage, seen } = page.dataset;
let closed = false;

const show = (name, text) => {
  for (const place of page.querySelectorAll(`[data-show="${name}"]`)) place.textContent = text;
};
const say = (words) => { document.getElementById("said").textContent = words; };
const check = (name, passed) => page.querySelector(`[data-check="${name}"]`)?.classList.add(passed ? "passed" : "failed");
const ready = (form) => form.querySelectorAll("[data-ready]").forEach((button) => { button.disabled = closed; });
const fault = (id, words) => {
  const place = document.getElementById(id);
  place.textContent = words;
  place.hidden = !words;
};

/** Do what a button asks for, once however often it is pressed; what stands against it is said. */
async function once(form, act) {
  const buttons = [...form.querySelectorAll("[data-ready]")];
  const pressed = document.activeElement;
  calm();
  buttons.forEach((button) => { button.disabled = true; });
  try {
    await act();
  } catch (refusal) {
    ready(form);
    pressed?.focus({ preventScroll: true }); // a button that is off loses it, and she may want to try again
    trouble(refusal);
  }
}

/** Once the time to bid is over, the page says so and invites no bid, however long it has been open. */
function watchTheClose() {
  const look = () => {
    if (marketNow() < Number(page.dataset.closes)) return;
    clearInterval(timer);
    closed = true;
    page.querySelectorAll("[data-open]").forEach((part) => { part.hidden = true; });
    page.querySelectorAll("[data-closed]").forEach((part) => { part.hidden = false; });
    page.querySelectorAll("[data-ready]").forEach((button) => { button.disabled = true; });
    say("Bids are closed.");
  };
  const timer = setInterval(look, 1000);
  look();
}

async function bidding(visit) {
  const form = document.getElementById("bid-form");
  const notice = await visit.notice(round);
  await visit.device.look(notice);
  const earlier = await visit.device.bidFor(round);
  priceForm(form, earlier?.bid_micros ?? null, (price) => `Bid ${price}`.trim());
  ready(form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const micros = priceGiven();
    if (micros !== null) once(form, async () => { await visit.namePrice(round, micros, notice.terms_hash); location.reload(); });
  });
}

/** A bid that stands: it can be changed where it was made, and withdrawn from anywhere. */
async function waiting(visit) {
  const [change, withdraw] = [document.getElementById("bid-form"), document.getElementById("withdraw-form")];
  const earlier = await visit.device.bidFor(round);
  document.getElementById("elsewhere").hidden = Boolean(earlier);
  document.getElementById("change").hidden = !earlier || closed;
  priceForm(change, earlier?.bid_micros ?? null, (price) => (price ? `Change it to ${price}` : "Change it"));
  [change, withdraw].forEach(ready);
  change.addEventListener("submit", (event) => {
    event.preventDefault();
    const micros = priceGiven();
    if (micros !== null) once(change, async () => { await visit.namePrice(round, micros); location.reload(); });
  });
  withdraw.addEventListener("submit", (event) => {
    event.preventDefault();
    once(withdraw, async () => { await visit.withdrawBid(round); location.reload(); });
  });
}

/** The owner's answer as a code of the domain, or null. Read at the moment of sending and kept nowhere. */
function answerCode() {
  const field = document.getElementById("answer");
  if (field.tagName === "FIELDSET") {
    const chosen = field.querySelector("input:checked");
    return chosen ? Number(chosen.value) : null;
  }
  if (field.value.trim() === "") return null;
  if (field.tagName === "SELECT") return Number(field.value);
  const given = number(field.value);
  if (given === null) return null;
  const place = (given - Number(field.dataset.start)) / Number(field.dataset.step);
  const code = Math.round(place);
  return Math.abs(place - code) <= 1e-6 && code >= 0 && code < Number(field.dataset.size) ? code : null;
}

/** Where the answer is typed, or the first of those to choose from: a group of them cannot be focused itself. */
function answerField() {
  const field = document.getElementById("answer");
  return field.querySelector("input") ?? field;
}

function forgetAnswer() {
  document.getElementById("report-form").reset();
}

/** Radio buttons without a name, so that no form can submit them, still work as one group. */
function groupChoices() {
  const radios = [...page.querySelectorAll('[data-group="answer"]')];
  radios.forEach((radio, place) => {
    radio.addEventListener("change", () => radios.forEach((other) => { if (other !== radio) other.checked = false; }));
    radio.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = radios[(place + step + radios.length) % radios.length];
      next.focus();
      next.click();
    });
  });
}

async function reviewed(visit) {
  try {
    await visit.device.look(await visit.notice(round));
    check("terms", true);
  } catch (refusal) {
    check("terms", false);
    throw refusal;
  }
  try {
    return await visit.review(round);
  } catch (refusal) {
    check("price", false);
    throw refusal;
  }
}

const short = (nanos) => (nanos / 1e9).toFixed(2);

function present(review) {
  const { offer, overall, spending } = review;
  const chance = (100 * offer.q_numerator) / 2 ** 32;
  show("question", review.said);
  show("payment", owed(offer.payment_micros));
  show("exact", money(offer.payment_micros));
  show("epsilon", review.epsilon.toFixed(4));
  show("least", money(review.leastPaymentMicros));
  show("spent", epsilonText(spending.spentNanos));
  show("after", short(spending.spentNanos + review.epsilonNanos));
  show("cap", short(spending.capNanos));
  show("overall", `${short(overall.spentNanos + review.epsilonNanos)} of ${short(overall.capNanos)}`);
  show("meaning", `Someone who guessed 50:50 before could be at most ${oddsInWords(review.epsilon)} sure after. Your report is your true answer `
    + `with chance ${chance.toFixed(0)} in 100, otherwise a random one.`);
  show("limit-means", `${short(spending.capNanos)} used up on one fact would let someone who guessed 50:50 become at most `
    + `${oddsInWords(spending.capNanos / 1e9)} sure of it. Nothing is drawn beyond your caps.`);
  show("lot", offer.chance_numerator < 2 ** 32 ? `Your chance was ${chanceInWords(offer.chance_numerator)}.` : "");
  check("lots", true);
  check("epsilon", true);
  check("price", true);
  check("cap", review.withinCap);
}

/** One box to tick for everything that the owner must agree to first. */
function askFirst(review) {
  const place = document.getElementById("asks");
  place.replaceChildren(...Object.entries(review.asks).map(([name, sentence]) => {
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), { type: "checkbox" });
    box.dataset.agree = name;
    label.className = "choice";
    label.append(box, Object.assign(document.createElement("span"), { textContent: sentence }));
    return label;
  }));
  place.hidden = !place.children.length;
}

const agreed = () => [...page.querySelectorAll("[data-agree]:checked")].map((box) => box.dataset.agree);

async function reporting(visit) {
  const form = document.getElementById("report-form");
  const drawn = new Drawn(page, visit, show);
  if (await drawn.stands(round)) return;
  groupChoices();
  if (!(await visit.device.bidFor(round))) {
    document.getElementById("elsewhere").hidden = false;
    form.hidden = true;
    show("payment", owed(Number(form.dataset.payment)));
    document.getElementById("checks").closest("section").querySelectorAll("[data-mine]").forEach((part) => { part.hidden = true; });
    return;
  }
  const review = await reviewed(visit);
  present(review);
  askFirst(review);
  if (!review.withinCap) throw new Error("This would pass your own lifetime cap, so nothing will be drawn or sent. Reports that others sent from this browser count too. You can raise the cap under Privacy.");
  ready(form);
  document.addEventListener("visibilitychange", () => drawn.stands(round, { since: true }).catch(trouble)); // it may be drawn in another tab
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    calm();
    const code = answerCode();
    fault("answer-fault", code === null ? "Choose an answer that the question allows." : "");
    if (code === null) { answerField().focus(); return; }
    await once(form, async () => {
      if (await drawn.stands(round, { since: true, unused: true })) return;
      const made = await visit.draw(review, code, agreed());
      forgetAnswer();
      await drawn.send(made);
    });
  });
}

/** She was not drawn: this browser checks that it was the lot, and keeps the proof. */
async function notDrawn(visit) {
  if (!(await visit.device.bidFor(round))) return; // named on another device, which has what is needed to check
  const { offer } = await visit.review(round);
  if (offer.lots) show("lot-checked", "Checked by this browser: your bid was counted, your draw follows from what was fixed before anyone could bid, and it was not below your chance. The proof is kept here.");
}

/** What this browser knows of a report of its own; of one that was made elsewhere, what the market says it received. */
async function reported(visit) {
  await visit.settleUp(round).catch(trouble);
  const made = await visit.device.reportFor(round);
  show("facts", made ? `This browser's own record: ${facts(made)}.` : "This browser did not make this report, and its account does not hold what it cost.");
  if (made) show("sent", made.body);
}

/** A round that ran out: if a report was drawn here all the same, its privacy is spent, and that is said. */
async function missed(visit) {
  if ((await visit.device.reportFor(round))?.accepted_at_ms) await visit.settleUp(round).catch(trouble);
  const made = await visit.device.reportFor(round);
  if (made?.accepted_at_ms) show("missed", `Your report was drawn here and the market signed for it: ${facts(made)}.`);
  else if (made) show("missed", `Your report was drawn here (epsilon ${epsilonText(made.epsilon_nanos)} is charged for life) but the market does not have it in time: ${facts(made)}. You were not paid.`);
}

/** Reload when there is something new to see; false when there is nothing more to wait for. */
async function watch() {
  try {
    const answer = await fetch(page.dataset.look, { redirect: "manual" });
    const signedOut = answer.type === "opaqueredirect"; // show the door
    if (signedOut || (answer.ok && (await answer.json()).seen !== seen)) { location.reload(); return false; }
  } catch {
    // Out of reach: look again later.
  }
  return true;
}

try {
  if (stage === "bid" || stage === "waiting") watchTheClose();
  const visit = await visiting();
  if (stage === "bid") await bidding(visit);
  if (stage === "waiting") await waiting(visit);
  if (stage === "offer") await reporting(visit);
  if (stage === "nothing") await notDrawn(visit);
  if (stage === "turn") show("turn-checked", await checkedTurn(visit, round));
  if (stage === "missed" || stage === "over") await missed(visit);
  if (stage === "reported" || stage === "done") await reported(visit);
  if (["waiting", "turn", "reported"].includes(stage)) follow(page.dataset.events, watch);
} catch (refusal) {
  trouble(refusal);
} finally {
  arrived();
}
