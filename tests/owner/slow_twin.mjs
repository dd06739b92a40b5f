// The browser's line to a market that says a byte a minute, never stops, or leads elsewhere. Minutes are counted, not waited for.
// node slow_twin.mjs MODULES_DIRECTORY < JSON of {answer, most, cases: [{dripping, rings}]}

import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { asker } = await import(pathToFileURL(join(process.argv[2], "visit.mjs")));
const { answer, most, cases } = JSON.parse(readFileSync(0, "utf8"));

/** A market on loopback that sends its head or its body byte by byte, one a minute, and tells each minute. */
async function slow(dripping, tell) {
  const [head, body] = [`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${answer.length}\r\n\r\n`, answer];
  const server = createServer((line) => {
    line.on("error", () => {});
    line.once("data", async () => {
      const [at_once, slowly] = dripping === "head" ? ["", head + body] : [head, body];
      if (at_once) line.write(at_once);
      for (const [minute, letter] of [...slowly].entries()) {
        if (line.destroyed) return;
        await new Promise((sent) => line.write(letter, () => setImmediate(sent)));
        tell(minute + 1);
      }
    });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return server;
}

async function visited({ dripping, rings }) {
  const bell = new AbortController();
  let asked = null;
  AbortSignal.timeout = (ms) => { asked = ms; return bell.signal; };
  let passed = 0;
  const server = await slow(dripping, (minute) => {
    passed = minute;
    if (rings && 60_000 * minute > (asked ?? Infinity)) bell.abort();
  });
  let said = null;
  try {
    await asker(`http://127.0.0.1:${server.address().port}`)("/me");
  } catch (fault) {
    said = `${fault.name}: ${fault.message}`;
  }
  server.close();
  return { said, asked, passed };
}

/** An answer of a megabyte after the other. */
async function endless() {
  let megabytes = 0;
  const pull = (to) => { megabytes += 1; megabytes > most ? to.close() : to.enqueue(new Uint8Array(2 ** 20).fill(32)); };
  const ask = asker("http://market.test", {}, async () => new Response(new ReadableStream({ pull }, { highWaterMark: 0 })), () => new AbortController().signal);
  const said = await ask("/me").then(() => null, (fault) => fault.message);
  return { said, megabytes };
}

/** A market that sends her on to another place. */
async function elsewhere() {
  const asked = [];
  const server = createHttpServer((request, answer) => {
    asked.push(request.url);
    if (request.url === "/elsewhere") answer.end("{}");
    else answer.writeHead(307, { location: "/elsewhere" }).end();
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const ask = asker(`http://127.0.0.1:${server.address().port}`, {}, fetch, () => new AbortController().signal);
  const refused = await ask("/me").then(() => false, () => true);
  server.close();
  return { refused, asked };
}

const found = [];
for (const each of cases) found.push(await visited(each));
process.stdout.write(JSON.stringify({ found, endless: await endless(), elsewhere: await elsewhere() }));
process.exit(0);
