// What the owner's device decides, in the browser: the twin of pdqs/owner/review.py.
//
// The order is fixed: check, ask the owner, charge and store, then send. Only the report's code goes on from the draw;
// the value is in no message, no store and no log.

import { accountOf, nextRow, oneAddress, OVERALL } from "./account.mjs";
import { admitted, asksOf } from "./asks.mjs";
import { CHECKS, promiseOf, refuse } from "./checks.mjs";
import { knownByNow } from "./commitments.mjs";
import { askedInWords, askingOf, questionOf, waits } from "./dealing.mjs";
import { lotsOf, offerOf } from "./lots.mjs";
import { read } from "./messages.mjs";
import { epsilon, epsilonNanos, leastPaymentMicros } from "./price.mjs";
import { ask, kappa } from "./questions.mjs";
import { systemWords } from "./randomiser.mjs";
import { fallsShort } from "./receipts.mjs";
import { Refusal } from "./refusal.mjs";

/** Of the reports that the market signed for, those signed for before the one in this round was drawn: what is drawn first may arrive last. */
function acceptedBefore(account, market, round) {
  const here = account.entries.filter((entry) => entry.market === market);
  const place = here.findIndex(({ kind, round_id: about }) => kind === "drawn" && about === round);
  return new Set(here.slice(0, place < 0 ? here.length : place).filter(({ kind }) => kind === "accepted").map(({ round_id: about }) => about)).size;
}

/** Where her answer is none of those that there are. */
export const NOT_AMONG = "You may give the nearest one, which is randomised like any other; whoever bids and then does not answer tells the market something too, and is paid nothing.";

/** Refuse what is no answer: to be asked before the market hears that she is about to answer. */
export function refuseOutside({ domainSize }, code) {
  if (Number.isInteger(code) && code >= 0 && code < domainSize) return;
  throw new Refusal(`Your answer is not one that the question allows; nothing was drawn and nothing was sent. ${NOT_AMONG}`);
}

const FIRST_STANDS = ["lots stand", "offer stands", "first question"]; // the checks that hold a market to what it told first

/** One owner's device at one market. `store` keeps the account, which is one for all markets and all names that markets
 * give her; `words` gives random words; `checks` are all there are, but in tests of what each is for. */
export class Device {
  constructor(store, market, { words = systemWords, checks = CHECKS } = {}) {
    Object.assign(this, { store, market: oneAddress(market), words, checks });
  }

  async account() {
    return accountOf(await this.store.rows());
  }

  /** A message, if it has the shape of one. */
  read(kind, value) {
    return "shape" in this.checks ? read(kind, value) : value;
  }

  /** Add one entry. */
  async note(kind, fields) {
    await this.store.append((rows) => {
      accountOf(rows);
      return [nextRow(rows, { kind, ...fields })];
    });
  }

  at(roundId) {
    return { market: this.market, round_id: roundId };
  }

  /** The round, held to its frozen terms, beside what this device did in it. */
  async look(notice) {
    const account = await this.account();
    const mine = account.reports().filter((made) => made.market === this.market);
    const told = {
      notice,
      promise: promiseOf(notice),
      bid: account.bid(this.market, notice.round_id),
      report: account.report(this.market, notice.round_id),
      made: mine.length + account.elsewhere(this.market), // those from here, and those elsewhere that she knows of
      accepted: mine.filter((made) => made.accepted_at_ms !== null).length, // from here alone
      acceptedBefore: acceptedBefore(account, this.market, notice.round_id),
      ordinals: mine.filter((made) => made.round_id !== notice.round_id && made.receipt).map((made) => JSON.parse(made.receipt).ordinal),
      counted: 0, bidThere: null, reportThere: null,
      lots: account.lots(this.market, notice.round_id),
      first: account.offer(this.market, notice.round_id),
      asked: account.question(this.market, notice.round_id),
    };
    await refuse("notice", told, this.checks);
    if (told.report?.terms_hash !== notice.terms_hash) await refuse("looks", told, this.checks); // what is drawn is drawn, maybe before this was looked at
    return told;
  }

  /** Refuse an answer about another round than the one that was asked about. */
  async isAsked(notice, roundId) {
    await refuse("answer", { notice, askedFor: roundId }, this.checks);
  }

  /** Check the round, and store a bid for it before it is sent. `there`: the bid that the market has already; `ownerId`:
   * who the market takes her for; `seenHash`: of the terms that she looked at. */
  async bid(notice, bidMicros, there = null, ownerId = "", seenHash = "") {
    const told = await this.#mayBid(notice, bidMicros, there, ownerId, seenHash);
    if (there && told.bid) return told.bid;
    const made = await this.#bidFields(notice, bidMicros, ownerId);
    const rows = await this.store.append((rows) => {
      const kept = accountOf(rows).bid(this.market, notice.round_id);
      return kept?.accepted ? [] : [nextRow(rows, { kind: "bid", ...made })];
    });
    return accountOf(rows).bid(this.market, notice.round_id);
  }

