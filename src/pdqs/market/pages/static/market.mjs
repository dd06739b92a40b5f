// Requests of the owner's pages to the market, and figures for people.

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content ?? "";

export const owner = () => meta("user");

/** A request under /v1; the market's own sentence is the error. */
export async function ask(path, { method = "GET", body } = {}) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) Object.assign(headers, { "Content-Type": "application/json", "X-CSRF-Token": meta("csrf-token") });
  const answer = await fetch(`/v1${path}`, { method, body, headers, redirect: "error", cache: "no-store" });
  const found = await answer.json();
  if (!answer.ok) throw new Error(`The market said no: ${found.detail ?? answer.status}.`);
  return found;
}

/** Micro-units to the last one: at least two decimals, no idle zeros after them. */
export function money(micros) {
  const [whole, part] = (Math.abs(micros) / 1e6).toFixed(6).split(".");
  const decimals = part.replace(/0+$/, "").padEnd(2, "0");
  return `${micros < 0 ? "-" : ""}${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${decimals}`;
}

/** A decimal number of money as whole micro-units, exactly; null when it is none. */
export function micros(text) {
  const found = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text.trim().replaceAll(",", ""));
  return found ? Number(found[1]) * 1e6 + Number((found[2] ?? "").padEnd(6, "0")) : null;
}

export const epsilonText = (nanos) => (nanos / 1e9).toFixed(4);

export function trouble(fault) {
  const box = document.getElementById("trouble");
  box.textContent = fault.message;
  box.hidden = false;
}

export function calm() {
  document.getElementById("trouble").hidden = true;
}
