// What became of the money: every report that a market signed for, held to what its statement says now. The twin of
// pdqs/owner/settling.py.
//
// What was noted as paid is looked at again each time, for what a statement says today it need not say tomorrow. A fault of
// one round is a sentence, and the others are looked at all the same.

import { notedMicros } from "./account.mjs";
import { refuse } from "./checks.mjs";
import { lookForOffers, untold } from "./dropped.mjs";
import { askForBids, askForReport, Found, lacksReceipts, renewReportReceipt, silenceOf } from "./kept.mjs";
import { money } from "./money.mjs";
import { isOverdue, mayBeDeleted, overdueInWords } from "./overdue.mjs";
import { fallsShort, linesOf, paidBy, SAYS_LESS } from "./receipts.mjs";
import { Refusal } from "./refusal.mjs";
import { sha256 } from "./sha256.mjs";
import { addsUp, repeated, taken, unconfirmed } from "./statement.mjs";

const OVER = ["settled", "cancelled"];
const MOST_LINES = 20; // of a statement about one round, kept as evidence; an honest market has one
const MOST_NOTES = 12; // so often is it kept that a report was paid or taken back; a fault is told at each look all the same
const LINE = ["account", "amount_micros", "at_ms", "kind", "round_id", "transaction_id"];

/** Keep what became of the money, and the lines of the statement that say so. What a statement says is the market's to change
 * at every look, and her account must not grow with it: the lines are kept the first time that she was paid and the first time
 * that it was taken back, later their hash, and that so often. */
async function note(device, kind, round, lines, nowMs, micros) {
  const said = JSON.stringify(lines.slice(0, MOST_LINES).map((line) => Object.fromEntries(LINE.map((name) => [name, line[name] ?? null]))));
  const before = (await device.account()).of(device.market, round).filter((entry) => ["paid", "taken-back"].includes(entry.kind));
  if (before.length >= MOST_NOTES) return;
  const isFirst = before.every((entry) => entry.kind !== kind);
  await device.note(kind, { ...device.at(round), at_ms: nowMs, ...micros, ...(isFirst ? { statement: said } : { statement_hash: sha256(said) }) });
}

/** Hold what the market says it paid against what the offer promised, and keep it, with the lines that say so. */
export async function takePayment(device, notice, receipt, statement, nowMs) {
  const lines = linesOf(notice.round_id, statement);
  const heard = await device.look(notice);
  const told = { ...heard, reportThere: receipt, paidMicros: paidBy(lines), mayBeDeleted: Boolean(heard.bid) && mayBeDeleted(heard.bid.terms, nowMs) };
  await refuse("payment", told, device.checks);
  if (told.report.paid_micros === null) await note(device, "paid", notice.round_id, lines, nowMs, { paid_micros: told.paidMicros });
}

/** Of a report noted as paid: if the market has taken money back since, keep that, and say so each time. */
export async function lookAgain(device, made, statement, nowMs) {
  const lines = linesOf(made.round_id, statement);
  const [left, noted] = [Math.max(paidBy(lines) ?? 0, 0), notedMicros(made)];
  try {
    await refuse("afterwards", { report: made, lines }, device.checks);
  } catch (fault) {
    if (left !== made.paid_micros) await note(device, "taken-back", made.round_id, lines, nowMs, { paid_micros: left, taken_back_micros: noted - left });
    throw fault;
  }
  if (made.taken_back_micros && left >= noted) await note(device, "paid", made.round_id, lines, nowMs, { paid_micros: left }); // given again
}

/** Of a round that is over: what was paid, held to what was promised; of one noted as paid: whether it still is. A receipt that
 * says less than was promised is told after that, and asked for again. */
export async function settleUp(visit, notice, statement = null) {
  await settle(visit, notice, statement);
  await renewReportReceipt(visit, notice);
}

async function settle(visit, notice, statement) {
  const { device } = visit;
  const stored = await device.reportFor(notice.round_id);
  if (!stored || (stored.paid_micros === null && !OVER.includes(notice.state))) return;
  const lines = async () => statement ?? visit.statement();
  if (stored.paid_micros !== null) { await lookAgain(device, stored, await lines(), visit.clock()); return; }
  const receipt = await visit.reportThere(notice.round_id);
  if (stored.accepted_at_ms === null) {
    if (!receipt) return;
    await device.takeReceipt(notice, receipt);
  }
  await takePayment(device, notice, receipt, await lines(), visit.clock());
}

