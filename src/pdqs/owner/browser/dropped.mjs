// A bid that a market signed for and has no offer for: whoever bid is told in a round past bidding what it asks of her, if that
// is nothing. The twin of pdqs/owner/dropped.py.

import { isOverdue, mayBeDeleted, overdueInWords } from "./overdue.mjs";
import { Refusal } from "./refusal.mjs";
import { dayText } from "./statement.mjs";

const DAY_MS = 86_400_000;
const MOST_LOOKS = 20; // a market is not asked about every round of years at once
const TOLD = ["lots", "offer", "drawn"]; // what is kept of a round once its offer was seen
const SIGNED = "The market signed for your bid and";
const GONE = `${SIGNED} no longer tells of the round.`;

/** Whether a withdrawal at this time, by the market's word, is one of this bid: it came after what it signed for. */
export const mayBeWithdrawn = (bid, withdrawnMs) => withdrawnMs > 0 && withdrawnMs >= (JSON.parse(bid.receipt ?? "{}").placed_at_ms ?? 0);

/** Of a round with no offer to her, in this state: that there should be one; nothing where there need not be. `withdrawnMs` is
 * when she withdrew, by the market's word. She may have, from another device. */
function droppedInWords(bid, state, nowMs, withdrawnMs = 0) {
  if (!bid?.accepted || !["reporting", "settled"].includes(state)) return "";
  if (state === "settled" && mayBeDeleted(bid.terms, nowMs)) return "";
  const said = `${SIGNED} has no offer to you`;
  return mayBeWithdrawn(bid, withdrawnMs) ? `${said}: it says that you withdrew it on ${dayText(withdrawnMs)}, and broke its word if you did not.` : `${said}.`;
}

/** The same once the market said that it has none: {wrong, isNote}, a note where it says that she withdrew. */
async function droppedFrom(visit, round, state) {
  const bid = await visit.device.bidFor(round);
  if (!droppedInWords(bid, state, visit.clock())) return { wrong: "", isNote: false };
  const { withdrawn_at_ms: withdrawn } = await visit.get("withdrawn", `/rounds/${round}/mine`);
  return { wrong: droppedInWords(bid, state, visit.clock(), withdrawn), isNote: mayBeWithdrawn(bid, withdrawn) };
}

/** After a market said no to the question for her offer: say that there should be one, where there should; else what it said. */
export async function refuseDropped(visit, round, fault) {
  if (fault.type !== "no-offer") throw fault;
  const { wrong } = await droppedFrom(visit, round, (await visit.notice(round)).state);
  throw wrong ? new Refusal(wrong) : fault;
}

/** The bids of hers that a market signed for and whose offer was never seen here, newest first. */
export function untold(account, market) {
  const rounds = new Set(account.all("bid").filter((entry) => entry.market === market).map(({ round_id: round }) => round).reverse());
  const unseen = [...rounds].filter((round) => !account.of(market, round).some(({ kind }) => TOLD.includes(kind)));
  return unseen.map((round) => account.bid(market, round)).filter((bid) => bid?.accepted);
}

const isGone = (bid, nowMs) => nowMs > JSON.parse(bid.terms).bids_close_at_ms && !mayBeDeleted(bid.terms, nowMs);

/** Whether her offer should be there, by the round's state in the market's list, empty if it is not there. */
function isDue(bid, listed, nowMs) {
  if (listed === "open") return isOverdue(bid.terms, nowMs); // whoever never closes a round need make no offer in it
  return listed ? droppedInWords(bid, listed, nowMs) !== "" : isGone(bid, nowMs);
}

/** What is to be said of a bid whose offer should be there. No market lists a round for ever: not one that she withdrew from
 * elsewhere, once bids are closed, nor one that was called off early and deleted as its terms say. Either is told when it is
 * asked for by itself. */
async function wrongOf(visit, { round_id: round, terms }, listed) {
  const offer = await visit.ifAny("offer", `/rounds/${round}/offer`, "no-offer");
  const { state } = await visit.notice(round);
  if (state === "cancelled") return { wrong: "" };
  if (listed === "open" && state === "open") return { wrong: `${SIGNED} ${overdueInWords(terms, visit.clock())}.` };
  const found = offer ? { wrong: "" } : await droppedFrom(visit, round, listed === "open" ? state : listed || "reporting");
  return listed || found.isNote ? found : { wrong: GONE };
}

/** The same, where the round may be gone. */
async function lookAt(visit, bid, listed) {
  try {
    return await wrongOf(visit, bid, listed);
  } catch (fault) {
    if (fault.status !== 404 || listed) throw fault;
    return { wrong: GONE };
  }
}

/** As many of these as are looked at in one day: others tomorrow, until it was the turn of all. */
export function inTurn(due, nowMs) {
  const first = due.length > MOST_LOOKS ? (Math.floor(nowMs / DAY_MS) * MOST_LOOKS) % due.length : 0;
  return [...due.slice(first), ...due.slice(0, first)].slice(0, MOST_LOOKS);
}

/** Of those bids: the ones that it made no offer for. */
export async function lookForOffers(visit, listed, found) {
  const [account, now] = [await visit.device.account(), visit.clock()];
  const states = new Map(listed.map(({ round_id: round, state }) => [round, state]));
  const stateOf = (bid) => states.get(bid.round_id) ?? "";
  const due = untold(account, visit.device.market).filter((bid) => isDue(bid, stateOf(bid), now));
  for (const bid of inTurn(due, now)) {
    await found.lookAt({ round: bid.round_id, text: JSON.parse(bid.question).text }, () => lookAt(visit, bid, stateOf(bid)));
  }
}
