// Texts and terms as the browser's device reads them.
// node words_twin.mjs MODULES_DIRECTORY < JSON of {texts, documents, lists}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { promiseOf } = await load("checks.mjs");
const { isCanonical } = await load("messages.mjs");
const { RULES } = await load("reading.mjs");
const { CYRILLIC_APART, faultOfLabels, LOOKALIKES, LOWERED, plainWords, RAISED, seen, TURNING, UNSEEN } = await load("words.mjs");

const { texts, documents, lists = [] } = JSON.parse(readFileSync(0, "utf8"));

/** How often a text is brought into another form while a list is looked at: a step that every look at a label takes. */
function normalisedBy(labels) {
  const { normalize } = String.prototype;
  let count = 0;
  String.prototype.normalize = function counted(form) { count += 1; return normalize.call(this, form); };
  faultOfLabels(labels);
  String.prototype.normalize = normalize;
  return count;
}

const isRead = (terms) => { try { return Boolean(promiseOf({ terms })); } catch { return false; } };
process.stdout.write(JSON.stringify({
  words: texts.map(plainWords), seen: texts.map(seen), canonical: documents.map(isCanonical), read: documents.map(isRead), rules: RULES,
  faults: lists.map(faultOfLabels), tables: [LOOKALIKES, UNSEEN, TURNING, RAISED, LOWERED, CYRILLIC_APART], normalised: lists.map(normalisedBy),
  ignorable: Array.from({ length: 0x110000 }, (_, n) => n).filter((n) => /\p{Default_Ignorable_Code_Point}/u.test(String.fromCodePoint(n))),
}));
