// Her answer as the form has it, and what she must agree to first. What stands against it is said beside it, and it has the
// focus: on a phone the top of the page is screens away.

import { numberTyped } from "../device/answers.mjs";
import { asAgreement } from "../device/asks.mjs";
import { NOT_AMONG } from "../device/device.mjs";

const at = (id) => document.getElementById(id);
const choices = () => [...document.querySelectorAll('[data-group="answer"]')];

/** Where the answer is typed, or the first of those to choose from: a group of them cannot be focused itself. */
const fieldOf = (answer) => answer.querySelector("input") ?? answer;

/** What stands against the answer, or that nothing does; it is about the answer as it stands. */
function sayFault(words) {
  at("answer-fault").textContent = words;
  at("answer-fault").hidden = !words;
  at("answer-nearest")?.toggleAttribute("hidden", Boolean(words)); // the fault says more
  fieldOf(at("answer")).setAttribute("aria-invalid", String(Boolean(words)));
}

/** Radio buttons without a name, so that no form can submit them, still work as one group. */
function groupChoices() {
  const radios = choices();
  radios.forEach((radio, place) => {
    radio.addEventListener("change", () => radios.forEach((other) => { if (other !== radio) other.checked = false; }));
    radio.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = radios[(place + step + radios.length) % radios.length];
      next.focus();
      next.click();
    });
  });
}

/** Let the form work: a fault goes with the answer that it was about. */
export function answerForm() {
  groupChoices();
  for (const change of ["input", "change"]) at("answer").addEventListener(change, () => sayFault(""));
}

/** The code of the answer as it stands, or what to do instead. */
function read(answer) {
  if (answer.tagName === "INPUT") {
    const { start, step, size } = answer.dataset;
    return numberTyped(answer.value, { start: Number(start), step: Number(step), size: Number(size) });
  }
  const value = answer.tagName === "SELECT" ? answer.value : (answer.querySelector("input:checked")?.value ?? "");
  return value === "" ? { fault: "Choose one of the answers." } : { code: Number(value) };
}

/** Her answer as a code of the domain; null, with the reason beside it, where it is none. Read at the moment of sending and
 * kept nowhere. */
export function answerGiven() {
  const answer = at("answer");
  const { code, fault = "" } = read(answer);
  const wayOn = "leavesOut" in answer.dataset ? ` ${NOT_AMONG}` : "";
  sayFault(fault && `${fault} Nothing was drawn and nothing was sent.${wayOn}`);
  if (!fault) return code;
  fieldOf(answer).focus();
  return null;
}

/** One box to tick for everything that the owner must agree to first. */
export function askFirst({ asks }) {
  const place = at("asks");
  place.replaceChildren(...Object.entries(asks).flatMap(([name, sentence], number) => {
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), { type: "checkbox" });
    const fault = Object.assign(document.createElement("p"), { className: "fault", id: `ask-fault-${number}`, hidden: true });
    box.dataset.agree = name;
    box.setAttribute("aria-describedby", fault.id);
    box.addEventListener("change", () => sayUnticked(box, ""));
    label.className = "choice";
    label.append(box, Object.assign(document.createElement("span"), { textContent: asAgreement(sentence) }));
    return [label, fault];
  }));
  place.hidden = !place.children.length;
}

function sayUnticked(box, words) {
  const fault = at(box.getAttribute("aria-describedby"));
  fault.textContent = words;
  fault.hidden = !words;
  box.setAttribute("aria-invalid", String(Boolean(words)));
  box.closest("label").classList.toggle("wrong", Boolean(words));
}

/** Whether a box is left that she has not ticked; it is marked and has the focus. */
export function isUnticked() {
  const boxes = [...document.querySelectorAll("[data-agree]:not(:checked)")];
  boxes.forEach((box) => sayUnticked(box, "Tick this to go on, if you agree. Nothing was drawn and nothing was sent."));
  boxes[0]?.focus();
  return boxes.length > 0;
}

/** What she agreed to, by name. */
export const agreed = () => [...document.querySelectorAll("[data-agree]:checked")].map((box) => box.dataset.agree);
