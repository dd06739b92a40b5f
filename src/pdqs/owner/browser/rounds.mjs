// One round on the device's own page: bid, or look at the offer and report, or what became of it.

import { facts, refusalOf } from "./account.mjs";
import { numbersInWords, numberTyped } from "./answers.mjs";
import { asAgreement } from "./asks.mjs";
import { promiseOf } from "./checks.mjs";
import { isLate, lateInWords, overInWords } from "./dealing.mjs";
import { NOT_AMONG } from "./device.mjs";
import { refuseDropped } from "./dropped.mjs";
import { lotInWords } from "./lots.mjs";
import { amount, fixed, money, numberText } from "./money.mjs";
import { oddsInWords } from "./price.mjs";
import { figure } from "./questions.mjs";
import { Refusal } from "./refusal.mjs";
import { at, details, element, moment, onSubmit, paragraph, pressed, printable, say, table, trouble, turns } from "./screen.mjs";
import { quoted } from "./spelling.mjs";

export const STATES = { open: "open", reporting: "offers are made", settled: "settled", cancelled: "called off" };
const MOST_CHOICES = 60; // more numbers than that are typed
const epsilonText = (nanos) => fixed(nanos / 1e9, 4);
const SENT_INSTEAD = { level: "; only a rounded figure, and that randomised, is sent", bucket: "; only a group of answers that holds yours, and that randomised, is sent" };
const LOOKS_MS = 20_000;
const turn = turns();
let [shownWords, lookAt, lookAgain] = ["", Infinity, async () => {}];

/** Show a round, once all of it is there, unless another one was asked for since. */
export async function presentRound(visit, round, { byItself = false } = {}) {
  const isLast = turn();
  const notice = await visit.notice(round);
  await visit.device.look(notice);
  const body = await bodyOf(visit, notice);
  if (!isLast()) return;
  at("round-title").textContent = notice.question.text || "(no words)";
  const words = body.map(({ textContent }) => textContent).join("\n");
  if (at("round").hidden || words !== shownWords || !byItself) at("round-body").replaceChildren(...body); // else what she has opened or typed stays
  shownWords = words;
  at("round").hidden = false;
  lookAt = nextLook(notice);
  lookAgain = () => presentRound(visit, round, { byItself: true });
}

/** When the page looks at the round again by itself; never, once it is over. */
function nextLook({ state, bids_close_at_ms: bidsClose, reports_close_at_ms: reportsClose }) {
  const soon = Date.now() + LOOKS_MS;
  if (state === "open") return Math.max(bidsClose + 1000, soon);
  if (state !== "reporting") return Infinity;
  return at("round-body").querySelector("form") ? Math.max((reportsClose ?? 0) + 1000, soon) : soon;
}

/** Keep what is shown true while it is looked at: the round, and then what `listed` shows of all of them. */
export function keepLooking(listed) {
  setInterval(() => {
    if (document.hidden || at("round").hidden || Date.now() < lookAt) return;
    lookAt = Infinity; // until this look has ended
    lookAgain().then(listed).catch(tellUnlessSilent);
  }, 1000);
}

/** After a look that the page took by itself: what is refused is said, once; a market out of reach is looked at later. */
function tellUnlessSilent(fault) {
  lookAt = Date.now() + LOOKS_MS;
  const saidNo = fault.status >= 400 && fault.status < 500 && fault.status !== 429; // not: come back later
  const isTold = !at("trouble").hidden && at("trouble").textContent.startsWith(fault.message);
  if ((fault instanceof Refusal || saidNo) && !isTold) trouble(fault);
}

/** Show no round, nor one that is still on its way. */
export function closeRound() {
  turn();
  at("round").hidden = true;
}

/** Open a round from the list: what was shown before goes. */
export async function openRound(visit, round) {
  closeRound();
  await presentRound(visit, round);
  at("round").scrollIntoView({ block: "nearest" });
}

async function bodyOf(visit, notice) {
  const note = await visit.askForBid(notice).catch((fault) => {
    if (!(fault instanceof Refusal)) throw fault; // out of reach: whoever looks says so, or looks again later
    trouble(fault);
  });
  return [...(note ? [paragraph(note)] : []), ...await ownBody(visit, notice)];
}

async function ownBody(visit, notice) {
  const [bid, made] = [await visit.device.bidFor(notice.round_id), await visit.device.reportFor(notice.round_id)];
  if (made) return madeBody(visit, notice.round_id);
  if (notice.state === "open") return biddingBody(visit, notice, bid?.accepted ? bid : null);
  if (notice.state === "reporting") return offerBody(visit, notice.round_id);
  return overBody(notice, bid, bid ? await offerOrFault(visit, notice.round_id) : {});
}

/** Her offer in a round that is over; else why there is none, `dropped` being in words where there should be one. */
async function offerOrFault(visit, round) {
  try {
    return await visit.offer(round);
  } catch (fault) {
    const told = fault.type === "no-offer" ? await refuseDropped(visit, round, fault).catch((said) => said) : fault;
    return fault !== told && told instanceof Refusal ? { dropped: told.message } : { fault };
  }
}

