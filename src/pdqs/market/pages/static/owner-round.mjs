// One round on the owner's side: the page around the device. All that matters is decided in /device/device.mjs.

import { factsAndWords } from "../device/account.mjs";
import { chanceInWords } from "../device/lots.mjs";
import { oddsInWords } from "../device/price.mjs";
import { arrived, calm, epsilonText, fixed, marketNow, money, owed, trouble, visiting } from "./market.mjs";
import { follow } from "./events.mjs";
import { agreed, answerForm, answerGiven, askFirst, isUnticked } from "./owner-answer.mjs";
import { Drawn } from "./owner-drawn.mjs";
import { mayHaveArrived, tellPrice } from "./owner-price-sent.mjs";
import { Receipt } from "./owner-receipt.mjs";
import { priceForm, priceGiven } from "./price-form.mjs";
import { checkedTurn } from "./owner-stage.mjs";

const page = document.getElementById("device");
const { round, stage, seen } = page.dataset;
let closed = false;
let followed = false; // until it is known what became of a price
let working = false; // on what a button asked for: the page is not changed from under it

const show = (name, text) => {
  for (const place of page.querySelectorAll(`[data-show="${name}"]`)) place.textContent = text;
};
const say = (words) => { document.getElementById("said").textContent = words; };
const check = (name, passed) => page.querySelector(`[data-check="${name}"]`)?.classList.add(passed ? "passed" : "failed");
const ready = (form) => form.querySelectorAll("[data-ready]").forEach((button) => { button.disabled = closed; });

