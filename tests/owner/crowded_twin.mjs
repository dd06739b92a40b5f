// Answers as the browser's device takes them: what it says of each, how often it looked at how numbers are written (where
// json.mjs counts that), and how many marks texts have. node crowded_twin.mjs MODULES_DIRECTORY < JSON of {answers, marks}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], name)));
const { marksIn } = await load("json.mjs");
const { read } = await load("messages.mjs");
const { asker } = await load("visit.mjs");

async function saidOf([kind, text]) {
  const ask = asker("", {}, async () => new Response(text));
  try {
    read(kind, await ask("/"));
    return null;
  } catch (fault) {
    return fault.message;
  }
}

const { answers = [], marks = [] } = JSON.parse(readFileSync(0, "utf8"));
const [said, reads] = [[], []];
for (const answer of answers) {
  globalThis.reads = 0;
  said.push(await saidOf(answer));
  reads.push(globalThis.reads);
}
process.stdout.write(JSON.stringify({ said, reads, marks: marks.map(marksIn) }));
