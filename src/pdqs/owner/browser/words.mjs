// What words look like to the person who reads them: the twin of pdqs/model/looks.py and of pdqs/owner/words.py, with the same
// tables.

// A sign, and those that look like it, with their marks and forms taken apart (NFKD).
export const LOOKALIKES = [
  "a\u0251\u0430\u03b1\u237a b\u044c\u0185\u03b2\u13cf\u1472 \u0299\u0432 c\u0441\u03f2\u1d04\u2ca5",
  " d\u0501\u13e7\u146f e\u0435\u03b5\u04bd\u212e f\ua799\u0584\uab35 g\u0261\u0581\u018d",
  " h\u03b7\u04bb\u0570\u13c2 \u029c\u043d i\u0456\u13a5 \u0131\u0269\u03b9\ua647 j\u0458\u03f3\u0575",
  " k\u043a\u03ba\u1d0b\u0138\u2c95 l\u04cf\u2223\u01c0\u2502\u05d5\u0627\u0661\u06f1\u07ca\u2d4f",
  " m\u043c\u03bc\u1d0d\u2c99 n\u043f\u0578 o\u043e\u03bf\u0585\u101d\u10ff\u1d0f\u1d11\u05e1\u0647",
  "\u0665\u06f5\uab3d\u{1042c}\u2c9f p\u0440\u03c1\u03f1\u2ca3 q\u051b\u0566 r\u0433\u1d26\u2c85\uab47",
  " s\u0455\ua731\u{10448} t\u0442\u03c4\u1d1b u\u057d\u03c5\u028b\u1d1c\uab4e\uab52 v\u03bd\u0475\u1d20\u0667\u06f7",
  "\u2228\u22c1 w\u051d\u03c9\u1d21\u0561 x\u0445\u03c7\u00d7\u166e\u2cad y\u0443\u03b3\u10e7\u028f",
  " z\u03b6\u1d22 A\u0410\u0391\u13aa\u15c5\ua4ee\u2c80 B\u0412\u0392\u13f4\u15f7\ua4d0\u2c82",
  " C\u0421\u03f9\u13df\u1455\ua4da\u2ca4 D\u13a0\u15de\ua4d3 E\u0415\u0395\u13ac\u2d39\ua4f0\u22ff",
  " F\u03dc\ua4dd\ua798\u15b4 G\u050c\u13c0\ua4d6 H\u041d\u0397\u13bb\u157c\ua4e7\u2c8e",
  " I\u0406\u0399\u04c0\ua4f2\u2c92\u16c1 J\u0408\u037f\u13ab\u148d\ua4d9 K\u041a\u039a\u13e6\u16d5\ua4d7\u2c94",
  " L\u13de\u14aa\ua4e1\u053c M\u041c\u039c\u13b7\u15f0\u16d6\ua4df\u2c98\u03fa N\u039d\ua4e0\u2c9a",
  " O\u041e\u039f\u0555\u2c9e\ua4f3\u12d0\u2d54\u{10404}\u07c0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6",
  "\u0d66\u0e50\u0ed0\u1040\u17e0\u3007 P\u0420\u03a1\u13e2\u146d\ua4d1\u2ca2 Q\u051a\u2d55",
  " R\u13a1\u1587\ua4e3\u01a6 S\u0405\u054f\u13da\ua4e2 T\u0422\u03a4\u13a2\ua4d4\u2ca6\u22a4",
  " U\u054d\u1200\u144c\ua4f4\u222a\u22c3 V\u0474\u13d9\u142f\ua4e6 W\u051c\u13b3\ua4ea",
  " X\u0425\u03a7\u166d\u2cac\ua4eb\u2d5d\u16b7\u2573 Y\u03a5\u04ae\u13a9\ua4ec\u2ca8 Z\u0396\u13c3\ua4dc",
  " 2\u01a7\u03e8\u14bf 3\u0417\u04e0\u01b7 4\u13ce 5\u01bc 6\u0431\u13ee 8\u0222\u09ea\u0a6a 9\u09ed",
  " '\u2018\u2019\u201b\u2032\u02b9\u02bb\u02bc\u02bd\u055a\ua78c -\u2010\u2012\u2013\u2014\u2015\u2212\u2043\u02d7",
  " .\u0660\u06f0\ua4f8 ,\u201a\u066b :\u0589\u05c3\ua789\u2236\u02d0 /\u2044\u2215\u2571\u29f8 !\u01c3 ?\u0294",
  " *\u2217\u204e\u066d ~\u223c\u301c \u4e00\u30fc \u4e8c\u30cb \u53e3\u30ed \u5de5\u30a8 \u529b\u30ab \u5915\u30bf",
  " \u535c\u30c8 \u516b\u30cf \u3078\u30d8 \u308a\u30ea \u624d\u30aa \u5343\u30c1",
].join("");

