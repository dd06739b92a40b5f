// What became of the money: every report that a market signed for, held to what its statement says now. The twin of
// pdqs/owner/settling.py.
//
// What was noted as paid is looked at again each time, for what a statement says today it need not say tomorrow. A fault of
// one round is a sentence, and the others are looked at all the same.

import { notedMicros } from "./account.mjs";
import { refuse } from "./checks.mjs";
import { money } from "./money.mjs";
import { linesOf, paidBy } from "./receipts.mjs";
import { Refusal } from "./refusal.mjs";

const OVER = ["settled", "cancelled"];
const MOST_LINES = 20; // of a statement about one round, kept as evidence; an honest market has one
const LINE = ["account", "amount_micros", "at_ms", "kind", "round_id", "transaction_id"];

/** Keep what became of the money, and the lines of the statement that say so. */
async function note(device, kind, round, lines, nowMs, micros) {
  const said = lines.slice(0, MOST_LINES).map((line) => Object.fromEntries(LINE.map((name) => [name, line[name] ?? null])));
  await device.note(kind, { ...device.at(round), at_ms: nowMs, ...micros, statement: JSON.stringify(said) });
}

/** Hold what the market says it paid against what the offer promised, and keep it, with the lines that say so. */
export async function takePayment(device, notice, receipt, statement, nowMs) {
  const lines = linesOf(notice.round_id, statement);
  const told = { ...(await device.look(notice)), reportThere: receipt, paidMicros: paidBy(lines) };
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

/** Of a round that is over: what was paid, held to what was promised; of one noted as paid: whether it still is. */
export async function settleUp(visit, notice, statement = null) {
  const { device } = visit;
  const stored = await device.reportFor(notice.round_id);
  if (!stored || (stored.paid_micros === null && !OVER.includes(notice.state))) return;
  const lines = async () => statement ?? visit.statement();
  if (stored.paid_micros !== null) { await lookAgain(device, stored, await lines(), visit.clock()); return; }
  const receipt = await visit.reportThere(notice.round_id);
  if (receipt) await device.takeReceipt(notice, receipt);
  else if (stored.accepted_at_ms === null) return;
  await takePayment(device, notice, receipt, await lines(), visit.clock());
}

async function wrongOf(visit, made, state, statement) {
  const signed = `The market signed for your report, promised ${money(made.payment_micros)} and`;
  if (made.paid_micros !== null) {
    await lookAgain(visit.device, made, statement, visit.clock());
  } else if (!state && made.accepted_at_ms !== null) {
    return (paidBy(linesOf(made.round_id, statement)) ?? 0) < made.payment_micros ? `${signed} no longer tells of the round.` : "";
  } else if (OVER.includes(state)) {
    const notice = await visit.notice(made.round_id);
    await settleUp(visit, notice, statement);
    const unpaid = state === "cancelled" && made.accepted_at_ms !== null && !OVER.includes(notice.state);
    return unpaid ? `${signed} lists the round as cancelled.` : "";
  }
  return "";
}

/** All that was reported from here in a market, beside its list of rounds: for each that is at fault, {round, text, wrong}.
 * `listed`: the list, where the caller has it. */
export async function lookOver(visit, listed = null) {
  const reports = (await visit.device.account()).reports().filter((made) => made.market === visit.device.market);
  if (!reports.length) return [];
  const states = new Map((listed ?? await visit.notices()).map(({ round_id: round, state }) => [round, state]));
  let statement;
  try {
    statement = await visit.statement();
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return [{ round: "", text: "", wrong: `What the market says of your money cannot be read: ${fault.message}` }];
  }
  const found = [];
  for (const made of reports) {
    let wrong;
    try {
      wrong = await wrongOf(visit, made, states.get(made.round_id) ?? "", statement);
    } catch (fault) {
      if (!(fault instanceof Refusal) && fault.status !== 404) throw fault;
      wrong = fault.message;
    }
    if (wrong) found.push({ round: made.round_id, text: made.text, wrong });
  }
  return found;
}
