// Answers of a market as the browser's device reads them.
// node messages_twin.mjs MODULES_DIRECTORY < JSON of {answers: [[kind, text]]}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { read } = await load("messages.mjs");
const { asker } = await load("visit.mjs");

async function isTaken([kind, text]) {
  const ask = asker("", {}, async () => new Response(text));
  try {
    read(kind, await ask("/"));
    return true;
  } catch (fault) {
    if (fault.name !== "Refusal") throw fault;
    return false;
  }
}

const { answers } = JSON.parse(readFileSync(0, "utf8"));
const taken = [];
for (const answer of answers) taken.push(await isTaken(answer));
process.stdout.write(JSON.stringify({ taken }));
