// Runs answers.mjs outside a browser and prints what it made of what was typed, as JSON.
// node answers_twin.mjs MODULES_DIRECTORY < JSON of {currency, typed: [[text, domain], ...]}

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [directory] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(join(directory, name)));
const { useCurrency } = await load("money.mjs");
const { numbersInWords, numberTyped } = await load("answers.mjs");
const { currency, typed } = JSON.parse(readFileSync(0, "utf8"));

useCurrency(currency);
process.stdout.write(JSON.stringify({
  read: typed.map(([text, domain]) => { const { code, fault } = numberTyped(text, domain); return fault ?? code; }),
  words: typed.map(([, domain]) => numbersInWords(domain)),
}));
