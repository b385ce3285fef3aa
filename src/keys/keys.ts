// The server's keys: those of the store, followed by a worker thread, and those of HEXCODES_API_KEYS, which live in
// memory only and are judged in the same way.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { KeyRing, type StoredKey } from './key-ring.js';
import { digestOf, readOrMakePepper } from './secret.js';
import type { KeysMessage, KeyWorkerData } from './worker.js';

export interface KeysOptions {
  readonly dataDir: string;
  /** Undefined: the pepper file of the data folder. */
  readonly pepper: string | undefined;
  /** Keys of the environment; with any, an empty store stays empty. */
  readonly given: readonly { readonly name: string; readonly secret: string }[];
  /** Called after every change but the first load. */
  readonly changed: (ring: KeyRing) => void;
  /** Called when the store cannot be read any more; the keys known so far stay. */
  readonly failed: (reason: string) => void;
}

export interface ServerKeys {
  readonly ring: KeyRing;
  /** The file that holds the first key's text, if it is there. */
  readonly firstKeyFile: string | undefined;
  stop(): Promise<void>;
}

/** Resolves when all keys are loaded; rejects if the store cannot be opened. */
export async function openKeys(options: KeysOptions): Promise<ServerKeys> {
  const { dataDir, given } = options;
  const pepper = options.pepper ?? readOrMakePepper(dataDir);
  const ring = new KeyRing(pepper);
  const own: StoredKey[] = given.map(({ name, secret }) => ({
    id: `env:${name}`,
    name,
    digestHex: digestOf(secret, pepper).toString('hex'),
    state: 'active',
  }));
  const data: KeyWorkerData = { dataDir, pepper, makeFirst: given.length === 0 };
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: data });
  let running = true;
  worker.once('exit', () => {
    running = false;
  });
  const [first] = (await once(worker, 'message')) as [KeysMessage];
  if ('failure' in first) throw new Error(first.failure);
  ring.replace([...first.keys, ...own]);
  worker.on('message', (message: KeysMessage) => {
    if ('failure' in message) {
      options.failed(message.failure);
      return;
    }
    ring.replace([...message.keys, ...own]);
    options.changed(ring);
  });
  worker.on('error', (error) => options.failed(error.message));
  const firstKeyFile = join(dataDir, 'first-key');
  return {
    ring,
    firstKeyFile: existsSync(firstKeyFile) ? firstKeyFile : undefined,
    stop: async () => {
      if (!running) return;
      const exited = once(worker, 'exit');
      worker.postMessage('close');
      await exited;
    },
  };
}
