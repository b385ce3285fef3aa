// The thread that owns the server's connection to the key store: its calls block, and nothing may block the event loop.
// It sends all keys once at the start, and again whenever another process has changed or replaced the file. While the
// file is missing, damaged or unreadable, the keys sent last hold.
import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { StoredKey } from './key-ring.js';
import { readOrMakePepper } from './secret.js';
import { KeyStore, storeFault, storePath } from './store.js';

export interface KeyWorkerData {
  readonly dataDir: string;
  /** Undefined: the pepper file of the data folder. */
  readonly pepper: string | undefined;
  /** Make a first key in an empty store. */
  readonly makeFirst: boolean;
}

export type KeysMessage =
  /** The first message, unless it is a failure. */
  | { readonly kind: 'opened'; readonly pepper: string; readonly keys: StoredKey[] }
  | { readonly kind: 'changed'; readonly keys: StoredKey[] }
  /** A sentence that says why the keys cannot be read just now; sent once for each reason. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** The keys can be read again. */
  | { readonly kind: 'recovered' };

/** A change is seen within a second; asking costs microseconds. */
const POLL_MS = 250;
/** A stop waits for a call under way. */
const BUSY_TIMEOUT_MS = 200;

const port = parentPort;
if (port === null) throw new Error('keys/worker.js runs as a worker thread');
const { dataDir, pepper: givenPepper, makeFirst } = workerData as KeyWorkerData;
const post = (message: KeysMessage): void => port.postMessage(message);

/** Follows the file at the store's path, whichever file that is. */
class Follower {
  #store: KeyStore | undefined;
  /** The file that is open, and when it was last changed. */
  #stamp = '';
  #version = 0;
  /** The keys sent last, as JSON. */
  #sent = '';
  #failure = '';

  /** Reads the keys if anything has changed. Returns them if they differ from those returned last. */
  read(): StoredKey[] | undefined {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(storePath(dataDir), { bigint: true });
    const stamp = [dev, ino, size, mtimeNs, ctimeNs].join();
    if (this.#store === undefined || stamp !== this.#stamp) {
      this.close();
      this.#store = KeyStore.open(dataDir, BUSY_TIMEOUT_MS);
    } else if (this.#store.dataVersion() === this.#version) return undefined;
    // The version comes first: a change in between is then seen at the next turn.
    const version = this.#store.dataVersion();
    const keys = this.#store.load();
    this.#stamp = stamp;
    this.#version = version;
    const text = JSON.stringify(keys);
    if (text === this.#sent) return undefined;
    this.#sent = text;
    return keys;
  }

  poll(): void {
    try {
      const keys = this.read();
      if (keys !== undefined) post({ kind: 'changed', keys });
      if (this.#failure !== '') post({ kind: 'recovered' });
      this.#failure = '';
    } catch (error) {
      this.close();
      const reason = storeFault(dataDir, error);
      if (reason !== this.#failure) post({ kind: 'failed', reason });
      this.#failure = reason;
    }
  }

  close(): void {
    this.#store?.close();
    this.#store = undefined;
  }
}

/** Makes what is missing: the store, the pepper, the first key. Returns the pepper. */
function prepare(): string {
  const store = KeyStore.openOrMake(dataDir);
  try {
    const pepper = givenPepper ?? readOrMakePepper(dataDir, store.count());
    if (makeFirst) store.createFirst(pepper);
    return pepper;
  } finally {
    store.close();
  }
}

try {
  const pepper = prepare();
  const follower = new Follower();
  post({ kind: 'opened', pepper, keys: follower.read() ?? [] });
  const timer = setInterval(() => follower.poll(), POLL_MS);
  port.once('message', () => {
    clearInterval(timer);
    follower.close();
    port.close();
  });
} catch (error) {
  // Errors of libsql do not survive the way between threads.
  post({ kind: 'failed', reason: storeFault(dataDir, error) });
  port.close();
}
