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

export interface KeysMessage {
  readonly keys: StoredKey[];
  readonly madeFirst: boolean;
}

/** A change is seen within a second; asking costs microseconds. */
const POLL_MS = 250;

const port = parentPort;
if (port === null) throw new Error('keys/worker.js runs as a worker thread');
const { dataDir, pepper, makeFirst } = workerData as KeyWorkerData;
const store = new KeyStore(dataDir, pepper);
const madeFirst = makeFirst && store.createFirst();
let seen = store.dataVersion();
port.postMessage({ keys: store.load(), madeFirst } satisfies KeysMessage);

const poll = setInterval(() => {
  const version = store.dataVersion();
  if (version === seen) return;
  seen = version;
  port.postMessage({ keys: store.load(), madeFirst: false } satisfies KeysMessage);
}, POLL_MS);

port.once('message', () => {
  clearInterval(poll);
  store.close();
  port.close();
});
