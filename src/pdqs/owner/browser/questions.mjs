// The four questions in the browser: the definition at the top of pdqs/privacy/asking.py, word for word.
//
// A question is {kind: "value"} | {kind: "level", levels} | {kind: "side", code} | {kind: "bucket", buckets, seed}, of
// a domain of k values whose codes are 0..k-1. Words are drawn in this order, every one of them always:
//   1. level alone: rounding words until one is below 2^32 - (2^32 mod D), D = max(k - 1, 2); with (l, r) the quotient
//      and rest of t (g - 1) by k - 1, the level is l + 1 if (word mod D) < r, else l;
//   2. the coin word and the die words of randomiser.mjs, over kappa codes.
//
// The device prices and charges the kappa of the question it answers, and never answers a second one in a round.

import { styled } from "./money.mjs";
import { WORD_BITS, diceLimit, drawReport, systemWords } from "./randomiser.mjs";

const LARGEST_BUCKETED = 2 ** 20;

function within(value, least, most, what) {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${what} must be from ${least} to ${most}`);
  }
  return value;
}

/** How many report codes the question has; throws when it is not a question of a domain of k values. */
export function kappa(question, domainSize) {
  within(domainSize, 2, 2 ** 31, "the size of the domain");
  switch (question?.kind) {
    case "value":
      return domainSize;
    case "level":
      return within(question.levels, 2, domainSize, "the number of levels");
    case "side":
      within(question.code, 0, domainSize - 2, "the code of a side");
      return 2;
    case "bucket":
      within(domainSize, 2, LARGEST_BUCKETED, "the size of a bucketed domain");
      within(question.seed, 0, 2 ** 32 - 1, "the seed of a bucket question");
      return within(question.buckets, 2, domainSize, "the number of buckets");
    default:
      throw new RangeError("this is no question that a device knows");
  }
}

/** One report, 0..kappa-1. `nextWord` gives the words; `bits` is below 32 only where all words are enumerated. */
export function ask(question, domainSize, code, numerator, nextWord = systemWords(), bits = WORD_BITS) {
  const codes = kappa(question, domainSize);
  within(code, 0, domainSize - 1, "the value's code");
  return drawReport(prepared(question, domainSize, code, nextWord, bits), numerator, codes, nextWord, bits);
}

function prepared(question, domainSize, code, nextWord, bits) {
  switch (question.kind) {
    case "level":
      return roundAtRandom(code, domainSize, question.levels, nextWord, bits);
    case "side":
      return Number(code <= question.code);
    case "bucket":
      return bucketOf(code, bucketMap(question.seed, domainSize), question.buckets);
    default:
      return code;
  }
}

function roundAtRandom(code, domainSize, levels, nextWord, bits) {
  const steps = domainSize - 1;
  const sides = Math.max(steps, 2);
  const limit = diceLimit(sides, bits);
  // A code times a number of levels may pass 2^53, so the quotient is taken in whole numbers of any length.
  const scaled = BigInt(code) * BigInt(levels - 1);
  const low = Number(scaled / BigInt(steps));
  const over = Number(scaled % BigInt(steps));
  let word = nextWord();
  while (word >= limit) word = nextWord();
  return low + Number(word % sides < over);
}

/** The public map of a seed: place (a t + b) mod p, p the least prime that is at least k. */
export function bucketMap(seed, domainSize) {
  const p = leastPrime(domainSize);
  const words = publicWords(seed);
  const a = 1 + (p > 2 ? publicDie(p - 1, words) : publicDie(1, words));
  return { a, b: publicDie(p, words), p };
}

export function bucketOf(code, { a, b, p }, buckets) {
  return Math.floor((((a * code + b) % p) * buckets) / p); // below 2^41: exact in a number
}

function leastPrime(size) {
  let p = size;
  const isPrime = (n) => {
    for (let d = 2; d * d <= n; d += 1) if (n % d === 0) return false;
    return true;
  };
  while (!isPrime(p)) p += 1;
  return p;
}

function publicDie(sides, words) {
  const limit = 2 ** 32 - (2 ** 32 % sides);
  let word = words.next().value;
  while (word >= limit) word = words.next().value;
  return word % sides;
}

/** The words of Philox4x32-10 at the counter (0, 0, block, 0), keyed by the seed, block after block. */
function* publicWords(seed) {
  for (let block = 0; ; block += 1) yield* philox([0, 0, block, 0], [seed, 0]);
}

function philox(counter, key) {
  const word = (x) => Number(x & 0xffffffffn);
  let [x0, x1, x2, x3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < 10; round += 1) {
    const p0 = BigInt(x0) * 0xd2511f53n;
    const p1 = BigInt(x2) * 0xcd9e8d57n;
    [x0, x1, x2, x3] = [
      (word(p1 >> 32n) ^ x1 ^ k0) >>> 0,
      word(p1),
      (word(p0 >> 32n) ^ x3 ^ k1) >>> 0,
      word(p0),
    ];
    k0 = (k0 + 0x9e3779b9) % 2 ** 32;
    k1 = (k1 + 0xbb67ae85) % 2 ** 32;
  }
  return [x0, x1, x2, x3];
}

/** A number as it would be typed: twelve digits, all of them written out. The twin of `in_full` in pdqs/model/figures.py. */
function inFull(x) {
  const [lead, power] = Math.abs(x).toExponential(11).split("e");
  const [digits, places] = [lead.replace(".", "").replace(/0+$/, ""), Number(power) + 1];
  const whole = places > 0 ? digits.slice(0, places).padEnd(places, "0") : "0";
  const part = places > 0 ? digits.slice(places) : digits && "0".repeat(-places) + digits;
  return `${x < 0 ? "-" : ""}${whole}${part ? `.${part}` : ""}`;
}

/** The same as people read it: thousands apart, as this market writes numbers. */
export function figure(x) {
  const [whole, part] = inFull(x).split(".");
  return styled(`${whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ",")}${part ? `.${part}` : ""}`);
}

/** The question in plain words; `domain` is {start, step, size} and `subject` such as "monthly income". */
export function said(question, domain, subject) {
  kappa(question, domain.size);
  switch (question.kind) {
    case "side":
      return `Is your ${subject} at most ${figure(domain.start + domain.step * question.code)}?`;
    case "level": {
      const gap = (domain.step * (domain.size - 1)) / (question.levels - 1);
      const numbers = Array.from({ length: question.levels }, (_, level) => figure(domain.start + gap * level));
      const last = numbers.pop();
      return (
        `Which is nearer to your ${subject}: ${numbers.join(", ")} or ${last}?` +
        " (Rounded up or down at random, right on average.)"
      );
    }
    case "bucket":
      return `Which of these ${question.buckets} groups, mixed for you alone, holds your ${subject}?`;
    default:
      return `What is your ${subject}?`;
  }
}

const ASKED_FOR = /^what(?: is|'s|\u2019s) your ([^ ?][^?]*?) *\?$/i;

/** A side in plain words, where the round as a whole asks `text`. */
export function saidOf(question, domain, text) {
  const subject = ASKED_FOR.exec(text);
  return subject ? said(question, domain, subject[1]) : said(question, domain, "").replace(/^Is your {2}/, () => `${text} Is it `).trim(); // by a function: $ stands for nothing else in it
}