/** A round that is over and that nothing was reported in: whether she was asked in it, and what that means. */
function overBody({ state }, bid, offer) {
  if (state === "settled" && offer.q_numerator) return [paragraph("The round is settled."), paragraph(overInWords(offer, state))];
  if (offer.fault instanceof Refusal) return [paragraph(`What the market says of your offer cannot be read: ${offer.fault.message}`)];
  if (offer.dropped) return [paragraph(offer.dropped)];
  const over = state === "settled" ? "The round is settled." : "The round was called off.";
  return [paragraph(`${over} Nothing was reported from here, so you lost no privacy${bid ? `; your bid was ${money(bid.bid_micros)}` : ""}.`)];
}

function answersInWords({ kind, start, step, size }) {
  if (kind === "binary") return "yes or no";
  return kind === "grid" ? numbersInWords({ start, step, size }) : "one of those listed";
}

/** All that she may answer, for what is not shown could be anything; each label, which is the market's words, is an item. */
const listed = (labels) => element("ul", { className: "answers", tabIndex: 0, ariaLabel: "Answers" }, ...labels.map((label) => element("li", { textContent: label })));

/** What she will be asked for, where it may be less than her whole answer: as pdqs owner says it. */
function answersToCome(domain, kind) {
  const answers = answersInWords(domain);
  if (kind === "side") return `yes or no: whether yours, ${answers}, is at most a certain value`;
  const said = `${answers}${SENT_INSTEAD[kind] ?? ""}`;
  return domain.kind === "categories" ? [listed(domain.labels), ...(SENT_INSTEAD[kind] ? [paragraph(said)] : [])] : said;
}

function biddingBody(visit, notice, standing) {
  const { round_id: round, question, epsilon_max: most } = notice;
  const price = element("input", { inputMode: "decimal" });
  const { asking: { kind } } = promiseOf(notice);
  const said = JSON.parse(notice.terms);
  const why = [["Who asks", said.asked_by], ["Why", said.purpose], ["What for", said.use], ["For groups", [said.groups ?? []].flat().join(", ")]];
  const form = element("form", { autocomplete: "off" },
    element("label", {}, `Your price per unit of epsilon (${money(notice.bid_low_micros)} to ${money(notice.bid_high_micros)}) `, price),
    element("button", { textContent: standing ? "Change it" : "Bid" }));
  onSubmit(form, async () => {
    const { micros, fault } = amount(price.value);
    if (fault) throw new Refusal(`Your price: ${fault}.`);
    await visit.namePrice(round, micros, notice.terms_hash);
    say("Your bid stands.");
    await presentRound(visit, round);
  });
  const withdraw = pressed("Withdraw it", async () => {
    await visit.withdrawBid(round);
    say("You have no bid in this round.");
    await presentRound(visit, round);
  });
  return [
    table([
      ...why.filter(([, words]) => words).map(([name, words]) => [name, printable(words)]),
      ["About", question.attribute],
      ["Answers", answersToCome(question.domain, kind)],
      ...(question.domain.kind === "binary" || said.terms.question?.is === "side" ? [] : [["If yours is not there", "Decide now whether you would give the nearest: whoever bids and then does not answer tells the market something, and is paid nothing."]]),
      ["Most that can be learned", `someone who guessed 50:50 before could be at most ${oddsInWords(most)} sure after (epsilon ${numberText(most)})`],
      ["Bids close", `${moment(notice.bids_close_at_ms)}${notice.bids_close_at_ms <= Date.now() ? ", which is over by this device's clock" : ""}`],
    ]),
    details("The terms that you bid on", table([["Hash, checked", notice.terms_hash]])),
    ...(standing ? [paragraph(`Your bid of ${money(standing.bid_micros)} stands. You can change or withdraw it until bids close.`)] : []),
    form,
    ...(standing ? [withdraw] : []),
  ];
}

/** Where she answers, and her answer as it is read at the moment of sending and kept nowhere: { code } or { fault }. */
function answerField({ kind, labels, start, step, size }) {
  if (kind === "grid" && size > MOST_CHOICES) {
    const field = element("input", { inputMode: "decimal" });
    return [field, () => numberTyped(field.value, { start, step, size })];
  }
  const grid = () => Array.from({ length: size }, (_, code) => figure(start + step * code));
  const choices = { binary: () => ["No", "Yes"], categories: () => labels, grid }[kind]();
  const field = element("select", {}, element("option", { value: "", textContent: "Choose one" }),
    ...choices.map((label, code) => element("option", { value: String(code), textContent: label })));
  return [field, () => (field.value === "" ? { fault: `Give your answer first: ${answersInWords({ kind, start, step, size })}.` } : { code: Number(field.value) })];
}

