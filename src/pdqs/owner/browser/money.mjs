// Micro-units and text: the twin of pdqs/money.py, and the only place in the browser where one becomes the other.

/** Micro-units to the last one: at least two decimals, no idle zeros after them. */
export function money(micros) {
  const [whole, part] = (Math.abs(micros) / 1e6).toFixed(6).split(".");
  const decimals = part.replace(/0+$/, "").padEnd(2, "0");
  return `${micros < 0 ? "-" : ""}${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${decimals}`;
}

/** Micro-units to the hundredth, rounded down: what is promised is never shown as more. */
export const hundredths = (micros) => (Math.floor(micros / 1e4) / 100).toFixed(2);

/** A decimal amount of money as whole micro-units, exactly; null when it is none. */
export function micros(text) {
  const plain = text.trim().replaceAll(",", "");
  const found = /[0-9]/.test(plain) ? /^([0-9]{0,9})(?:\.([0-9]{0,6}?)0*)?$/.exec(plain) : null;
  return found ? Number(found[1]) * 1e6 + Number((found[2] ?? "").padEnd(6, "0")) : null;
}
