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

// Signs above and below the line (by Unicode, forms <super> and <sub> of others): beside what stands on it they are told from
// that, and from one another as those are which they are forms of. By themselves they are not.
export const RAISED = [
  "\u00aa\u00b2\u00b3\u00b9\u00ba\u02b0-\u02b8\u02e0-\u02e4\u10fc\u1d2c-\u1d2e\u1d30-\u1d3a\u1d3c-\u1d4d\u1d4f-\u1d61\u1d78\u1d9b-\u1dbf",
  "\u2070\u2071\u2074-\u207f\u2120\u2122\u2c7d\u2d6f\u3192-\u319f\ua69c\ua69d\ua770\ua7f1-\ua7f4\ua7f8\ua7f9\uab5c-\uab5f\uab69",
  "\u{10781}-\u{10785}\u{10787}-\u{107b0}\u{107b2}-\u{107ba}\u{1e030}-\u{1e050}\u{1e06b}-\u{1e06d}\u{1f16a}-\u{1f16c}",
].join("");
export const LOWERED = "\u1d62-\u1d6a\u2080-\u208e\u2090-\u209c\u2c7c\u{1e051}-\u{1e06a}";

// Letters of Cyrillic, two and two, that look like the same sign of Latin and that an alphabet has both of: in labels of Cyrillic
// alone those who read it tell them from one another. From e and 3, which both look like, nobody does.
export const CYRILLIC_APART = "\u0435\u04bd\u0417\u04e0";

const GROUPS = LOOKALIKES.split(" ").map((group) => [...group]);
const LIKE = new Map(GROUPS.flatMap(([head, ...like]) => like.map((each) => [each, head])));
const IN_SMALL = GROUPS.flatMap(([head, ...like]) => like.map((each) => [each.toLowerCase(), head.toLowerCase()])).filter(([each]) => [...each].length === 1);
const PLAIN = new Map([...IN_SMALL, ...GROUPS.flatMap(([head, ...like]) => like.map((each) => [each, head.toLowerCase()]))]);
const paired = (signs, others) => new Map([...signs].map((sign, place) => [sign, [...others][place]]));
const LAST = paired("01i\u0131|uv\u0299\u029c", "ollllynbh"); // signs that pass for one another when a text is read and not compared
const ALIKE_IN_LATIN = paired("I1|0", "lllO");
const UNSEEN_SIGNS = new RegExp(`[${UNSEEN}]`, "gu"); // eslint-disable-line no-misleading-character-class -- each is meant alone
const TURNING_SIGNS = new RegExp(`[${TURNING}]`, "u");
const NOBODYS = /[\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\u{f0000}-\u{10ffff}]/gu; // shown as boxes, if at all
const SPACES = /[\t-\r \x85\u1680\u2028\u2029]+/g;

const APART = new Map([...CYRILLIC_APART].map((sign) => [sign, "\x03"]));
const LIKE_BUT_APART = new Map([...LIKE].filter(([sign]) => !APART.has(sign)));
const OFF_THE_LINE = new RegExp(`[${RAISED}${LOWERED}]`, "gu");
const RAISED_SIGN = new RegExp(`[${RAISED}]`, "u");
const LATIN = /^[ -~\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0130\u0132-\u0137\u0139-\u017e]*$/;
const RINGS = paired("\u00b0\u02da", "\u2070\u2070");
const MOST_QUOTED = 30;

const translated = (text, table) => [...text].map((sign) => table.get(sign) ?? sign).join("");

/** A text without case, spaces, signs and marks, look-alike letters as one, to tell whether it was asked before. */
export function plainWords(text) {
  const folded = text.normalize("NFKD").toLowerCase().replace(/[^\p{L}\p{N}]|[\u115f\u1160]/gu, ""); // two letters of Hangul are invisible
  return translated(translated(folded, PLAIN), LAST);
}

/** What a sign off the line is a form of, told from that by a control character, which no label holds. So small, the letter o and
 * a nought are both a ring. */
function marked(sign) {
  const mark = RAISED_SIGN.test(sign) ? "\x01" : "\x02";
  return [...sign.normalize("NFKD").replaceAll("o", "0")].map((each) => `${mark}${each}`).join("");
}

function shown(label, like) {
  const bare = translated(label.replace(UNSEEN_SIGNS, ""), RINGS);
  const told = bare.replace(OFF_THE_LINE, "").trim() ? bare.replace(OFF_THE_LINE, marked) : bare;
  const folded = translated(translated(told, like).normalize("NFKD"), like);
  return folded.replace(NOBODYS, "\ufffd").replace(SPACES, " ").replace(/^ +| +$/g, "");
}

/** A label as it looks: forms of a letter and its look-alikes as one, what is invisible left out. */
export const seen = (label) => shown(label, LIKE);

const isCyrillic = (label) => [...label].every((sign) => !/\p{L}/u.test(sign) || (sign >= "\u0400" && sign <= "\u052f"));

/** Whether all of a label is what is typed in a language of Western and Central Europe. */
const isLatin = (label) => LATIN.test(label.normalize("NFC"));

/** What shows of a label, inside a sentence which it neither turns around nor fills. */
function quoted(label) {
  const plain = [...label.replace(UNSEEN_SIGNS, "").replace(NOBODYS, "\ufffd")];
  return `“${plain.length <= MOST_QUOTED ? plain.join("") : `${plain.slice(0, MOST_QUOTED - 1).join("")}…`}”`;
}

/** Who tells a label from others that look much like it, and by what: readers of Latin by letter and digit; readers of Cyrillic
 * by letters of their alphabet, where none of them stands for a digit or sign of the other. Else nobody. */
function asRead(label, form) {
  if (isLatin(label)) return ["Latin", form];
  if (!isCyrillic(label)) return ["", form];
  const own = translated(shown(label, LIKE_BUT_APART), ALIKE_IN_LATIN);
  return [`Cyrillic ${translated(own, APART)}`, own];
}

/** What is wrong with a list of answers as people see them, in a sentence; null where all can be told apart. Letters and
 * digits that look alike in Latin itself (I and l, O and 0) are told apart where both labels are plain Latin. Each label is
 * looked at once, however many look much like it. */
export function faultOfLabels(labels) {
  const groups = new Map();
  for (const [place, label] of labels.entries()) {
    const form = seen(label);
    if (!form) return `Answer ${place + 1} shows nothing, so that nobody could tell which she gives.`;
    const [folded, [readers, own]] = [translated(form, ALIKE_IN_LATIN), asRead(label, form)];
    if (!groups.has(folded)) groups.set(folded, { readers, before: new Map() });
    const { readers: readersBefore, before } = groups.get(folded);
    const same = readers && readers === readersBefore ? before.get(own) : before.values().next().value;
    if (same) return `Answers ${same.place + 1} and ${place + 1} (${quoted(same.label)} and ${quoted(label)}) look the same, so that nobody could tell which she gives.`;
    before.set(own, { place, label });
  }
  return null;
}

/** Whether a text holds a mark that turns the direction of writing. */
export const isTurned = (text) => TURNING_SIGNS.test(text);
