// Requests of the owner's pages to the market, and figures for people.

export { micros, money } from "/device/money.mjs";

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

export const epsilonText = (nanos) => (nanos / 1e9).toFixed(4);

export function trouble(fault) {
  const box = document.getElementById("trouble");
  box.textContent = fault.message;
  box.hidden = false;
}

export function calm() {
  document.getElementById("trouble").hidden = true;
}
