// One owner's dealings with one market: the twin of pdqs/owner/visit.py. `ask(path, {method, body})` makes a request under
// /v1 and gives the answer's JSON; what the market refuses it throws as a MarketRefusal.

import { refuseOutside } from "./device.mjs";
import { mayBeWithdrawn, refuseDropped } from "./dropped.mjs";
import { marksIn, MOST_MARKS } from "./json.mjs";
import { askForBid } from "./kept.mjs";
import { keepSource } from "./messages.mjs";
import { Refusal } from "./refusal.mjs";
import { lookOver, settleUp } from "./settling.mjs";
import { printable, quoted } from "./spelling.mjs";

const MOST_PAGES = 200;
const MOST_ITEMS = 20_000; // of a list, over all of its pages
const MOST_LIST_BYTES = 16 * 1024 * 1024;
const LOOKS = 3; // so often is the market asked which bid it has, should another one arrive in between
const MOST_MS = 600_000; // a market that says a byte a minute is cut off
const MOST_BYTES = 4 * 1024 * 1024; // and one that never stops talking: the longest answer to a device has 3.1 MB

/** The market said no: its type is a word for programs, its message a sentence that quotes what it said. */
export class MarketRefusal extends Error {
  constructor(status, type, detail) {
    super(`The market said no: ${quoted(detail)}.`);
    Object.assign(this, { name: "MarketRefusal", status, type, detail });
  }
}

const tooLong = () => new Refusal("The market's list is too long to be one: more than 20,000 lines or 16 MB.");

/** The text of an answer, unless there is too much of it; `room` is what is left for a list of which it is a page. */
async function bounded(answer, room) {
  const [reader, decoder] = [answer.body?.getReader(), new TextDecoder()];
  let [text, size] = ["", 0];
  for (;;) {
    const { done, value } = reader ? await reader.read() : { done: true };
    if (done) return text + decoder.decode();
    size += value.length;
    if (room) room.bytes -= value.length;
    if (size > MOST_BYTES || room?.bytes < 0) {
      await reader.cancel();
      throw room?.bytes < 0 ? tooLong() : new Refusal("The market's answer is too long to be one.");
    }
    text += decoder.decode(value, { stream: true });
  }
}

function parsed(text) {
  try {
    return keepSource(JSON.parse(text), text);
  } catch {
    return null;
  }
}

/** How to ask a market: `fetch` with a bearer token or, on the market's own pages, with a session and its CSRF token.
 * `patience` gives a signal that ends the waiting for one answer, head and body. */
