// Where the browser's device keeps its bids, reports and caps: IndexedDB, written through to disk.
//
// A store has three methods: get(table, key), all(table), and change(table, key, decide). `change` is one transaction:
// decide(current, everything) runs synchronously inside it and returns what to keep, so that two tabs cannot draw twice.

const NAME = "pdqs-device";
const TABLES = ["bids", "reports", "caps"];

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** The browser's lasting store. */
export async function openStore(indexedDB = globalThis.indexedDB) {
  const opening = indexedDB.open(NAME, 1);
  opening.onupgradeneeded = () => TABLES.forEach((table) => opening.result.createObjectStore(table));
  const database = await settled(opening);
  globalThis.navigator?.storage?.persist?.().catch(() => {}); // ask not to be cleared when space is short
  return {
    get: (table, key) => settled(database.transaction(table).objectStore(table).get(key)),
    all: (table) => settled(database.transaction(table).objectStore(table).getAll()),
    change: (table, key, decide) => change(database, table, key, decide),
  };
}

function change(database, table, key, decide) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(table, "readwrite", { durability: "strict" });
    const rows = transaction.objectStore(table);
    let kept;
    let refusal = null;
    const everything = rows.getAll();
    const current = rows.get(key);
    current.onsuccess = () => {
      try {
        kept = decide(current.result, everything.result);
        rows.put(kept, key);
      } catch (fault) {
        refusal = fault;
        transaction.abort();
      }
    };
    transaction.oncomplete = () => resolve(kept); // only now is it on disk
    transaction.onabort = () => reject(refusal ?? transaction.error);
  });
}

/** The same store in memory, for tests. */
export function memoryStore() {
  const tables = Object.fromEntries(TABLES.map((table) => [table, new Map()]));
  const copy = (value) => (value === undefined ? undefined : structuredClone(value));
  return {
    get: async (table, key) => copy(tables[table].get(key)),
    all: async (table) => [...tables[table].values()].map(copy),
    change: async (table, key, decide) => {
      const kept = decide(copy(tables[table].get(key)), [...tables[table].values()].map(copy));
      tables[table].set(key, copy(kept));
      return kept;
    },
  };
}
