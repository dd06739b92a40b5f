// Texts and terms as the browser's device reads them.
// node words_twin.mjs MODULES_DIRECTORY < JSON of {texts, documents}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { plainWords } = await load("account.mjs");
const { isCanonical } = await load("messages.mjs");

const { texts, documents } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify({ words: texts.map(plainWords), canonical: documents.map(isCanonical) }));
