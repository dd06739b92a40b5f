// Where the browser's device keeps its account: one list of entries in IndexedDB, written through to disk.
//
// A store has two methods: rows(), and append(decide). `append` is one transaction: decide(rows) runs synchronously
// inside it and returns the rows to add, so that two tabs cannot draw twice.

import { nextRow } from "./account.mjs";

const NAME = "pdqs-device";

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
  return {
    rows: () => settled(database.transaction("entries").objectStore("entries").getAll()),
    append: (decide) => append(database, decide),
  };
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

function append(database, decide) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction("entries", "readwrite", { durability: "strict" });
    const entries = transaction.objectStore("entries");
    let refusal = null;
    let all = [];
    const found = entries.getAll();
    found.onsuccess = () => {
      try {
        const added = decide(found.result);
        added.forEach((row) => entries.add(row));
        all = [...found.result, ...added];
      } catch (fault) {
        refusal = fault;
        transaction.abort();
      }
    };
    transaction.oncomplete = () => resolve(all); // only now is it on disk
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