async function wrongOf(visit, made, state, statement) {
  const signed = `The market signed for your report, promised ${money(made.payment_micros)} and`;
  if (made.paid_micros !== null) {
    await lookAgain(visit.device, made, statement, visit.clock());
  } else if (!state && made.accepted_at_ms !== null) {
    return (await paidUnlisted(visit, made, statement)) ? "" : `${signed} no longer tells of the round.`;
  } else if (OVER.includes(state)) {
    const notice = await visit.notice(made.round_id);
    await settleUp(visit, notice, statement);
    const unpaid = state === "cancelled" && made.accepted_at_ms !== null && !OVER.includes(notice.state);
    return unpaid ? `${signed} lists the round as cancelled.` : "";
  } else if (made.accepted_at_ms !== null) {
    const late = await overdue(visit, made, statement);
    return late && `${signed} ${late}.`;
  }
  return "";
}

/** Whether what was promised is in the statement, of a round that is listed no more, as none is for ever. That it was paid is kept
 * now: nothing will be told of the round again. */
async function paidUnlisted(visit, { round_id: round, payment_micros: promised }, statement) {
  const lines = linesOf(round, statement);
  const paid = paidBy(lines);
  if (paid === promised) await note(visit.device, "paid", round, lines, visit.clock(), { paid_micros: paid });
  return (paid ?? 0) >= promised;
}

/** That the receipt still says less than was promised; it is asked for again while the round is listed. */
async function lessOf(visit, { round_id: round }, state, bid) {
  if (!fallsShort(bid, (await visit.device.reportFor(round)).receipt)) return "";
  if (!state) return SAYS_LESS;
  await renewReportReceipt(visit, await visit.notice(round));
  return "";
}

/** That the round should be over by now, where it should and what was promised is not in the statement. */
async function overdue(visit, made, statement) {
  const [bid, now] = [await visit.device.bidFor(made.round_id), visit.clock()];
  if (!bid || (paidBy(linesOf(made.round_id, statement)) ?? 0) >= made.payment_micros || !isOverdue(bid.terms, now)) return "";
  return overdueInWords(bid.terms, now);
}

/** The statement, and why it is none: asked for twice before that is said, for it may change meanwhile. */
async function moneyOf(visit) {
  const apartIn = (money) => [...addsUp(money), ...repeated(money.lines)];
  const first = await visit.money();
  const again = apartIn(first).length ? await visit.money() : first;
  return { ...again, apart: apartIn(again) };
}

/** All that was bid and reported from here in a market, beside its list of rounds: for each that is at fault, {round, text,
 * wrong}, and notes that are nobody's fault, likewise; and the payouts that she has not said she got. `listed`: the list, where
 * the caller has it. */
export async function lookOver(visit, listed = null) {
  const account = await visit.device.account();
  const reports = account.reports().filter((made) => made.market === visit.device.market);
  const isLacking = lacksReceipts(account, visit.device.market);
  if (!reports.length && !isLacking && !untold(account, visit.device.market).length) return { faults: [], payouts: [], notes: [] };
  const rounds = listed ?? await visit.notices();
  const found = new Found();
  if (isLacking) await askForBids(visit, rounds, found);
  await lookForOffers(visit, rounds, found);
  const payouts = reports.length ? await lookAtMoney(visit, reports, rounds, found) : [];
  return { faults: found.faults, payouts, notes: [...found.unseenInWords(), ...found.notes] };
}

/** What became of these reports, and of the money beside them; the payouts that she has not said she got come back. */
async function lookAtMoney(visit, reports, rounds, found) {
  const [account, states] = [await visit.device.account(), new Map(rounds.map(({ round_id: round, state }) => [round, state]))];
  let statement;
  let apart;
  try {
    ({ lines: statement, apart } = await moneyOf(visit));
  } catch (fault) {
    const about = { round: "", text: "" };
    if (fault instanceof Refusal) found.faults.push({ ...about, wrong: `What the market says of your money cannot be read: ${fault.message}` });
    else found.unseen.push({ ...about, wrong: `What the market says of your money could not be looked at. ${silenceOf(fault)}` });
    return [];
  }
  for (const made of reports) {
    const state = states.get(made.round_id) ?? "";
    const [about, bid] = [{ round: made.round_id, text: made.text }, account.bid(made.market, made.round_id)];
    if (made.accepted_at_ms === null && state === "reporting") { // it is not too late for one that was lost on its way
      await found.lookAt(about, () => askForReport(visit, made));
      continue;
    }
    const asks = made.paid_micros === null && OVER.includes(state); // all else is told by what is here already
    const isWell = await found.lookAt(about, async () => ({ wrong: await wrongOf(visit, made, state, statement) }), { asks });
    if (isWell && fallsShort(bid, made.receipt)) await found.lookAt(about, async () => ({ wrong: await lessOf(visit, made, state, bid) }), { asks: state !== "" });
  }
  found.faults.push(...[...apart, ...taken(statement)].map((wrong) => ({ round: "", text: "", wrong })));
  return unconfirmed(statement, account.received(visit.device.market));
}
