// Which question of a round is hers, and what the device holds a market to about it: the twin of pdqs/owner/dealing.py, and
// of pdqs/rounds/stages.py under it.

import { ownWord } from "./lots.mjs";
import { owed } from "./money.mjs";
import { saidOf } from "./questions.mjs";
import { moment } from "./times.mjs";

const STAGE_WORD = 2;
const BUCKET_WORD = 4;
const FOUR_STAGES = [60, 90, 150, 300]; // of 600
const PARTS = 600;

/** The part that each stage takes, of 600. */
export function partsOf(stages) {
  const sum = (parts) => parts.reduce((all, part) => all + part, 0);
  const first = stages - FOUR_STAGES.length + 1;
  if (first >= 1) return [...Array(first).fill(FOUR_STAGES[0] / first), ...FOUR_STAGES.slice(1)];
  const last = FOUR_STAGES.slice(FOUR_STAGES.length - stages + 1);
  return [PARTS - sum(last), ...last];
}

/** The stage, from 1, that a word falls in. */
export function stageOf(word, stages) {
  let [done, stage] = [0, 1];
  for (const part of partsOf(stages).slice(0, -1)) {
    done += part;
    if (word >= Math.floor((2 ** 32 * done) / PARTS)) stage += 1;
  }
  return stage;
}

/** What the device asks its owner for, and randomises: [question, how many values hers is one of]. */
export function askingOf(t) {
  const { k, asking: { kind, codes } } = t.promise;
  if (kind === "side") return [{ kind: "value" }, 2];
  if (kind === "level") return [{ kind, levels: codes }, k];
  if (kind === "bucket") return [{ kind, buckets: codes, seed: ownWord(t, BUCKET_WORD) }, k];
  return [{ kind: "value" }, k];
}

/** The question as its owner reads it. */
export function askedInWords(promise, offer) {
  const { text, domain } = promise;
  return offer.side === null ? text : saidOf({ kind: "side", code: offer.side }, domain, text);
}

/** Whether the time to report is over, by the market's own clock. */
export const isLate = ({ now_ms: now, reports_close_at_ms: closes }) => now >= closes;

/** That she comes too late, what is lost by that, and what is not. */
export const lateInWords = ({ payment_micros: payment, reports_close_at_ms: closes }) =>
  `You are late: ${owed(payment)} was offered for a report until ${moment(closes)}. Nothing was drawn, so you lose no privacy, and you are not paid.`;

/** Of a round that is over and asks of her: that she is late, or that the market asks where nothing is to be asked. */
export const overInWords = (offer, state) => (state === "settled" && isLate(offer) ? lateInWords(offer) : `The market says that the round is ${state}, and asks for a report all the same.`);

/** Whether her question has yet to come. */
export const waits = (promise, offer) => promise.asking.kind === "side" && offer.side === null;

export const questionOf = ({ side, stage, reports_close_at_ms: closes }) => (side === null || side === undefined ? null : { stage, side, closes_at_ms: closes });

const stageThere = ({ notice, offer }) => notice.stages?.find(({ number }) => number === offer.stage) ?? null;

/** When the notice says that her reports close; nothing while it does not say. */
export function closingMs(t) {
  if (t.promise.asking.kind !== "side") return t.notice.reports_close_at_ms;
  return stageThere(t)?.closes_at_ms ?? null;
}

/** When reports of hers closed: those of her own stage, where there are stages, as it was first told. */
export function closedMs({ notice, asked, first }) {
  const ofStage = () => (notice.stages ?? []).filter(({ number }) => number === asked.stage).map(({ closes_at_ms: closes }) => closes);
  const [now, then] = asked ? [ofStage(), asked.closes_at_ms] : [[notice.reports_close_at_ms ?? 0], first?.closes_at_ms];
  const ends = [...now, ...(then ? [then] : [])];
  return ends.length ? Math.min(...ends) : 0;
}

const wrong = (good, sentence) => (good ? null : sentence);

function side({ promise, offer }) {
  const asked = questionOf(offer);
  if (!asked) return null;
  if (promise.asking.kind !== "side") return `It asks about one side of a value, and the terms ask for a ${promise.asking.kind}.`;
  return wrong(asked.side <= promise.k - 2, "It asks about a side of a value that the question does not have.");
}

function published(t) {
  const asked = questionOf(t.offer);
  if (!asked || t.promise.asking.kind !== "side") return null;
  const opened = stageThere(t);
  if (!opened) return "It asks in a stage that has not opened.";
  return wrong(Math.max(opened.low - 1, 0) <= asked.side && asked.side <= opened.high,
    "It asks about another side than those that your stage was opened for.");
}

export const sameQuestion = (one, other) => one?.side === other?.side && one?.stage === other?.stage;

export const DEAL_CHECKS = {
  "stage": ["offer", (t) => wrong(
    t.offer.stage === (t.promise.asking.stages > 1 ? stageOf(ownWord(t, STAGE_WORD), t.promise.asking.stages) : 1),
    "Your stage is not the one that follows from seed and nonce.")],
  "side": ["offer", side],
  "stage opened": ["offer", published],
  "first question": ["offer", (t) => wrong(!t.asked || sameQuestion(questionOf(t.offer), t.asked),
    "This is not the question that you were asked first, and no other is answered.")],
  "turn": ["drawing", (t) => wrong(!waits(t.promise, t.offer), "Your question has not come yet: nothing was drawn and nothing is lost.")],
};
