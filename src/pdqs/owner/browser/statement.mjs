// The market's statement of her money as a whole: the twin of pdqs/owner/statement.py, with the same sentences.

import { money } from "./money.mjs";
import { Refusal } from "./refusal.mjs";

/** No sum of money is larger that every program counts exactly, to the last micro-unit. */
export const MOST_COUNTED_MICROS = Number.MAX_SAFE_INTEGER;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The lines of a statement, unless what they move is more than can be counted: then none of its sums would be exact. */
export function counted(lines) {
  const moved = lines.reduce((all, { amount_micros: amount }) => all + Math.abs(amount), 0);
  if (moved > MOST_COUNTED_MICROS) throw new Refusal("The lines of the market's statement move more money than can be counted.");
  return lines;
}

/** What lines come to. */
export const sum = (lines) => counted(lines).reduce((all, { amount_micros: amount }) => all + amount, 0);

/** The day of a moment, by UTC. */
export function dayText(ms) {
  const moment = new Date(ms);
  return `${moment.getUTCDate()} ${MONTHS[moment.getUTCMonth()]} ${moment.getUTCFullYear()}`;
}

/** What is said where the sum that is owed is not what the lines come to. */
export function addsUp({ balance, lines }) {
  const total = sum(lines);
  return balance === total ? [] : [`The market says that it owes you ${money(balance)}, and the lines of its statement come to ${money(total)}.`];
}

/** Lines by the name of their group. */
function grouped(lines, nameOf) {
  const groups = new Map(lines.map((line) => [nameOf(line), []]));
  for (const line of lines) groups.get(nameOf(line)).push(line);
  return groups;
}

/** The lines whose name is not among `others`, one for one; of several of one name the oldest goes first. */
function without(lines, nameOf, others) {
  const left = new Map();
  for (const name of others) left.set(name, (left.get(name) ?? 0) + 1);
  return [...lines].reverse().filter((line) => {
    const [name, more] = [nameOf(line), left.get(nameOf(line)) ?? 0];
    if (more) left.set(name, more - 1);
    return !more;
  }).reverse();
}

const kinds = (lines) => [...new Set(lines.map(({ kind }) => kind))].sort().join(" and ");
const lastDay = (lines) => dayText(lines.reduce((last, { at_ms: at }) => Math.max(last, at), 0));

/** That a sum (below nought) was taken by these lines. */
function inWords(sumMicros, lines, how) {
  const when = lines.length === 1 ? `on ${lastDay(lines)}` : `by ${lines.length} lines, the last on ${lastDay(lines)},`;
  return `The market took ${money(-sumMicros)} from you ${when} ${how} (it calls it ${kinds(lines)}).`;
}

/** What is said where lines have the name of another one: a market enters nothing twice under one name. */
export function repeated(lines) {
  const known = new Set();
  const again = lines.filter(({ transaction_id: name }) => known.has(name) || !known.add(name));
  const what = again.length === 1 ? "a line of its statement has" : `${again.length} lines of its statement have`;
  return again.length ? [`The market lists the same payment more than once: ${what} the name of another line, the last on ${lastDay(again)} (it calls it ${kinds(again)}).`] : [];
}

/** Of lines that name no round, what is taken and is no payout, less what was given in the same way: an entry and its undoing.
 * What undoes a payout is looked at with payouts. */
function unnamed(bare) {
  const given = bare.filter(({ amount_micros: amount, kind }) => amount > 0 && !["payout", "reversal"].includes(kind));
  const less = bare.filter(({ amount_micros: amount, kind }) => amount < 0 && kind !== "payout");
  return without(less, ({ amount_micros: amount }) => -amount, given.map(({ amount_micros: amount }) => amount));
}

/** Sentences on money that was taken with no round named, or in a round beyond what that round paid her. What she was promised
 * for a report and did not keep is told with the report, so that no sum is told twice. */
export function taken(lines) {
  const rounds = grouped(lines, ({ round_id: round }) => round);
  const bare = unnamed(rounds.get(null) ?? []);
  const beyond = [...rounds.keys()].filter((round) => round !== null && sum(rounds.get(round)) < 0).sort();
  const less = (round) => rounds.get(round).filter(({ amount_micros: amount }) => amount < 0);
  return [
    ...(bare.length ? [inWords(sum(bare), bare, "without naming a round")] : []),
    ...beyond.map((round) => inWords(sum(rounds.get(round)), less(round), `in round ${round} beyond what it paid you there`)),
  ];
}

const asEntered = ({ transaction_id: name, amount_micros: amount }) => `${amount} ${name}`;
const undoneBy = ({ transaction_id: name, amount_micros: amount }) => `${-amount} reversal:${name}`; // the entry that undoes a payout

/** The payouts that were not undone: a reversal undoes the one that it names, else the last of its size before it. */
function standing(lines) {
  const payouts = lines.filter(({ kind, amount_micros: amount }) => kind === "payout" && amount < 0);
  const undoings = lines.filter(({ kind, amount_micros: amount, round_id: round }) => kind === "reversal" && amount > 0 && round === null);
  const nameless = without(undoings, asEntered, payouts.map(undoneBy));
  const unnamedPayouts = without(payouts, undoneBy, undoings.map(asEntered));
  const inTime = [...[...unnamedPayouts].reverse(), ...[...nameless].reverse()].sort((one, other) => one.at_ms - other.at_ms); // payouts first
  const left = new Set();
  for (const same of grouped(inTime, ({ amount_micros: amount }) => Math.abs(amount)).values()) {
    const open = [];
    for (const line of same) line.kind === "payout" ? open.push(line) : open.pop();
    open.forEach((line) => left.add(line));
  }
  return unnamedPayouts.filter((line) => left.has(line));
}

/** Payouts that were not undone, and that she has not said she got, newest first; she says so of each by itself. */
export const unconfirmed = (lines, received) => without(standing(lines), asEntered, received.map(asEntered));

/** What the market says of a payout, and what only she can know. */
export const payoutInWords = ({ amount_micros: amount, at_ms: at }) => `The market says that it paid out ${money(-amount)} on ${dayText(at)}: did you get it?`;

const MOST_PAYOUTS = 3;

/** The payouts that wait for her word, to be put on a page: [{said, payout}], the newest first. */
export function payoutsInWords(told) {
  const more = told.slice(MOST_PAYOUTS);
  const first = told.slice(0, MOST_PAYOUTS).map((payout) => ({ said: payoutInWords(payout), payout }));
  return more.length ? [...first, { said: `And ${more.length} more before that, ${money(-sum(more))} in all.`, payout: null }] : first;
}