/** Do what a button asks for, once however often it is pressed; what stands against it is said. */
async function once(form, act) {
  const buttons = [...form.querySelectorAll("[data-ready]")];
  const pressed = document.activeElement;
  calm();
  buttons.forEach((button) => { button.disabled = true; });
  working = true;
  try {
    await act();
  } catch (refusal) {
    ready(form);
    pressed?.focus({ preventScroll: true }); // a button that is off loses it, and she may want to try again
    trouble(refusal);
  } finally {
    working = false;
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

/** Once the time to report is over the offer goes, and what is lost is said, however long the page has been open. */
function watchTheEnd(visit, drawn) {
  const look = async () => {
    if (closed || marketNow() < Number(page.dataset.closes) || working || drawn.sends) return;
    clearInterval(timer);
    closed = true;
    const wasThere = page.querySelector("div[data-asked]").contains(document.activeElement);
    document.querySelectorAll("[data-asked]").forEach((part) => { part.hidden = true; });
    document.querySelectorAll("[data-over]").forEach((part) => { part.hidden = false; });
    calm();
    await missed(visit).catch(trouble);
    say("The time to report is over.");
    if (wasThere) document.getElementById("over").focus();
    if (await watch()) setTimeout(watch, 2000); // what the market says of it by now
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
    if (micros !== null) once(form, () => sendPrice(visit, micros, notice.terms_hash));
  });
  const looking = async () => { if (await visit.device.bidFor(round)) followPrice(visit); }; // named in another tab, or lost on its way
  document.addEventListener("visibilitychange", () => looking().catch(trouble));
  await tellPrice(visit, { round, seen, stage, closed, known: true });
  await looking();
}

async function sendPrice(visit, micros, termsHash) {
  try {
    await visit.namePrice(round, micros, termsHash);
    location.reload();
  } catch (fault) {
    if (mayHaveArrived(fault)) followPrice(visit);
    throw fault;
  }
}

/** Look until it is known what became of a price that left from here. */
function followPrice(visit) {
  if (followed) lookAtPrice(visit).catch(trouble);
  else follow(page.dataset.events, () => lookAtPrice(visit));
  followed = true;
}

async function lookAtPrice(visit) {
  const found = await lookNow();
  if (found === "other" && !working) { location.reload(); return false; }
  await tellPrice(visit, { round, seen, stage, closed, known: found === "same" });
  return true;
}

/** A bid that stands: it can be changed where it was made, and withdrawn from anywhere. */
async function waiting(visit) {
  const [change, withdraw] = [document.getElementById("bid-form"), document.getElementById("withdraw-form")];
  const earlier = await visit.device.bidFor(round);
  if (earlier) await visit.askForBid(await visit.notice(round)).catch(trouble); // its receipt, should that have been lost
  document.getElementById("elsewhere").hidden = Boolean(earlier);
  document.getElementById("change").hidden = !earlier || closed;
  priceForm(change, earlier?.bid_micros ?? null, (price) => (price ? `Change it to ${price}` : "Change it"));
  [change, withdraw].forEach(ready);
  change.addEventListener("submit", (event) => {
    event.preventDefault();
    const micros = priceGiven();
    if (micros !== null) once(change, () => sendPrice(visit, micros));
  });
  withdraw.addEventListener("submit", (event) => {
    event.preventDefault();
    once(withdraw, async () => { await visit.withdrawBid(round); location.reload(); });
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

const short = (nanos) => fixed(nanos / 1e9, 2);

function present(review) {
  const { offer, overall, spending } = review;
  show("question", review.said);
  show("payment", owed(offer.payment_micros));
  show("exact", money(offer.payment_micros));
  show("epsilon", fixed(review.epsilon, 4));
  show("least", money(review.leastPaymentMicros));
  show("spent", epsilonText(spending.spentNanos));
  show("after", short(spending.spentNanos + review.epsilonNanos));
  show("cap", short(spending.capNanos));
  show("overall", `${short(overall.spentNanos + review.epsilonNanos)} of ${short(overall.capNanos)}`);
  show("meaning", `Someone who guessed 50:50 before could be at most ${oddsInWords(review.epsilon)} sure after. Your report is your true answer `
    + `with chance ${chanceInWords(offer.q_numerator)}, otherwise a random one.`);
  show("limit-means", `${short(spending.capNanos)} used up on one fact would let someone who guessed 50:50 become at most `
    + `${oddsInWords(spending.capNanos / 1e9)} sure of it. Nothing is drawn beyond your caps.`);
  show("lot", offer.chance_numerator < 2 ** 32 ? `Your chance was ${chanceInWords(offer.chance_numerator)}.` : "");
  check("lots", true);
  check("epsilon", true);
  check("price", true);
  check("cap", review.withinCap);
}

async function reporting(visit) {
  const form = document.getElementById("report-form");
  const drawn = new Drawn(page, visit, show);
  watchTheEnd(visit, drawn);
  follow(page.dataset.events, () => drawn.sends || watch());
  if (await drawn.stands(round)) return;
  answerForm();
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
    await once(form, async () => {
      if (await drawn.stands(round, { since: true, unused: true })) return; // whatever is chosen or ticked here
      const code = answerGiven();
      if (code === null || isUnticked()) { ready(form); return; }
      const made = await visit.draw(review, code, agreed());
      form.reset(); // her answer is forgotten
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
  await showFacts(visit);
  if (stage !== "reported") return;
  const receipt = new Receipt(visit, round, sayUnsigned);
  follow(page.dataset.events, async () => {
    if (await receipt.look()) await showFacts(visit);
    return watch();
  });
}

/** Why this browser has no receipt for what it sent, or that nothing stands against it. */
function sayUnsigned(words) {
  const place = document.getElementById("unsigned");
  if (place.textContent !== words) place.textContent = words;
  place.hidden = !words;
}

async function showFacts(visit) {
  const made = await visit.device.reportFor(round);
  show("facts", made ? `This browser's own record: ${factsAndWords(made)}.` : "This browser did not make this report, and its account does not hold what it cost.");
  if (made) show("sent", made.body);
}

/** A round that ran out: if a report was drawn here all the same, its privacy is spent, and that is said. */
async function missed(visit) {
  if ((await visit.device.reportFor(round))?.accepted_at_ms) await visit.settleUp(round).catch(trouble);
  const made = await visit.device.reportFor(round);
  if (made?.accepted_at_ms) show("missed", `Your report was drawn here and the market signed for it: ${factsAndWords(made)}.`);
  else if (made) show("missed", `Your report was drawn here (epsilon ${epsilonText(made.epsilon_nanos)} is charged for life) but the market does not have it in time: ${factsAndWords(made)}. You were not paid.`);
}

/** Whether the market has the "same" to show by now, something "other", or cannot be asked ("unknown"). */
async function lookNow() {
  try {
    const answer = await fetch(page.dataset.look, { redirect: "manual" });
    if (answer.type === "opaqueredirect") return "other"; // signed out: show the door
    if (answer.ok) return (await answer.json()).seen === seen ? "same" : "other";
  } catch {
    // Out of reach: look again later.
  }
  return "unknown";
}

/** Reload when there is something new to see; false when there is nothing more to wait for. */
async function watch() {
  if ((await lookNow()) !== "other" || working) return true;
  location.reload();
  return false;
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
  if (stage === "waiting") followPrice(visit);
  if (stage === "turn") follow(page.dataset.events, watch);
} catch (refusal) {
  trouble(refusal);
} finally {
  arrived();
}
