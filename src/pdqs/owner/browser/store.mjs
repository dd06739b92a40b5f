// Where the browser's device keeps its account: one list of entries in IndexedDB, written through to disk.
//
// A store has two methods: rows(), and append(decide). `append` is one transaction: decide(rows) runs synchronously
// inside it and returns the rows to add, so that two tabs cannot draw twice.
//
// A chain does not show that its last entries are gone. The places of entries are numbered by the browser, which never gives a
// number twice, and how many there were is kept apart, in localStorage, with the hash of the last: an account that has lost
// entries is refused. A browser that has cleared both knows of nothing, and begins anew.

import { nextRow } from "./account.mjs";
import { Refusal } from "./refusal.mjs";

const NAME = "pdqs-device";
const APART = "pdqs-device-last";

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** The browser's store. `lasting`: ask not to have it cleared when space is short. */
export async function openStore(lasting = true, indexedDB = globalThis.indexedDB) {
  const opening = indexedDB.open(NAME, 2);
  opening.onupgradeneeded = () => upgrade(opening.result, opening.transaction);
  const database = await settled(opening);
  if (lasting) globalThis.navigator?.storage?.persist?.().catch(() => {});
  const seen = { entries: await everMade(database) };
  return { rows: () => rowsOf(database, seen), append: (decide) => append(database, seen, decide) };
}

/** How many entries were ever made here: one less than the number that the browser would give the next. Nothing is added. */
function everMade(database) {
  return new Promise((resolve) => {
    const transaction = database.transaction("entries", "readwrite");
    const adding = transaction.objectStore("entries").add({});
    adding.onsuccess = () => transaction.abort();
    transaction.onabort = () => resolve(adding.readyState === "done" && adding.error === null ? adding.result - 1 : 0); // 0: the disk is full
  });
}

/** How many entries there were when this browser last looked, and the hash of the last, as they are kept apart. */
function keptApart() {
  try {
    const [entries, hash] = JSON.parse(globalThis.localStorage.getItem(APART));
    return Number.isSafeInteger(entries) && entries > 0 ? { entries, hash } : { entries: 0 };
  } catch {
    return { entries: 0 }; // there is none, or this browser keeps nothing there
  }
}

function keepApart(rows) {
  if (rows.length <= keptApart().entries) return;
  try {
    globalThis.localStorage.setItem(APART, JSON.stringify([rows.length, rows.at(-1).hash]));
  } catch { /* this browser keeps nothing there */ }
}

const lost = (had, has) => new Refusal(`The account in this browser has lost entries (it had ${had} and has ${has}), so what was spent can no longer be known and nothing is drawn. `
  + "Report from another device; or clear this site's data to begin anew, and each market's count of your reports is compared with it.");

/** Refuse rows of which some are gone: by their numbers, by what this page has seen, by what was kept apart. */
function refuseLoss(keys, rows, seen, apart) {
  const had = Math.max(keys.at(-1) ?? 0, seen.entries, apart.entries);
  if (rows.length < had) throw lost(had, rows.length);
  if (apart.entries && rows[apart.entries - 1].hash !== apart.hash) {
    throw new Refusal("The account in this browser is not the one that was here before: it is damaged or was tampered with, so nothing is drawn.");
  }
  seen.entries = rows.length;
}

async function rowsOf(database, seen) {
  const apart = keptApart(); // before the rows, of which another tab may add some meanwhile
  const entries = database.transaction("entries").objectStore("entries");
  const [keys, rows] = await Promise.all([settled(entries.getAllKeys()), settled(entries.getAll())]);
  refuseLoss(keys, rows, seen, apart);
  keepApart(rows);
  return rows;
}

/** A new list; what an earlier version charged is carried over, for what was spent stays spent. */
function upgrade(database, transaction) {
  const entries = database.createObjectStore("entries", { autoIncrement: true });
  if (!database.objectStoreNames.contains("reports")) return;
  transaction.objectStore("reports").getAll().onsuccess = (event) => {
    const rows = [];
    for (const { owner, made_at_ms, ...kept } of event.target.result) {
      const market = `${globalThis.location?.origin ?? ""} ${owner}`;
      rows.push(nextRow(rows, { kind: "drawn", market, text: "", terms_hash: "", drawn_at_ms: made_at_ms, ...kept }));
      entries.add(rows.at(-1));
    }
  };
}

function append(database, seen, decide) {
  const apart = keptApart();
  return new Promise((resolve, reject) => {
    const transaction = database.transaction("entries", "readwrite", { durability: "strict" });
    const entries = transaction.objectStore("entries");
    let refusal = null;
    let all = [];
    const end = (fault) => { refusal = fault; transaction.abort(); };
    const [keys, found] = [entries.getAllKeys(), entries.getAll()];
    found.onsuccess = () => {
      try {
        refuseLoss(keys.result, found.result, seen, apart);
        const added = decide(found.result);
        added.forEach((row, place) => {
          const due = found.result.length + place + 1;
          entries.add(row).onsuccess = ({ target }) => { if (target.result !== due) end(lost(target.result - place - 1, found.result.length)); };
        });
        all = [...found.result, ...added];
      } catch (fault) {
        end(fault);
      }
    };
    transaction.oncomplete = () => { // only now is it on disk
      seen.entries = Math.max(seen.entries, all.length);
      keepApart(all);
      resolve(all);
    };
    transaction.onabort = () => reject(refusal ?? transaction.error);
  });
}

/** The same store in memory, for tests. */
export function memoryStore() {
  let kept = [];
  return {
    rows: async () => structuredClone(kept),
    append: async (decide) => {
      kept = [...kept, ...structuredClone(decide(structuredClone(kept)))];
      return structuredClone(kept);
    },
  };
}
