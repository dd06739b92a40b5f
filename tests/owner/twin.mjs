// Runs the browser's modules outside a browser and prints what they did as JSON.
// node twin.mjs MODULES_DIRECTORY < JSON of {reports, epsilons, prices, odds, enumerate, consents}

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [directory] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(join(directory, name)));
const asked = JSON.parse(readFileSync(0, "utf8"));

const { drawReport, systemWords } = await load("randomiser.mjs");
const price = await load("price.mjs");

function replay({ code, numerator, domain_size, words, bits }) {
  let used = 0;
  const report = drawReport(code, numerator, domain_size, () => words[used++] ?? NaN, bits);
  return [report, used];
}

/** How often each report comes out over all coin and die words of `bits` bits; refused dice are counted apart. */
function enumerated({ bits, domain_size, numerator, code }) {
  const counts = new Array(domain_size).fill(0);
  let refused = 0;
  for (let coin = 0; coin < 2 ** bits; coin += 1) {
    for (let die = 0; die < 2 ** bits; die += 1) {
      const [report, used] = replay({ code, numerator, domain_size, words: [coin, die, 0], bits });
      if (used === 2) counts[report] += 1;
      else refused += 1;
    }
  }
  return { counts, refused };
}

async function consents(cases) {
  const { Device } = await load("device.mjs");
  const { memoryStore } = await load("store.mjs");
  const results = [];
  for (const { notice, offer, bid, caps, code, agreed, counted, entries } of cases) {
    let words = 0;
    const counting = () => { const next = systemWords(); return () => { words += 1; return next(); }; };
    const device = new Device(memoryStore(), bid.market, { words: counting });
    try {
      for (const { kind, ...fields } of [...(entries ?? []), { kind: "bid", ...bid }]) await device.note(kind, fields);
      for (const [name, nanos] of Object.entries(caps ?? {})) await device.setCap(name, nanos);
      const review = await device.review(device.read("notice", notice), device.read("offer", offer), { counted: counted ?? 0 });
      const given = { fresh: offer, nowMs: 1, agreed: agreed ?? Object.keys(review.asks) };
      const first = await device.report(review, code, given);
      const drawn = words;
      const again = await device.report(review, code, { ...given, nowMs: 2 });
      const { spentNanos } = await device.spending(offer.question.attribute);
      const rows = await device.store.rows();
      results.push({ body: first.body, same: again.body === first.body && words === drawn, spentNanos, kept: first, rows, asks: review.asks });
    } catch (fault) {
      results.push({ refused: fault.name, message: fault.message, words });
    }
  }
  return results;
}

async function hashes(texts) {
  const { sha256 } = await load("sha256.mjs");
  return texts.map(sha256);
}

/** The checks by name, each with its stage. */
async function names() {
  const { CHECKS } = await load("checks.mjs");
  return Object.fromEntries(Object.entries(CHECKS).map(([name, [stage]]) => [name, stage]));
}

/** The bid that stands by these entries, whether it is signed for, and those that wait for a receipt. */
async function standing(cases) {
  const { Account } = await load("account.mjs");
  return cases.map(({ entries, market, round }) => {
    const account = new Account(entries);
    const bid = account.bid(market, round);
    return [bid && bid.bid_micros, bid && bid.accepted, account.unsignedBids(market, round).map((one) => one.bid_micros)];
  });
}

/** When she last withdrew by these entries. */
async function withdrawn(cases) {
  const { Account } = await load("account.mjs");
  return cases.map(({ entries, market, round }) => new Account(entries).withdrawnMs(market, round));
}

function refusal(action) {
  try {
    action();
    return null;
  } catch (fault) {
    return fault.name;
  }
}

const out = {
  reports: (asked.reports ?? []).map(replay),
  epsilons: (asked.epsilons ?? []).map((c) => [
    price.epsilon(c.numerator, c.domain_size),
    price.epsilonNanos(c.numerator, c.domain_size),
  ]),
  prices: (asked.prices ?? []).map((c) => price.isFair(c.bid_micros, c.numerator, c.domain_size, c.payment_micros)),
  odds: (asked.odds ?? []).map(price.oddsInWords),
  enumerate: (asked.enumerate ?? []).map(enumerated),
  consents: await consents(asked.consents ?? []),
  hashes: await hashes(asked.hashes ?? []),
  checks: await names(),
  standing: await standing(asked.standing ?? []),
  withdrawn: await withdrawn(asked.withdrawn ?? []),
  withoutEntropy: [refusal(() => systemWords(undefined)), refusal(() => systemWords({})), refusal(() => systemWords(null))],
};
process.stdout.write(JSON.stringify(out));
