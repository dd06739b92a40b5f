// Texts and terms as the browser's device reads them.
// node words_twin.mjs MODULES_DIRECTORY < JSON of {texts, documents}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { plainWords, seen } = await load("account.mjs");
const { promiseOf } = await load("checks.mjs");
const { isCanonical } = await load("messages.mjs");
const { RULES } = await load("reading.mjs");

const { texts, documents } = JSON.parse(readFileSync(0, "utf8"));
const isRead = (terms) => { try { return Boolean(promiseOf({ terms })); } catch { return false; } };
process.stdout.write(JSON.stringify({
  words: texts.map(plainWords), seen: texts.map(seen), canonical: documents.map(isCanonical), read: documents.map(isRead), rules: RULES,
}));
