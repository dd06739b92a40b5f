// Receipts that a device has kept, held to what the terms promise of them; and those that are still missing. The twin of
// pdqs/owner/kept_receipts.py.
//
// A receipt that says less than its round's terms promise is none of those that were promised: it is kept as evidence, told at
// every look, and asked for again, like one that was lost on its way.

import { refuse } from "./checks.mjs";
import { money } from "./money.mjs";
import { fallsShort, SAYS_LESS } from "./receipts.mjs";
import { Refusal } from "./refusal.mjs";

const MOST_LOOKS = 20; // a market is not asked about every bid of years that never came to it
const MOST_SILENT = 3; // nor is it waited for once it has not answered about so many rounds

/** Of rounds that were looked at: what is at fault, and what is to be known, as {round, text, wrong}. Whoever does not answer about
 * one round hides nothing about another: `unseen` has what could not be looked at, `leftOut` those that were not asked about then. */
export class Found {
  constructor() {
    Object.assign(this, { faults: [], notes: [], unseen: [], leftOut: new Set() });
  }

  /** Keep what is wrong about one round, which `look` tells as {wrong, isNote}; gives whether it was looked at and nothing is wrong.
   *  `asks`: whether the market is asked for it. What is known without its word, it cannot hide by silence. */
  async lookAt(about, look, { asks = true } = {}) {
    if (asks && this.unseen.length >= MOST_SILENT) { this.leftOut.add(about.round); return false; }
    try {
      const { wrong, isNote } = await look();
      if (wrong) (isNote ? this.notes : this.faults).push({ ...about, wrong });
      return !wrong;
    } catch (fault) {
      if (fault instanceof Refusal || fault.status === 404) this.faults.push({ ...about, wrong: fault.message });
      else this.unseen.push({ ...about, wrong: `It could not be looked at. ${silenceOf(fault)}` });
      return false;
    }
  }

  /** What could not be looked at, and that others were not. */
  unseenInWords() {
    const { size } = this.leftOut;
    const others = size === 1 ? "another round was" : `${size} other rounds were`;
    const more = size ? [{ round: "", text: "", wrong: `The market did not answer, so that ${others} not looked at.` }] : [];
    return [...this.unseen, ...more];
  }
}

/** Why nothing is known, where the market said no or nothing at all; any other fault is none of these. */
export function silenceOf(fault) {
  if (fault.status === undefined && fault.name !== "Silence") throw fault;
  return fault.message;
}

/** Where the receipt of a report that is kept says less than the terms promise: ask for what was promised. */
export async function renewReportReceipt(visit, notice) {
  const { device } = visit;
  const [bid, made] = [await device.bidFor(notice.round_id), await device.reportFor(notice.round_id)];
  if (!fallsShort(bid, made?.receipt)) return;
  const there = await visit.reportThere(notice.round_id);
  if (!there) throw new Refusal(SAYS_LESS);
  await device.takeReceipt(notice, there);
}

const LOST_REPORT = "Your report was drawn here, and the market says that it has none: send it again while it takes reports, which draws nothing and costs nothing.";

/** Ask for what the market signed for a report of which no receipt has come, and keep it if it is true. What is wrong with it is
 * refused. That the market has none comes back as a note, while it may be sent again. */
export async function askForReport(visit, { round_id: round, refused }) {
  const notice = await visit.notice(round);
  const there = await visit.reportThere(round);
  if (there) {
    await visit.device.takeReceipt(notice, there);
    return { wrong: "" };
  }
  const mayBeSent = refused === null && !(await isClosed(visit, notice));
  return { wrong: mayBeSent ? LOST_REPORT : "", isNote: true };
}

/** Whether reports of hers are closed by this device's clock: those of her own stage, where there are stages. It goes by the end
 * that was told with her question or offer. Where that is not known, they may be open still. */
async function isClosed(visit, notice) {
  const { device } = visit;
  const [account, now] = [await device.account(), visit.clock()];
  const [asked, first] = [account.question(device.market, notice.round_id), account.offer(device.market, notice.round_id)];
  const ends = asked ? [asked.closes_at_ms] : [first?.closes_at_ms, notice.reports_close_at_ms];
  return ends.every((end) => end > 0 && now >= end); // one that is missing is none of these
}

const isMissing = (bid, unsigned) => !bid.accepted || unsigned.length > 0 || fallsShort(bid, bid.receipt);

/** Whether the receipt of any bid of hers in a market is missing. */
export function lacksReceipts(account, market) {
  const rounds = new Set(account.all("bid").filter((entry) => entry.market === market).map(({ round_id: round }) => round));
  return [...rounds].some((round) => lacks(account, market, round));
}

function lacks(account, market, round) {
  const bid = account.bid(market, round);
  return Boolean(bid) && isMissing(bid, account.unsignedBids(market, round));
}

function noneThere(bid, state) {
  if (bid.accepted && fallsShort(bid, bid.receipt)) throw new Refusal(SAYS_LESS);
  if (bid.accepted) return "";
  const left = `A bid of ${money(bid.bid_micros)} left this device, and the market says that`;
  return state === "open" ? `${left} it has none: bid again if it is to stand.` : `${left} none came before bids closed.`;
}

/** Ask again for what the market signed for her bid, where that is missing, and keep it if it is true. What is wrong with it is
 * refused. That it has no bid is no fault of its own: that comes back as a sentence. */
export async function askForBid(visit, notice) {
  const { device } = visit;
  if (!lacks(await device.account(), device.market, notice.round_id)) return "";
  const there = await visit.bidThere(notice.round_id);
  if (!there) return noneThere(await device.bidFor(notice.round_id), notice.state);
  await device.catchUp(notice, there);
  const held = Object.fromEntries(Object.entries(device.checks).filter(([name]) => name === "bid there"));
  await refuse("offer", { ...(await device.look(notice)), bidThere: there }, held);
  return "";
}

/** The same for the rounds of a market's list; of those that are over, only where the market has a bid. */
export async function askForBids(visit, listed, found) {
  const account = await visit.device.account();
  const missing = listed.filter(({ round_id: round, state }) => state !== "cancelled" && lacks(account, visit.device.market, round));
  for (const { round_id: round, state } of missing.slice(0, MOST_LOOKS)) {
    const about = { round, text: JSON.parse(account.bid(visit.device.market, round).question).text };
    await found.lookAt(about, async () => {
      const note = await askForBid(visit, await visit.notice(round));
      return { wrong: ["open", "reporting"].includes(state) ? note : "", isNote: true };
    });
  }
}
