// What an offer costs in privacy and whether it pays for it: the same figures as pdqs/owner/price.py.

const Q_UNITS = 2 ** 32;
const UP = 1 + 2 ** -50; // a few ulps, so that rounding never favours the broker
export const NANOS_PER_EPSILON = 1e9;
const MOST_SAID = 20; // no terms with a higher cap are read

/** eps = ln(1 + k q / (1 - q)) with q = numerator / 2^32. */
export function epsilon(numerator, domainSize) {
  if (!Number.isInteger(numerator) || numerator < 0 || numerator >= Q_UNITS) throw new RangeError("q is not below 1");
  if (!Number.isInteger(domainSize) || domainSize < 2) throw new RangeError("a domain has at least 2 values");
  const q = numerator / Q_UNITS;
  return Math.log1p((domainSize * q) / (1 - q));
}

/** eps in whole billionths, rounded up: what the device's ledger counts. */
export function epsilonNanos(numerator, domainSize) {
  return Math.ceil(epsilon(numerator, domainSize) * UP * NANOS_PER_EPSILON);
}

/** The least whole payment that covers bid x eps, in doubt one micro-unit more. */
export function leastPaymentMicros(bidMicros, numerator, domainSize) {
  return Math.ceil(bidMicros * epsilon(numerator, domainSize) * UP);
}

/** Whether the payment covers the owner's own price for this much privacy. */
export function isFair(bidMicros, numerator, domainSize, paymentMicros) {
  return paymentMicros >= leastPaymentMicros(bidMicros, numerator, domainSize);
}

/** The same as people say it: "88:12"; never as certain as it is not. Beyond 99 in 100 the odds themselves, rounded up. */
export function oddsInWords(epsilon) {
  const share = 100 * sureness(epsilon);
  if (share <= 99) return `${Math.round(share)}:${100 - Math.round(share)}`;
  return epsilon <= MOST_SAID ? `${Math.ceil(Math.exp(epsilon))}:1` : "more than 99:1";
}

/** How sure someone can become who first held two answers equally likely: e^eps / (1 + e^eps). */
export function sureness(epsilon) {
  return 1 / (1 + Math.exp(-epsilon));
}
