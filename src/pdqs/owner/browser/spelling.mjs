// Numbers as people write them: the twin of pdqs/model/spelling.py, with the same sentences.

const OTHER = { ".": ",", ",": "." };
export const NAMES = { ".": "a point", ",": "a comma" };
const DIGITS = /^[0-9]*$/;

/** The digits before the decimals, or null when they are parted otherwise than by threes and by one sign. */
function ungrouped(front, mark) {
  const same = front.replace(/[ \u00a0\u2007\u2009\u202f]/g, " ").replace(/['\u2019]/g, "'");
  const signs = [" ", "'", OTHER[mark]].filter((sign) => same.includes(sign));
  if (!signs.length) return DIGITS.test(same) ? same : null;
  const [first, ...rest] = same.split(signs[0]);
  return /^[1-9][0-9]{0,2}$/.test(first) && rest.every((part) => /^[0-9]{3}$/.test(part)) ? first + rest.join("") : null;
}

function read(given, mark, whole) {
  const place = given.indexOf(mark);
  const [front, decimals] = place < 0 ? [given, ""] : [given.slice(0, place), given.slice(place + 1)];
  const digits = ungrouped(front, mark);
  const lone = place < 0 && !whole && front.split(OTHER[mark]).length === 2;
  if (lone || digits === null || !DIGITS.test(decimals) || !(digits + decimals)) return null;
  return `${digits || "0"}.${decimals || "0"}`;
}

/** What to write instead, in a sentence. */
function doubt(given, mark, like) {
  const said = `"${[...given].slice(0, 40).join("")}"`;
  const such = `write it like ${like}`;
  if (!given) return `nothing is written here: ${such}`;
  if (/\p{Nd}/u.test(given.replace(/[0-9]/g, ""))) return `${said} is not in the digits 0 to 9: ${such}`;
  if (/^[-\u2212(]/.test(given)) return `${said} is below zero`;
  if (/[0-9][eE][+-]?[0-9]/.test(given)) return `${said} is short for a longer number: write all of its digits`;
  const lone = /^([0-9]*)[.,]([0-9]+)$/.exec(given);
  if (lone && given.includes(OTHER[mark])) {
    const decimal = `${lone[1] || 0}${mark}${lone[2]}`;
    const here = `${NAMES[mark]} before the decimals`;
    if (/[1-9]/.test(lone[1])) return `${said} could mean ${decimal} or ${lone[1]}${lone[2]}: write the one that you mean, with ${here}`;
    return `${said} is to be written ${decimal}, with ${here}`;
  }
  const turned = read(given, OTHER[mark], false);
  if (turned !== null) return `${said} is to be written ${turned.replace(".", mark)}, with ${NAMES[mark]} before the decimals`;
  return `${said} is not a number: ${such}`;
}

/** A number's digits with a point before its decimals, as { digits }, or what to write instead, as { fault }; `like` is an
 * example of what to write. */
export function plainDecimal(text, mark = ".", whole = false, like = `12${mark}50`) {
  const given = text.trim();
  const digits = read(given, mark, whole);
  return digits === null ? { fault: doubt(given, mark, like) } : { digits };
}

/** A number that may be below zero; null when it is none or could be two. */
export function number(text, mark = ".") {
  const given = text.trim();
  const below = /^[-\u2212]/.test(given);
  const { digits } = plainDecimal(below ? given.slice(1) : given, mark);
  return digits === undefined ? null : (below ? -1 : 1) * Number(digits);
}

/** Words from outside as one line: nothing that turns the direction or starts a line, and not too long. The twin of
 * `printable` in pdqs/present/text.py. */
export function printable(words, most = 400) {
  const shown = [...String(words).replace(/[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, "?")];
  return shown.length <= most ? shown.join("") : `${shown.slice(0, most - 1).join("")}…`;
}

const SPACES = /[ \u00a0\u2000-\u200a\u202f\u205f\u3000]+/g;
const MARKS = /["\u00ab\u00bb\u201c-\u201f\u2033\u2036\u2039\u203a\u2e42\u300c-\u300f\u301d-\u301f\uff02]/g;

/** The same in quotation marks, where others' words stand beside the device's own; none of theirs closes the quotation, and wide
 * spaces among them do not pass for columns. The twin of `quoted` in pdqs/present/text.py. */
export const quoted = (words, most = 400) => `“${printable(String(words).replace(SPACES, " "), most).replace(MARKS, "'")}”`;
