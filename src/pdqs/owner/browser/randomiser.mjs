// The local randomiser in the browser: the definition at the top of pdqs/privacy/randomiser.py, word for word.
//
// With q = N / 2^32 and words drawn uniformly from 0..2^32 - 1:
//   1. the coin word c: the truth is told when c < N;
//   2. die words d until one is below 2^32 - (2^32 mod k): the random value is d mod k, exactly uniform;
//   3. the report is the value's code if the coin chose the truth, else the random value.
//
// Both draws are always made and step 3 is a mask, not a branch. The coin never leaves drawReport.

export const WORD_BITS = 32;

export class NoEntropyError extends Error {
  constructor() {
    super("This browser gives no secure random numbers, so nothing was drawn and nothing was sent.");
    this.name = "NoEntropyError";
  }
}

/** A function that gives one uniform 32-bit word at a time from the browser's secure source, or throws. */
export function systemWords(source = globalThis.crypto) {
  if (typeof source?.getRandomValues !== "function") throw new NoEntropyError();
  return () => source.getRandomValues(new Uint32Array(1))[0];
}

/** The first word that is refused: the largest multiple of k that fits in `bits` bits. */
export function diceLimit(domainSize, bits = WORD_BITS) {
  const words = 2 ** bits;
  if (!Number.isInteger(domainSize) || domainSize < 2 || domainSize > words) {
    throw new RangeError(`a domain of ${domainSize} values cannot be drawn`);
  }
  return words - (words % domainSize);
}

/** One report: steps 1 to 3. `nextWord` gives the words; `bits` is below 32 only where all words are enumerated. */
export function drawReport(code, numerator, domainSize, nextWord = systemWords(), bits = WORD_BITS) {
  const limit = diceLimit(domainSize, bits);
  if (!Number.isInteger(code) || code < 0 || code >= domainSize) throw new RangeError("the value is not in the domain");
  if (!Number.isInteger(numerator) || numerator < 0 || numerator >= 2 ** bits) {
    throw new RangeError("q must be at least 0 and below 1");
  }
  const coin = nextWord();
  let die = nextWord();
  while (die >= limit) die = nextWord();
  const random = die % domainSize;
  const truth = Math.floor((coin - numerator) / 2 ** bits); // -1, all ones, when coin < numerator; else 0
  return (random ^ ((random ^ code) & truth)) >>> 0;
}