async function offerBody(visit, round) {
  let review;
  try {
    review = await visit.review(round);
  } catch (fault) {
    if (fault.type === "no-offer") return [paragraph("Bids are closed, and you had none in this round: there is no offer to you.")];
    throw fault;
  }
  const { offer, spending, overall } = review;
  const lot = review.told.promise.byLot ? [["The lot", `${lotInWords(offer)} (draw and bid checked)`]] : []; // else no draw says who is asked
  const terms = details("The terms that you bid on", table([["Hash, checked", offer.terms_hash]]));
  if (offer.q_numerator === 0) return [paragraph("Nothing is asked of you in this round: you send nothing and lose no privacy."), table(lot), terms];
  const shown = [
    table([
      ["Payment", `${money(offer.payment_micros)} (your price comes to ${money(review.leastPaymentMicros)}: checked)`],
      ["Privacy", `epsilon ${fixed(review.epsilon, 4)}: someone who guessed 50:50 before could be at most ${oddsInWords(review.epsilon)} sure after`],
      ...lot,
      [offer.question.attribute, `${epsilonText(spending.spentNanos)} spent of ${epsilonText(spending.capNanos)}`],
      ["Everything together", `${epsilonText(overall.spentNanos)} spent of ${epsilonText(overall.capNanos)}`],
      ["Reports close", moment(offer.reports_close_at_ms)],
    ]),
    terms,
  ];
  if (isLate(offer) && !review.waits) return [paragraph(lateInWords(offer)), terms];
  if (review.waits) return [...shown, paragraph(turnInWords(review))];
  if (!review.withinCap) return [...shown, paragraph("This would pass your own lifetime cap, so nothing will be drawn or sent.")];
  return [...shown, answering(visit, review)];
}

/** That her question has yet to come, and when it does. */
function turnInWords({ offer: { stage, reports_close_at_ms: closes }, told: { promise } }) {
  const comes = moment(closes - 1000 * promise.reportSeconds);
  return `You are asked in stage ${stage} of ${promise.asking.stages}. Your question comes at ${comes} at the latest, and you can answer it until ${moment(closes)}. This page looks by itself.`;
}

function answering(visit, review) {
  const { offer } = review;
  const domain = offer.side === null ? offer.question.domain : { kind: "binary" };
  const [field, codeGiven] = answerField(domain);
  field.setAttribute("aria-describedby", "asked");
  const boxes = Object.entries(review.asks).map(([name, sentence]) => [name, element("input", { type: "checkbox" }), sentence]);
  const form = element("form", { autocomplete: "off" },
    element("blockquote", { id: "asked", textContent: review.said || "(no words)" }), // the market's words, apart from the device's
    element("label", {}, "Your true answer (stays on this device) ", field),
    ...boxes.map(([, box, sentence]) => element("label", {}, box, ` ${asAgreement(sentence)}`)),
    element("button", { textContent: "Randomise and send" }));
  onSubmit(form, async () => {
    if (await visit.device.reportFor(offer.round_id)) {
      await presentRound(visit, offer.round_id);
      throw new Refusal("A report was drawn in this round before, perhaps in another tab. What you chose just now was not used.");
    }
    const { code, fault } = codeGiven();
    if (fault) throw new Refusal(`${fault} Nothing was drawn and nothing was sent.${domain.kind === "binary" ? "" : ` ${NOT_AMONG}`}`);
    if (boxes.some(([, box]) => !box.checked)) throw new Refusal("Tick what is said below if you agree to it; else leave it, and nothing is drawn. Nothing was sent.");
    const stored = await visit.draw(review, code, boxes.filter(([, box]) => box.checked).map(([name]) => name));
    form.reset();
    if (form.isConnected) at("round-body").replaceChildren(...reportBody(visit, stored)); // else another round is shown by now
    await visit.send(stored).finally(() => presentRound(visit, offer.round_id).catch(() => {})); // what sending ended with is what she hears of
  });
  return form;
}

async function madeBody(visit, round) {
  await visit.settleUp(round).catch(trouble);
  return reportBody(visit, await visit.device.reportFor(round));
}

/** A report as this device knows it: with no answer to give any more, and no line needed to show it. */
function reportBody(visit, now) {
  const paid = now.paid_micros === null ? "not yet" : money(now.paid_micros);
  const shown = [
    table([["Known", facts(now)], ...(refusalOf(now) ? [["The market said", quoted(refusalOf(now))]] : []), ["Offered", money(now.payment_micros)], ["Paid", paid], ["Privacy spent", `epsilon ${epsilonText(now.epsilon_nanos)}`]]),
    details("What left this device", table([["Its bytes", now.body]])),
  ];
  if (now.accepted_at_ms !== null) return shown;
  const again = pressed("Send the same report again", () => visit.send(now).finally(() => presentRound(visit, now.round_id).catch(() => {})));
  return [paragraph("Your report is drawn, what it cost is charged, and the market has not confirmed it yet. Sending it again draws nothing and costs nothing."), again, ...shown];
}
