// The browser's draws, names and proofs, for comparison with Python's.
// node lots_twin.mjs MODULES_DIRECTORY < JSON of [{seed, nonce, round, owner, word, bid, place, leaves, path, root}]

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const lots = await import(pathToFileURL(join(process.argv[2], "lots.mjs")));
const found = JSON.parse(readFileSync(0, "utf8")).map(({ seed, nonce, round, owner, word, bid, place, leaves, path, root, chance }) => {
  const name = lots.pseudonymOf(round, owner);
  return {
    hashes: [lots.commitmentTo("seed", seed), lots.commitmentTo("nonce", nonce)],
    draw: lots.committedWord(seed, nonce, name, word),
    counted: [bid, bid + 1].map((price) => lots.isIncluded(lots.bidEntry(name, price), { place, leaves, path }, root)),
    chance: lots.chanceInWords(chance),
  };
});
process.stdout.write(JSON.stringify(found));
