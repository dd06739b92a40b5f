// Runs questions.mjs outside a browser and prints what it did as JSON.
// node questions_twin.mjs MODULES_DIRECTORY < JSON of {reports, maps, texts, stages, asides, laws, refused, figures, late, mark}

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [directory] = process.argv.slice(2);
const asked = JSON.parse(readFileSync(0, "utf8"));
const questions = await import(pathToFileURL(join(directory, "questions.mjs")));
const money = await import(pathToFileURL(join(directory, "money.mjs")));
if (asked.mark) money.useCurrency({ mark: asked.mark });
const dealing = await import(pathToFileURL(join(directory, "dealing.mjs")));

function replay({ question, domain_size, code, numerator, words }, bits) {
  let used = 0;
  const report = questions.ask(question, domain_size, code, numerator, () => words[used++] ?? NaN, bits);
  return [report, used];
}

/** counts[value][report] over all words; draws in which a die was refused are left out. */
function law({ question, domain_size, numerator, bits, calls }) {
  const kappa = questions.kappa(question, domain_size);
  const width = 2 ** bits;
  return Array.from({ length: domain_size }, (_, code) => {
    const counts = new Array(kappa).fill(0);
    for (let number = 0; number < width ** calls; number += 1) {
      const words = Array.from({ length: calls }, (_, i) => Math.floor(number / width ** i) % width);
      const [report, used] = replay({ question, domain_size, code, numerator, words: [...words, 0, 0, 0, 0] }, bits);
      if (used === calls) counts[report] += 1;
    }
    return counts;
  });
}

function refusal({ question, domain_size, code }) {
  let words = 0;
  try {
    questions.ask(question, domain_size, code, 5, () => ((words += 1), 0));
    return null;
  } catch (fault) {
    return [fault.name, words];
  }
}

process.stdout.write(
  JSON.stringify({
    reports: (asked.reports ?? []).map((one) => [questions.kappa(one.question, one.domain_size), ...replay(one)]),
    maps: (asked.maps ?? []).map((one) => questions.bucketMap(one.seed, one.domain_size)),
    texts: (asked.texts ?? []).map((one) => questions.said(one.question, one.domain, "monthly income")),
    stages: (asked.stages ?? []).map(({ word, stages }) => dealing.stageOf(word, stages)),
    asides: (asked.asides ?? []).map(({ code, domain, text }) => questions.saidOf({ kind: "side", code }, domain, text)),
    figures: (asked.figures ?? []).map(([value, places]) => money.fixed(value, places)),
    late: (asked.late ?? []).map((offer) => [dealing.isLate(offer), dealing.lateInWords(offer)]),
    laws: (asked.laws ?? []).map(law),
    refused: (asked.refused ?? []).map(refusal),
  }),
);
