// A page that waits, whose proxy refuses its stream while the market is restarted: how often has it asked for one?
import { pathToFileURL } from "node:url";

const asked = [], nets = [];
globalThis.document = { hidden: false, addEventListener() {} };
globalThis.addEventListener = () => {};
globalThis.setInterval = (net) => nets.push(net);
globalThis.EventSource = class {
  constructor(address) { asked.push(address); this.readyState = 0; sources.push(this); }
  addEventListener() {}
  close() {}
};
const sources = [];

const { follow } = await import(pathToFileURL(process.argv[2]));
follow("/events", () => true);
const [net] = nets;
const seen = [];
for (const state of [1, 0, 2, 1]) { // open; on its way again by itself; given up; open again
  sources.at(-1).readyState = state;
  net();
  seen.push(asked.length);
}
process.stdout.write(JSON.stringify({ seen, nets: nets.length }));
