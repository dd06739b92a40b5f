// JSON read strictly, and with its numbers as they are written: a whole number is a bigint, so that 1 and 1.0 stay two things,
// as they are for the twin. What is endless, in digits or in nesting, is not read.

const MOST_DEEP = 32; // objects and lists within one another
export const MOST_MARKS = 65_536; // no answer to a device has more; her round, with 10,000 answers twice, has 20,000

/** How many values a JSON text can have at most: the commas and opening brackets outside its texts. */
export function marksIn(json) {
  let [marks, quoted] = [0, false];
  for (let at = 0; at < json.length; at += 1) {
    const mark = json[at];
    if (mark === '"') quoted = !quoted;
    else if (quoted && mark === "\\") at += 1;
    else if (!quoted && (mark === "," || mark === "[" || mark === "{")) marks += 1;
  }
  return marks;
}

const need = (good) => { if (!good) throw new TypeError("this is not JSON as it is written here"); };

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+|[ \t\n\r]+/g;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const LITERALS = new Map([["true", true], ["false", false], ["null", null]]);

function textOf(token) {
  const text = JSON.parse(token);
  need(!/\p{Cs}/u.test(text)); // half a character
  return text;
}

/** A number: a bigint where it is written as a whole one, so that 1 and 1.0 stay two things. */
function numberOf(token) {
  const [, point, power] = NUMBER.exec(token) ?? need(false);
  if (point !== undefined || power !== undefined) {
    need(Number.isFinite(Number(token)));
    return Number(token);
  }
  need(token.length <= 17 && Number.isSafeInteger(Number(token)));
  return BigInt(token);
}

/** The values of a JSON text, whole numbers as bigints; throws where it is none, or endless. */
export function parsed(json) {
  JSON.parse(json); // first: where a quote is never closed, looking for words would look at the rest again at each
  const tokens = json.match(TOKEN) ?? [];
  need(tokens.join("") === json);
  const words = tokens.filter((token) => !/^[ \t\n\r]/.test(token));
  let at = 0;
  const expect = (word) => need(words[at++] === word);
  const several = (end, one) => {
    const found = [];
    if (words[at] === end) { at += 1; return found; }
    for (;;) {
      found.push(one());
      if (words[at] === end) { at += 1; return found; }
      expect(",");
    }
  };
  const value = (deep) => {
    const word = words[at++];
    need(word !== undefined);
    if (word === "{" || word === "[") need(deep <= MOST_DEEP);
    if (word === "[") return several("]", () => value(deep + 1));
    if (word === "{") {
      return Object.fromEntries(several("}", () => {
        need(words[at]?.[0] === '"');
        const name = textOf(words[at++]);
        expect(":");
        return [name, value(deep + 1)];
      }));
    }
    if (word[0] === '"') return textOf(word);
    return LITERALS.has(word) ? LITERALS.get(word) : numberOf(word);
  };
  const found = value(1);
  need(at === words.length);
  return found;
}
