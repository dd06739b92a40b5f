// One round on the device's own page: bid, or look at the offer and report, or what became of it.

import { facts } from "./account.mjs";
import { lotInWords } from "./lots.mjs";
import { amount, money, number } from "./money.mjs";
import { oddsInWords } from "./price.mjs";
import { Refusal } from "./refusal.mjs";
import { at, details, element, moment, onSubmit, paragraph, pressed, printable, say, table, trouble, turns } from "./screen.mjs";

export const STATES = { open: "open", reporting: "offers are made", settled: "settled", cancelled: "called off" };
const MOST_SHOWN = 12;
const MOST_CHOICES = 60; // more numbers than that are typed
const epsilonText = (nanos) => (nanos / 1e9).toFixed(4);
const turn = turns();

/** Show a round, once all of it is there, unless another one was asked for since. */
export async function presentRound(visit, round) {
  const isLast = turn();
  const notice = await visit.notice(round);
  await visit.device.look(notice);
  const body = await bodyOf(visit, notice);
  if (!isLast()) return;
  at("round-title").textContent = notice.question.text || "(no words)";
  at("round-body").replaceChildren(...body);
  at("round").hidden = false;
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
  const [bid, made] = [await visit.device.bidFor(notice.round_id), await visit.device.reportFor(notice.round_id)];
  if (made) return madeBody(visit, notice.round_id);
  if (notice.state === "open") return biddingBody(visit, notice, bid?.accepted ? bid : null);
  if (notice.state === "reporting") return offerBody(visit, notice.round_id);
  const over = notice.state === "settled" ? "The round is settled." : "The round was called off.";
  return [paragraph(`${over} Nothing was reported from here, so you lost no privacy${bid ? `; your bid was ${money(bid.bid_micros)}` : ""}.`)];
}

function answersInWords({ kind, labels, start, step, size }) {
  if (kind === "binary") return "yes or no";
  if (kind === "grid") return `${start} to ${start + step * (size - 1)} by ${step}`;
  return `${labels.slice(0, MOST_SHOWN).join(", ")}${size > MOST_SHOWN ? ` and ${size - MOST_SHOWN} more` : ""}`;
}

function biddingBody(visit, notice, standing) {
  const { round_id: round, question, epsilon_max: most } = notice;
  const price = element("input", { inputMode: "decimal" });
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
      ["Answers", answersInWords(question.domain)],
      ["Most that can be learned", `someone who guessed 50:50 before could be at most ${oddsInWords(most)} sure after (epsilon ${most})`],
      ["Bids close", `${moment(notice.bids_close_at_ms)}${notice.bids_close_at_ms <= Date.now() ? ", which is over by this device's clock" : ""}`],
    ]),
    details("The terms that you bid on", table([["Hash, checked", notice.terms_hash]])),
    ...(standing ? [paragraph(`Your bid of ${money(standing.bid_micros)} stands. You can change or withdraw it until bids close.`)] : []),
    form,
    ...(standing ? [withdraw] : []),
  ];
}

/** Where she answers, and her answer's code as it is read at the moment of sending and kept nowhere. */
function answerField({ kind, labels, start, step, size }) {
  if (kind === "grid" && size > MOST_CHOICES) {
    const field = element("input", { inputMode: "decimal" });
    return [field, () => {
      const place = ((number(field.value) ?? NaN) - start) / step;
      const code = Math.round(place);
      return Math.abs(place - code) <= 1e-6 && code >= 0 && code < size ? code : null;
    }];
  }
  const grid = () => Array.from({ length: size }, (_, code) => String(start + step * code));
  const choices = { binary: () => ["No", "Yes"], categories: () => labels, grid }[kind]();
  const field = element("select", {}, element("option", { value: "", textContent: "Choose one" }),
    ...choices.map((label, code) => element("option", { value: String(code), textContent: label })));
  return [field, () => (field.value === "" ? null : Number(field.value))];
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
  const lot = offer.lots ? [["The lot", `${lotInWords(offer)} (draw and bid checked)`]] : [];
  const terms = details("The terms that you bid on", table([["Hash, checked", offer.terms_hash]]));
  if (offer.q_numerator === 0) return [paragraph("Nothing is asked of you in this round: you send nothing and lose no privacy."), table(lot), terms];
  const shown = [
    table([
      ["Payment", `${money(offer.payment_micros)} (your price comes to ${money(review.leastPaymentMicros)}: checked)`],
      ["Privacy", `epsilon ${review.epsilon.toFixed(4)}: someone who guessed 50:50 before could be at most ${oddsInWords(review.epsilon)} sure after`],
      ...lot,
      [offer.question.attribute, `${epsilonText(spending.spentNanos)} spent of ${epsilonText(spending.capNanos)}`],
      ["Everything together", `${epsilonText(overall.spentNanos)} spent of ${epsilonText(overall.capNanos)}`],
      ["Reports close", moment(offer.reports_close_at_ms)],
    ]),
    terms,
  ];
  if (review.waits) return [...shown, paragraph(`You are asked in stage ${offer.stage}: your question has not come yet. Look again later.`)];
  if (!review.withinCap) return [...shown, paragraph("This would pass your own lifetime cap, so nothing will be drawn or sent.")];
  return [...shown, answering(visit, review)];
}

function answering(visit, review) {
  const { offer } = review;
  const domain = offer.side === null ? offer.question.domain : { kind: "binary" };
  const [field, codeGiven] = answerField(domain);
  const boxes = Object.entries(review.asks).map(([name, sentence]) => [name, element("input", { type: "checkbox" }), sentence]);
  const form = element("form", { autocomplete: "off" },
    element("label", {}, `${review.said} Your true answer (stays on this device) `, field),
    ...boxes.map(([, box, sentence]) => element("label", {}, box, ` ${sentence}`)),
    element("button", { textContent: "Randomise and send" }));
  onSubmit(form, async () => {
    if (await visit.device.reportFor(offer.round_id)) {
      await presentRound(visit, offer.round_id);
      throw new Refusal("A report was drawn in this round before, perhaps in another tab. What you chose just now was not used.");
    }
    const code = codeGiven();
    if (code === null) throw new Refusal(`Give your answer first: ${answersInWords(domain)}. Nothing was drawn and nothing was sent.`);
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
    table([["Known", facts(now)], ["Offered", money(now.payment_micros)], ["Paid", paid], ["Privacy spent", `epsilon ${epsilonText(now.epsilon_nanos)}`]]),
    details("What left this device", table([["Its bytes", now.body]])),
  ];
  if (now.accepted_at_ms !== null) return shown;
  const again = pressed("Send the same report again", () => visit.send(now).finally(() => presentRound(visit, now.round_id).catch(() => {})));
  return [paragraph("Your report is drawn, what it cost is charged, and the market has not confirmed it yet. Sending it again draws nothing and costs nothing."), again, ...shown];
}
