// Numbers that an owner may answer, in words, and what she types read as one of them: the twin of pdqs/owner/answers.py, with
// the same sentences.

import { alone, decimalMark } from "./money.mjs";
import { figure } from "./questions.mjs";
import { NAMES, plainDecimal } from "./spelling.mjs";

const NEAR = 1e-6; // of a step: so near is a number to one of the answers, whatever became of its last digit

const last = ({ start, step, size }) => start + step * (size - 1);
const isWhole = ({ start, step }) => Number.isInteger(start) && Number.isInteger(step);

/** A number as it would be typed. */
function typed(value) {
  const between = decimalMark() === "." ? "," : ".";
  return figure(value).replaceAll(between, "");
}

/** The numbers of a grid. */
export function numbersInWords(domain) {
  const steps = domain.step === 1 ? "" : ` in steps of ${figure(domain.step)}`;
  return `a ${isWhole(domain) ? "whole " : ""}number from ${figure(domain.start)} to ${figure(last(domain))}${steps}`;
}

/** Why a number within the ends is none of the answers. */
function between(given, value, domain) {
  const [said, mark] = [`"${[...given].slice(0, 40).join("")}"`, decimalMark()];
  if (!isWhole(domain) || Number.isInteger(value)) return `${said} is between two of the answers.`;
  if (/^[1-9][0-9]{0,2}[.,][0-9]{3}$/.test(given) && given.includes(mark)) {
    return `${said} is ${typed(value)} here: if you mean ${given.replace(mark, "")}, write it without ${NAMES[mark]}.`;
  }
  return `${said} is not a whole number.`;
}

/** The number that she typed: { code }, or { fault }, what to write instead. */
export function numberTyped(text, domain) {
  const [given, give] = [text.trim(), `Give ${numbersInWords(domain)}.`];
  if (!given) return { fault: give };
  const below = /^[-\u2212]/.test(given);
  const like = typed(domain.start + domain.step * Math.floor(domain.size / 2));
  const { digits, fault } = plainDecimal(alone(below ? given.slice(1).trim() : given), decimalMark(), isWhole(domain), like);
  if (fault) return { fault: `${fault[0].toUpperCase()}${fault.slice(1)}. ${give}` };
  const value = (below ? -1 : 1) * Number(digits);
  const place = (value - domain.start) / domain.step;
  const code = Math.floor(Math.min(Math.max(place, 0), domain.size - 1) + 0.5);
  const off = Math.abs(place - code);
  if (off <= NEAR || (off < 1 && figure(value) === figure(domain.start + domain.step * code))) return { code }; // as it is shown
  return { fault: value < domain.start || value > last(domain) ? give : `${between(given, value, domain)} ${give}` };
}