export function asker(address, headers = {}, fetched = globalThis.fetch.bind(globalThis), patience = () => AbortSignal.timeout(MOST_MS)) {
  return async (path, { method = "GET", body, room } = {}) => {
    const signal = patience();
    const sent = { Accept: "application/json", ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
    const credentials = "Authorization" in headers ? "omit" : "same-origin";
    let answer;
    let text;
    try {
      answer = await fetched(`${address}/v1${path}`, { method, body, headers: sent, redirect: "error", cache: "no-store", credentials, signal });
      text = await bounded(answer, room);
    } catch (fault) {
      if (signal.aborted) throw new Refusal("The market's answer does not come to an end.");
      throw fault;
    }
    if (marksIn(text) > MOST_MARKS) throw new Refusal("The market's answer has too many parts to be one.");
    const found = parsed(text);
    if (!answer.ok) {
      const said = typeof found?.detail === "string" ? found.detail : `it answered ${answer.status}`;
      throw new MarketRefusal(answer.status, found?.type, printable(said));
    }
    return found;
  };
}

export class Visit {
  constructor(device, ask, clock = Date.now) {
    Object.assign(this, { device, ask, clock });
  }

  async get(kind, path, how = {}) {
    return this.device.read(kind, await this.ask(path, how));
  }

  async ifAny(kind, path, missing, how = {}) {
    try {
      return await this.get(kind, path, how);
    } catch (fault) {
      if (fault.status === 404 && fault.type === missing) return null;
      throw fault;
    }
  }

  async notice(round) {
    const found = await this.get("notice", `/notices/${round}`);
    await this.device.isAsked(found, round);
    return found;
  }

  offer(round) { return this.get("offer", `/rounds/${round}/offer`); }
  bidThere(round) { return this.ifAny("BidReceipt", `/rounds/${round}/bid`, "no-bid"); }
  reportThere(round) { return this.ifAny("ReportReceipt", `/rounds/${round}/report`, "no-report"); }

  /** Bid, unless there is one; what stands comes back. `seenHash`: of the terms that she looked at. */
  async bid(round, bidMicros, seenHash = "") {
    const notice = await this.notice(round);
    const { user } = await this.get("me", "/me");
    const kept = await this.device.bid(notice, bidMicros, await this.bidThere(round), user?.user_id, seenHash);
    await this.device.takeBidReceipt(notice, await this.#sendBid(round, kept));
    return kept;
  }

  /** Name this price, in the place of the one that stands if there is one: what was asked for is what comes of it. */
  async namePrice(round, bidMicros, seenHash = "") {
    const kept = await this.bid(round, bidMicros, seenHash);
    // Another price may still be on its way there: this one, said last, must be what she said last.
    const unsigned = (await this.device.account()).unsignedBids(this.device.market, round);
    const others = unsigned.some((bid) => bid.bid_micros !== bidMicros);
    return kept.bid_micros === bidMicros && !others ? kept : this.changeBid(round, bidMicros, seenHash);
  }

  /** Put another price in the place of this browser's bid, until bids close. */
  async changeBid(round, bidMicros, seenHash = "") {
    const [notice, there] = [await this.notice(round), await this.bidThere(round)];
    if (!there) return this.bid(round, bidMicros, seenHash);
    await this.device.catchUp(notice, there);
    const { user } = await this.get("me", "/me");
    const sent = await this.device.changeBid(notice, bidMicros, there, user?.user_id);
    await this.device.takeBidReceipt(notice, await this.#sendBid(round, sent), sent);
    return sent;
  }

  /** Send a stored bid. One that was withdrawn on its way is refused, and this device then knows of it. */
  async #sendBid(round, { body, after_ms: after = 0 }) {
    try {
      return this.device.read("BidReceipt", await this.ask(`/rounds/${round}/bid?after=${after}`, { method: "PUT", body }));
    } catch (fault) {
      if (fault.type === "bid-withdrawn") await this.#learnOfWithdrawal(round).catch(() => {}); // the refusal is what she hears of
      throw fault;
    }
  }

  /** She withdrew elsewhere, the market says. It does not undo what it signed for after that, or by naming no time. */
  async #learnOfWithdrawal(round) {
    const { withdrawn_at_ms: withdrawn } = await this.get("withdrawn", `/rounds/${round}/mine`);
    const standing = await this.device.bidFor(round);
    if (standing && mayBeWithdrawn(standing, withdrawn)) await this.device.withdrawn(round, withdrawn, this.clock());
  }

  /** Take back the bid `there` (none: those that have not arrived yet), and keep when that was by the market's clock. */
  async #withdraw(round, there) {
    const withdrawn = await this.ifAny("Withdrawal", `/rounds/${round}/bid?placed_at_ms=${there?.placed_at_ms ?? 0}`, "no-bid", { method: "DELETE" });
    await this.device.withdrawn(round, withdrawn?.withdrawn_at_ms ?? 0, this.clock());
  }

  /** Take back the owner's bid, until bids close, whichever device made it, and those that have not arrived yet. */
  async withdrawBid(round) {
    for (let look = 1; ; look += 1) {
      try {
        return await this.#withdraw(round, await this.bidThere(round));
      } catch (fault) {
        if (fault.type !== "bid-stands" || look === LOOKS) throw fault; // else another one arrived in between
      }
    }
  }

  /** Everything the market says about a round, checked; what the lot decided is kept, and what is asked. */
  async review(round) {
    const offer = await this.offer(round).catch((fault) => refuseDropped(this, round, fault)); // before the notice, which then tells of every stage that the offer knows
    const notice = await this.notice(round);
    const [bidThere, reportThere] = [await this.bidThere(round), await this.reportThere(round)];
    await this.device.catchUp(notice, bidThere);
    const { reports_made: counted } = await this.get("me", "/me");
    const found = await this.device.review(notice, offer, { bidThere, reportThere, counted });
    await this.device.keepTold(found);
    return found;
  }

  /** Look at the offer and the server's clock once more, then draw, charge and store; what was drawn stands. */
  async draw(review, code, agreed = []) {
    const made = await this.device.reportFor(review.offer.round_id);
    if (made) return made;
    refuseOutside(review, code); // first: what is asked of the market must not tell which answer it is
    const fresh = await this.offer(review.offer.round_id);
    return this.device.report(review, code, { fresh, nowMs: this.clock(), agreed });
  }

  /** Send the stored bytes, and keep the receipt when it is what was offered. */
  async send(stored) {
    const where = this.device.at(stored.round_id);
    const notice = await this.notice(stored.round_id);
    if (notice.terms_hash !== stored.terms_hash) throw new Refusal("These are not the terms that were reported on.");
    await this.device.note("sent", { ...where, at_ms: this.clock() });
    let answer;
    try {
      answer = await this.ask(`/rounds/${stored.round_id}/report`, { method: "PUT", body: stored.body });
    } catch (fault) {
      if (fault.status === 409) await this.device.note("refused", { ...where, refused: fault.detail });
      throw fault;
    }
    await this.device.takeReceipt(notice, this.device.read("ReportReceipt", answer));
    return this.device.reportFor(stored.round_id);
  }

  /** Ask again for what the market signed for her bid, where that is missing; that the market has none comes back in words. */
  askForBid(notice) { return askForBid(this, notice); }

  /** Of a round that is over: what was paid, held to what was promised; of one noted as paid: whether it still is. */
  async settleUp(round) {
    await settleUp(this, await this.notice(round));
  }

  /** All that was reported from here, beside the market's list of rounds: what is at fault. */
  lookOver(listed = null) { return lookOver(this, listed); }

  /** Every round that the market lists for her. */
  notices() { return this.all("notices", "/notices"); }

  /** Every line of money that the market says it gave her or took from her. */
  async statement() { return (await this.money()).lines; }

  /** The same, with what the market says it owes her by the first page of it. */
  async money() {
    const owed = [];
    const lines = await this.all("statement", "/statement?limit=200", (page) => owed.push(page.balance_micros));
    return { balance: owed[0], lines };
  }

  /** She says that a payout came. */
  async got({ transaction_id, amount_micros }) {
    await this.device.note("received", { market: this.device.market, transaction_id, amount_micros, at_ms: this.clock() });
  }

  /** The items of every page of a list. */
  async all(kind, path, look = () => {}) {
    const [seen, items, room] = [new Set(), [], { bytes: MOST_LIST_BYTES }];
    for (let after = ""; seen.size < MOST_PAGES && !seen.has(after);) {
      seen.add(after);
      const page = await this.get(kind, after ? `${path}${path.includes("?") ? "&" : "?"}after=${encodeURIComponent(after)}` : path, { room });
      look(page);
      items.push(...page.items);
      if (items.length > MOST_ITEMS) throw tooLong();
      if (page.next === null) return items;
      after = page.next;
    }
    throw new Refusal("The market's list has no end.");
  }
}