  async #mayBid(notice, bidMicros, there, ownerId, seenHash = "") {
    const account = await this.account();
    const heard = await this.look(notice);
    const knownSecrets = knownByNow(account, this.market, heard.promise.receiptKey, notice.terms_hash);
    const told = { ...heard, knownAs: account.knownAs(this.market), knownSecrets, bidThere: there, ownerId, seenHash };
    await refuse("bidding", told, this.checks);
    if (!Number.isInteger(bidMicros) || bidMicros < notice.bid_low_micros || bidMicros > notice.bid_high_micros) {
      throw new Refusal("Your price must lie within the round's range.");
    }
    return told;
  }

  async #bidFields({ round_id, terms_hash, terms, question }, bidMicros, ownerId, replaces) {
    const body = JSON.stringify({ terms_hash, bid_micros: bidMicros, replaces });
    const made = { ...this.at(round_id), bid_micros: bidMicros, terms_hash, terms, question: JSON.stringify(question), body, owner_id: ownerId };
    return { ...made, after_ms: (await this.account()).withdrawnMs(this.market, round_id) };
  }

  /** Check the round and store a bid that takes the place of this device's own, which the market has `there`. */
  async changeBid(notice, bidMicros, there, ownerId = "") {
    await this.#mayBid(notice, bidMicros, there, ownerId);
    await this.note("bid", await this.#bidFields(notice, bidMicros, ownerId, there.placed_at_ms));
    return (await this.account()).unsignedBids(this.market, notice.round_id).at(-1);
  }

  /** Where the receipt of the bid or of its change was lost on its way, or says less than promised: take what is there. */
  async catchUp(notice, there) {
    const account = await this.account();
    const standing = account.bid(this.market, notice.round_id);
    if (!there || !standing) return;
    const isSame = standing.accepted && standing.bid_micros === there.bid_micros;
    const unsigned = account.unsignedBids(this.market, notice.round_id).findLast((bid) => bid.bid_micros === there.bid_micros);
    const sent = isSame ? fallsShort(standing, standing.receipt) && standing : unsigned;
    if (sent) await this.takeBidReceipt(notice, there, sent);
  }

  /** The bid was taken back: at `withdrawnMs` by the market's clock, or 0 where there was none to take back. */
  async withdrawn(roundId, withdrawnMs, nowMs) {
    if (!withdrawnMs && !(await this.bidFor(roundId))) return;
    await this.note("bid-withdrawn", { ...this.at(roundId), at_ms: nowMs, withdrawn_at_ms: withdrawnMs });
  }

  /** Hold the market's receipt against the bid that was `sent` (unless said, the one that stands), and keep it. */
  async takeBidReceipt(notice, receipt, sent = null) {
    const heard = await this.look(notice);
    const told = { ...heard, bidThere: receipt, bid: sent ?? heard.bid };
    if (!told.bid) throw new Refusal("Your bid was withdrawn meanwhile, from another tab: you have none in this round.");
    await refuse("bid receipt", told, this.checks);
    if (told.bid.accepted && !fallsShort(told.bid, told.bid.receipt)) return;
    await this.note("bid-accepted", { ...this.at(notice.round_id), at_ms: receipt.placed_at_ms, receipt: JSON.stringify(receipt) });
  }

  async spending(attribute) {
    return (await this.account()).spending(attribute);
  }

  async setCap(attribute, capNanos) {
    await this.note("cap", { attribute, cap_nanos: capNanos });
  }

  /** Recompute all that the offer claims, against this device's own record of the bid. */
  async review(notice, offer, { bidThere = null, reportThere = null, counted = 0 } = {}) {
    const told = { ...(await this.look(notice)), offer, bidThere, reportThere, counted };
    const { bid } = told;
    if (!bid) throw new Refusal("This browser has no record of your bid, so it cannot hold the offer to it. Report from where you bid.");
    await refuse("offer", told, this.checks);
    const account = await this.account();
    const [question, size] = askingOf(told);
    const codes = kappa(question, size);
    const [spending, overall] = [account.spending(offer.question.attribute), account.spending(OVERALL)];
    const nanos = epsilonNanos(offer.q_numerator, codes);
    return {
      told, offer, question, domainSize: size, spending, overall,
      get said() { return askedInWords(told.promise, offer); },
      waits: waits(told.promise, offer),
      bidMicros: bid.bid_micros,
      epsilon: epsilon(offer.q_numerator, codes),
      epsilonNanos: nanos,
      leastPaymentMicros: leastPaymentMicros(bid.bid_micros, offer.q_numerator, codes),
      withinCap: nanos <= Math.min(spending.leftNanos, overall.leftNanos),
      asks: asksOf(account, this.market, told),
    };
  }

  /** Bind the round to its offer, draw and question, before they are shown: others are refused for good. */
  async keepTold({ told, offer }) {
    const [round, root, asked] = [offer.round_id, told.notice.bids_root, questionOf(offer)];
    const now = { ...(root && offer.lots ? { lots: lotsOf(offer, root) } : {}), offer: offerOf(offer), ...(asked ? { question: asked } : {}) };
    const rows = await this.store.append((rows) => {
      const before = accountOf(rows).of(this.market, round).map(({ kind }) => kind);
      return chain(rows, Object.keys(now).filter((kind) => !before.includes(kind)).map((kind) => ({ kind, ...this.at(round), ...now[kind] })));
    });
    const account = accountOf(rows); // another tab may have been told something else since this one looked
    const [lots, first, question] = [account.lots(this.market, round), account.offer(this.market, round), account.question(this.market, round)];
    const stands = Object.fromEntries(Object.entries(this.checks).filter(([name]) => FIRST_STANDS.includes(name)));
    await refuse("offer", { ...told, lots, first, asked: question }, stands);
  }

  /** Draw once, charge and store in one transaction; a round reported on before gives its old record. `fresh` is the
   * offer as the market tells it now, with its clock; `agreed` names what the owner agreed to of `review.asks`. */
  async report(review, code, given) {
    try {
      return await this.#draw(review, code, given);
    } catch (refusal) {
      const made = await this.reportFor(review.offer.round_id);
      if (!made) throw refusal;
      return made; // from before, or meanwhile from another tab: no word that nothing was drawn would be true
    }
  }

  async #draw(review, code, { fresh, nowMs, agreed = [] }) {
    const { offer } = review;
    refuseOutside(review, code);
    await refuse("drawing", { ...review.told, offer: fresh, shown: offer }, this.checks);
    for (const [name, sentence] of Object.entries(review.asks)) {
      if (!agreed.includes(name)) throw new Refusal(`You have not agreed to this: ${sentence} Nothing was drawn and nothing was sent.`, "OwnerMustAgree");
    }
    await this.keepTold(review);
    const { attribute, text } = offer.question;
    const shown = Object.fromEntries(Object.entries(review.asks).filter(([name]) => agreed.includes(name)));
    const nextWord = this.words(); // throws here, before anything is stored, where there is no entropy
    const rows = await this.store.append((rows) => {
      const account = accountOf(rows);
      if (account.report(this.market, offer.round_id)) return [];
      const kept = admitted(account, this.market, review.told, shown);
      for (const name of [attribute, OVERALL]) {
        if (review.epsilonNanos > account.spending(name).leftNanos) {
          throw new Refusal("This would pass your lifetime cap: nothing was drawn and nothing was sent.", "CapReached");
        }
      }
      const body = JSON.stringify({ terms_hash: offer.terms_hash, code: ask(review.question, review.domainSize, code, offer.q_numerator, nextWord) });
      const charge = { ...this.at(offer.round_id), attribute, text, terms_hash: offer.terms_hash, epsilon_nanos: review.epsilonNanos, payment_micros: offer.payment_micros };
      return chain(rows, [...kept, { kind: "drawn", ...charge, drawn_at_ms: nowMs, body }]);
    });
    return accountOf(rows).report(this.market, offer.round_id);
  }

  /** Hold the market's receipt against the offer and the report, and keep it. */
  async takeReceipt(notice, receipt) {
    const told = { ...(await this.look(notice)), reportThere: receipt };
    if (!told.report) throw new Refusal("There is no receipt for a report of this device.");
    if (told.report.accepted_at_ms !== null && !fallsShort(told.bid, told.report.receipt)) return;
    await refuse("report receipt", told, this.checks);
    await this.note("accepted", { ...this.at(notice.round_id), at_ms: receipt.received_at_ms, receipt: JSON.stringify(receipt) });
  }

  async bidFor(roundId) {
    return (await this.account()).bid(this.market, roundId);
  }

  async reportFor(roundId) {
    return (await this.account()).report(this.market, roundId);
  }

  /** Everything that ever left this browser, oldest first. */
  async history() {
    return (await this.account()).reports();
  }
}

function chain(rows, added) {
  const all = [...rows];
  for (const fields of added) all.push(nextRow(all, fields));
  return all.slice(rows.length);
}
