// What the device's page shows and how it answers: one thing at a time for each button, faults in words, and in sight.

import { Refusal } from "./refusal.mjs";
import { asker } from "./visit.mjs";

export const at = (id) => document.getElementById(id);

export function element(tag, fields = {}, ...children) {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
}

export const paragraph = (words) => element("p", { textContent: words });
/** Names, and what they say: words, elements, or several of them. */
export const table = (pairs) => element("dl", {}, ...pairs.flatMap(([name, value]) => [element("dt", { textContent: name }), element("dd", {}, ...[value].flat())]));
export const details = (summary, ...children) => element("details", {}, element("summary", { textContent: summary }), ...children);

export { printable } from "./spelling.mjs";

export { moment } from "./times.mjs";

/** Nobody answered. It is no refusal: neither of the device's nor of the market's. */
class Silence extends Error {
  constructor(address, isKnown) {
    const first = `Look whether the address is right, or try again later. A market answers only the pages that it knows of; this one is ${location.origin}.`;
    const why = navigator.onLine ? (isKnown ? "Look whether you are online, or try again later." : first) : "You are offline.";
    super(`No answer came from ${address}. ${why} What is kept here is safe, and nothing is drawn twice.`);
    this.name = "Silence";
  }
}

/** How to ask a market by token; without one, as nobody. */
export function asking(address, token = "") {
  const ask = asker(address, { Authorization: token && `Bearer ${token}` });
  return (...given) => ask(...given).catch((fault) => { throw fault instanceof TypeError ? new Silence(address, Boolean(token)) : fault; }); // how fetch says so
}

function inWords(fault) {
  if (fault.status === 401) return `${fault.message} Enrol there again with a fresh code; what is kept here stays.`;
  if (fault instanceof Refusal || ["MarketRefusal", "Silence"].includes(fault.name)) return fault.message;
  if (fault instanceof DOMException) return `The browser could not keep this, so nothing more was done (${fault.message}).`;
  return `Something went wrong in this page (${fault.message}). Load it again; what is kept here is safe.`;
}

/** Put words into a box and bring it into view: the button that asked may be screens below. */
function tell(box, words) {
  box.textContent = words;
  box.hidden = false;
  box.scrollIntoView({ block: "nearest" });
}

export const trouble = (fault) => tell(at("trouble"), inWords(fault));
export const say = (words) => tell(at("said"), words);

let afterwards = async () => {};
export const afterEach = (action) => { afterwards = action; };

/** Run what a person started with these buttons, which rest meanwhile; what goes wrong is said on the page. */
export async function doing(buttons, action) {
  buttons[0]?.closest("section")?.querySelector("h2").after(at("said"), at("trouble")); // beside what was pressed
  at("trouble").hidden = true;
  at("said").textContent = "";
  buttons.forEach((button) => { button.disabled = true; });
  try {
    await action();
  } catch (fault) {
    trouble(fault);
  } finally {
    buttons.forEach((button) => { button.disabled = false; });
  }
  await afterwards();
}

export function pressed(words, action, fields = {}) {
  const button = element("button", { type: "button", textContent: words, ...fields });
  button.addEventListener("click", () => doing([button], action));
  return button;
}

export const onSubmit = (form, action) => form.addEventListener("submit", (event) => {
  event.preventDefault();
  doing([...form.querySelectorAll("button")], action);
});

/** Of several that were started, the last one alone is shown: what comes late would stand under another's name. */
export function turns() {
  let last = 0;
  return () => { last += 1; const mine = last; return () => mine === last; };
}
