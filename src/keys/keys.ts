// The server's keys: those of the store, followed by a worker thread, and those of HEXCODES_API_KEYS, which live in
// memory only and are judged in the same way.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { KeyRing, type StoredKey } from './key-ring.js';
import { folderWarning } from './private-files.js';
import { digestOf } from './secret.js';
import type { KeysMessage, KeyWorkerData } from './worker.js';

export interface KeysOptions {
  readonly dataDir: string;
  /** Undefined: the pepper file of the data folder. */
  readonly pepper: string | undefined;
  /** Keys of the environment; with any, an empty store stays empty. */
  readonly given: readonly { readonly name: string; readonly secret: string }[];
  /** Called after every change but the first load. */
  readonly changed: (ring: KeyRing) => void;
  /** Called when the store cannot be read any more, once for each reason; the keys known so far stay. */
  readonly failed: (reason: string) => void;
  /** Called when the store can be read again. */
  readonly recovered: () => void;
}

export interface ServerKeys {
  readonly ring: KeyRing;
  /** The file that holds the first key's text, if it is there and the key is let in. */
  readonly firstKeyFile: string | undefined;
  /** A sentence if other users can replace the store. */
  readonly folderWarning: string | undefined;
  /** A sentence that says why the store cannot be read just now. */
  readonly fault: string | undefined;
  stop(): Promise<void>;
}

/** Resolves when all keys are loaded; rejects with a sentence if the store cannot be opened. */
export async function openKeys(options: KeysOptions): Promise<ServerKeys> {
  const { dataDir, given } = options;
  const data: KeyWorkerData = { dataDir, pepper: options.pepper, makeFirst: given.length === 0 };
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: data });
  let running = true;
  worker.once('exit', () => {
    running = false;
  });
  const [first] = (await once(worker, 'message')) as [KeysMessage];
  if (first.kind !== 'opened') throw new Error(first.kind === 'failed' ? first.reason : first.kind);
  const ring = new KeyRing(first.pepper);
  const own: StoredKey[] = given.map(({ name, secret }) => ({
    id: `env:${name}`,
    name,
    digestHex: digestOf(secret, first.pepper).toString('hex'),
    state: 'active',
  }));
  ring.replace([...first.keys, ...own]);
  let fault: string | undefined;
  const fail = (reason: string): void => {
    fault = reason;
    options.failed(reason);
  };
  worker.on('message', (message: KeysMessage) => {
    if (message.kind === 'failed') fail(message.reason);
    else if (message.kind === 'changed') {
      ring.replace([...message.keys, ...own]);
      options.changed(ring);
    } else if (message.kind === 'recovered') {
      fault = undefined;
      options.recovered();
    }
  });
  worker.on('error', (error) => fail(error instanceof Error ? error.message : String(error)));
  return {
    ring,
    firstKeyFile: firstKeyFileOf(dataDir, ring),
    folderWarning: folderWarning(dataDir),
    get fault() {
      return fault;
    },
    stop: async () => {
      if (!running) return;
      const exited = once(worker, 'exit');
      worker.postMessage('close');
      await exited;
    },
  };
}

function firstKeyFileOf(dataDir: string, ring: KeyRing): string | undefined {
  const path = join(dataDir, 'first-key');
  try {
    return ring.check(readFileSync(path, 'utf8').trim()).kind === 'allowed' ? path : undefined;
  } catch {
    return undefined;
  }
}