// What shows nothing and is no space: all that the Unicode standard calls Default_Ignorable_Code_Point (in its file
// DerivedCoreProperties.txt), an empty pattern of Braille, and controls of annotations and of hieroglyphs.
export const UNSEEN = "\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{13430}-\u{13446}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}";

// Marks that turn the direction of writing, so that a text is read in another order than it was written in.
export const TURNING = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069";

const GROUPS = LOOKALIKES.split(" ").map((group) => [...group]);
const LIKE = new Map(GROUPS.flatMap(([head, ...like]) => like.map((each) => [each, head])));
const LOWERED = GROUPS.flatMap(([head, ...like]) => like.map((each) => [each.toLowerCase(), head.toLowerCase()])).filter(([each]) => [...each].length === 1);
const PLAIN = new Map([...LOWERED, ...GROUPS.flatMap(([head, ...like]) => like.map((each) => [each, head.toLowerCase()]))]);
const paired = (signs, others) => new Map([...signs].map((sign, place) => [sign, [...others][place]]));
const LAST = paired("01i\u0131|uv\u0299\u029c", "ollllynbh"); // signs that pass for one another when a text is read and not compared
const ALIKE_IN_LATIN = paired("I1|0", "lllO");
const UNSEEN_SIGNS = new RegExp(`[${UNSEEN}]`, "gu"); // eslint-disable-line no-misleading-character-class -- each is meant alone
const TURNING_SIGNS = new RegExp(`[${TURNING}]`, "u");
const NOBODYS = /[\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\u{f0000}-\u{10ffff}]/gu; // shown as boxes, if at all
const SPACES = /[\t-\r \x85\u1680\u2028\u2029]+/g;

const translated = (text, table) => [...text].map((sign) => table.get(sign) ?? sign).join("");

/** A text without case, spaces, signs and marks, look-alike letters as one, to tell whether it was asked before. */
export function plainWords(text) {
  const folded = text.normalize("NFKD").toLowerCase().replace(/[^\p{L}\p{N}]|[\u115f\u1160]/gu, ""); // two letters of Hangul are invisible
  return translated(translated(folded, PLAIN), LAST);
}

/** A label as it looks: forms of a letter and its look-alikes as one, what is invisible left out. */
export function seen(label) {
  const shown = translated(translated(label.replace(UNSEEN_SIGNS, ""), LIKE).normalize("NFKD"), LIKE);
  return shown.replace(NOBODYS, "\ufffd").replace(SPACES, " ").replace(/^ +| +$/g, "");
}

const isAscii = (text) => !/[^\0-\x7f]/.test(text);

/** What is wrong with a list of answers as people see them, in a sentence; null where all can be told apart. Letters and
 * digits that look alike in Latin itself (I and l, O and 0) are told apart where both labels are plain ASCII. */
export function faultOfLabels(labels) {
  const groups = new Map();
  for (const label of labels) {
    const form = seen(label);
    if (!form) return "One of the answers shows nothing, so that nobody could tell which she gives.";
    const folded = translated(form, ALIKE_IN_LATIN);
    if (!groups.has(folded)) groups.set(folded, []);
    groups.get(folded).push(label);
  }
  const alike = [...groups.values()].filter((group) => group.length > 1);
  const same = alike.some((group) => !group.every(isAscii) || new Set(group.map(seen)).size < group.length);
  return same ? "Two of the answers look the same, so that nobody could tell which she gives." : null;
}

/** Whether a text holds a mark that turns the direction of writing. */
export const isTurned = (text) => TURNING_SIGNS.test(text);
