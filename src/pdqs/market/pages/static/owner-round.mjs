// One round on the owner's side: the page around the device. All that matters is decided in /device/device.mjs.

import { facts } from "../device/account.mjs";
import { chanceInWords } from "../device/lots.mjs";
import { sureness } from "../device/price.mjs";
import { amount, calm, epsilonText, money, number, owed, trouble, visiting } from "./market.mjs";

const page = document.getElementById("device");
const { round, stage } = page.dataset;
const EVERY_MS = 1000;

const show = (name, text) => {
  for (const place of page.querySelectorAll(`[data-show="${name}"]`)) place.textContent = text;
};
const say = (words) => { document.getElementById("said").textContent = words; };
const check = (name, passed) => page.querySelector(`[data-check="${name}"]`)?.classList.add(passed ? "passed" : "failed");
const ready = (form) => form.querySelectorAll("[data-ready]").forEach((button) => { button.disabled = false; });
const fault = (id, words) => {
  const place = document.getElementById(id);
  place.textContent = words;
  place.hidden = !words;
};

async function bidding(visit) {
  const form = document.getElementById("bid-form");
  const price = document.getElementById("price");
  const notice = await visit.notice(round);
  await visit.device.look(notice);
  const earlier = await visit.device.bidFor(round);
  if (earlier) price.value = money(earlier.bid_micros);
  const explain = () => {
    const { micros, fault: doubt } = amount(price.value);
    const most = Number(price.dataset.epsilon);
    document.getElementById("price-means").textContent =
      doubt ? "" : `If you are asked for the most (epsilon ${most}), you are paid at least ${owed(Math.ceil(micros * most))}.`;
    form.querySelector("[data-ready]").textContent = doubt ? "Bid" : `Bid ${money(micros)}`;
  };
  price.addEventListener("input", explain);
  explain();
  ready(form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    calm();
    const { micros, fault: doubt } = amount(price.value);
    const wrong = Boolean(doubt) || micros < notice.bid_low_micros || micros > notice.bid_high_micros;
    const range = `Give a price from ${money(notice.bid_low_micros)} to ${money(notice.bid_high_micros)}.`;
    fault("price-fault", wrong ? (doubt ? `${doubt[0].toUpperCase()}${doubt.slice(1)}. ${range}` : range) : "");
    price.setAttribute("aria-invalid", String(wrong));
    if (wrong) { price.focus(); return; }
    try {
      await visit.bid(round, micros);
      location.reload();
    } catch (refusal) {
      trouble(refusal);
    }
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

async function send(visit, stored) {
  show("wire", stored.body);
  await visit.send(stored);
  location.reload();
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

function present(review) {
  const { offer, overall, spending } = review;
  const chance = (100 * offer.q_numerator) / 2 ** 32;
  show("payment", owed(offer.payment_micros));
  show("exact", money(offer.payment_micros));
  show("epsilon", review.epsilon.toFixed(4));
  show("least", money(review.leastPaymentMicros));
  show("spent", epsilonText(spending.spentNanos));
  show("after", epsilonText(spending.spentNanos + review.epsilonNanos));
  show("cap", epsilonText(spending.capNanos));
  show("overall", `${epsilonText(overall.spentNanos)} of ${epsilonText(overall.capNanos)}`);
  show("meaning", `Your report is your true answer with chance ${chance.toFixed(1)} %, otherwise a random one. Someone who found `
    + `two answers equally likely can be at most ${(100 * sureness(review.epsilon)).toFixed(1)} % sure between them afterwards.`);
  show("lot", `You were drawn: your chance was ${chanceInWords(offer.chance_numerator)}`);
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
  groupChoices();
  const earlier = await visit.device.reportFor(round);
  if (earlier) {
    say("The report was drawn before and is sent again.");
    await send(visit, earlier);
    return;
  }
  const review = await reviewed(visit);
  present(review);
  askFirst(review);
  if (!review.withinCap) throw new Error("This would pass your own lifetime cap, so nothing will be drawn or sent. You can raise the cap under Privacy.");
  ready(form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    calm();
    const code = answerCode();
    fault("answer-fault", code === null ? "Choose an answer that the question allows." : "");
    if (code === null) { document.getElementById("answer").focus(); return; }
    try {
      const stored = await visit.draw(review, code, agreed());
      forgetAnswer();
      await send(visit, stored);
    } catch (refusal) {
      trouble(refusal);
    }
  });
}

/** She was not drawn: this browser checks that it was the lot, and keeps the proof. */
async function notDrawn(visit) {
  const { offer } = await visit.review(round);
  if (offer.lots) show("lot-checked", "Checked by this browser: your bid was counted, your draw follows from what was fixed before anyone could bid, and it was not below your chance. The proof is kept here.");
}

/** What this browser knows of a report of its own; of one that was made elsewhere, what the market says it received. */
async function reported(visit) {
  if (stage === "done") await visit.settleUp(round);
  const made = await visit.device.reportFor(round);
  show("facts", made ? `This browser's own record: ${facts(made)}.` : "This browser did not make this report, and its account does not hold what it cost.");
  if (made) show("sent", made.body);
}

/** A round that ran out: if a report was drawn here all the same, its privacy is spent, and that is said. */
async function missed(visit) {
  const made = await visit.device.reportFor(round);
  if (made) show("missed", `Your report was drawn here (epsilon ${epsilonText(made.epsilon_nanos)} is charged for life) but the market does not have it in time: ${facts(made)}. You were not paid.`);
}

/** Reload when there is something new to see. */
async function watch() {
  try {
    const answer = await fetch(new URL(`../owner/rounds/${round}/stage`, import.meta.url), { redirect: "manual" });
    if (answer.type === "opaqueredirect") { location.reload(); return; } // signed out: show the door
    if (answer.ok && (await answer.json()).stage !== stage) { location.reload(); return; }
  } catch {
    // Out of reach: look again later.
  }
  setTimeout(watch, EVERY_MS);
}

try {
  const visit = await visiting();
  if (stage === "bid") await bidding(visit);
  if (stage === "offer") await reporting(visit);
  if (stage === "nothing") await notDrawn(visit);
  if (stage === "missed" || stage === "over") await missed(visit);
  if (stage === "reported" || stage === "done") await reported(visit);
  if (stage === "waiting" || stage === "reported") setTimeout(watch, EVERY_MS);
} catch (refusal) {
  trouble(refusal);
}
