// The thread that owns the server's connection to the key store: its calls block, and nothing may block the event loop.
// It sends all keys once at the start, and again whenever another process has changed the file.
import { parentPort, workerData } from 'node:worker_threads';
import type { StoredKey } from './key-ring.js';
import { KeyStore } from './store.js';

export interface KeyWorkerData {
  readonly dataDir: string;
  readonly pepper: string;
  /** Make a first key in an empty store. */
  readonly makeFirst: boolean;
}

/** All keys, or why they cannot be read just now. */
export type KeysMessage = { readonly keys: StoredKey[] } | { readonly failure: string };

/** A change is seen within a second; asking costs microseconds. */
const POLL_MS = 250;

const port = parentPort;
if (port === null) throw new Error('keys/worker.js runs as a worker thread');
const { dataDir, pepper, makeFirst } = workerData as KeyWorkerData;
const store = new KeyStore(dataDir, pepper);
if (makeFirst) store.createFirst();
let seen = store.dataVersion();
let failure = '';
const post = (message: KeysMessage): void => port.postMessage(message);
post({ keys: store.load() });

const poll = setInterval(() => {
  try {
    const version = store.dataVersion();
    if (version !== seen) post({ keys: store.load() });
    seen = version;
    failure = '';
  } catch (error) {
    // Told once; the next turn tries again.
    const reason = error instanceof Error ? error.message : String(error);
    if (reason !== failure) post({ failure: reason });
    failure = reason;
  }
}, POLL_MS);

port.once('message', () => {
  clearInterval(poll);
  store.close();
  port.close();
});
