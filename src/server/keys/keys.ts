// The server's keys: those of the store, followed by a worker thread, and those of HEXCODES_API_KEYS, which live in
// memory only and are judged in the same way.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { DEFAULT_SCOPES, type StoredKey } from './key-record.js';
import { KeyRing } from './key-ring.js';
import type { KeyAnswer, KeyCall } from './manage/key-calls.js';
import { unpackKeys } from './packed-keys.js';
import { folderWarning } from './private-files.js';
import { digestOf } from './secret.js';
import type { KeysCommand, KeysMessage, KeyWorkerData } from './worker.js';

/** How soon a key that expires is refused. */
const TICK_MS = 250;
/** A database that hangs does not hold up the end of the process for longer. */
const STOP_TIMEOUT_MS = 3000;
/** How often the uses of keys are handed to the store. */
const USES_MS = 10_000;
const USES_AT_ONCE = 2000;

const STOPPED: KeyAnswer = { kind: 'unavailable', message: 'the service is stopping', faults: [] };

export interface KeysOptions {
  readonly dataDir: string;
  /** Address of a shared store; undefined: the file in the data folder. */
  readonly storeUrl: string | undefined;
  /** Undefined: the pepper file of the data folder. */
  readonly pepper: string | undefined;
  /** Keys of the environment; with any, an empty store stays empty. */
  readonly given: readonly { readonly name: string; readonly secret: string }[];
  /** Called after every change but the first load. */
  readonly changed: (ring: KeyRing) => void;
  /** Called when the store cannot be read or written any more, once for each reason; the keys known so far stay. */
  readonly failed: (to: 'read' | 'write', reason: string) => void;
  /** Called when it can be again. */
  readonly recovered: (to: 'read' | 'write') => void;
}

export interface ServerKeys {
  readonly ring: KeyRing;
  /** The file that holds the first key's text, if it is there and the key is let in. */
  readonly firstKeyFile: string | undefined;
  /** A sentence if other users can replace the store. */
  readonly folderWarning: string | undefined;
  /** A sentence that says why the store cannot be read or written just now. */
  readonly fault: string | undefined;
  /** Answers a call of the admin port. */
  call(call: KeyCall): Promise<KeyAnswer>;
  stop(): Promise<void>;
}

/** Resolves when all keys are loaded; rejects with a sentence if the store cannot be opened. */
export async function openKeys(options: KeysOptions): Promise<ServerKeys> {
  const { dataDir, given } = options;
  const data: KeyWorkerData = {
    store: { dataDir, url: options.storeUrl },
    pepper: options.pepper,
    makeFirst: given.length === 0,
  };
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: data });
  const send = (command: KeysCommand): void => worker.postMessage(command);
  let running = true;
  const waiting = new Map<number, (answer: KeyAnswer) => void>();
  worker.once('exit', () => {
    running = false;
    for (const answered of waiting.values()) answered(STOPPED);
  });
  const [first] = (await once(worker, 'message')) as [KeysMessage];
  if (first.kind !== 'opened') throw new Error(first.kind === 'failed' ? first.reason : first.kind);
  const ring = new KeyRing(first.pepper);
  const own = given.map(({ name, secret }) => givenKey(name, digestOf(secret, first.pepper)));
  ring.change(unpackKeys(first.keys));
  ring.change(own);
  let lastCallId = 0;
  const faults = new Map<'read' | 'write', string>();
  worker.on('message', (message: KeysMessage) => {
    if (message.kind === 'failed') {
      faults.set(message.to, message.reason);
      options.failed(message.to, message.reason);
    } else if (message.kind === 'changed') {
      ring.change(unpackKeys(message.keys), message.removedIds);
      if (message.isLast) options.changed(ring);
    } else if (message.kind === 'answer') {
      waiting.get(message.callId)?.(message.answer);
      waiting.delete(message.callId);
    } else if (message.kind === 'recovered') {
      faults.delete(message.to);
      options.recovered(message.to);
    }
  });
  worker.on('error', (error) => {
    const reason = error instanceof Error ? error.message : String(error);
    faults.set('read', reason);
    options.failed('read', reason);
  });
  /** A part in each turn of the event loop, which has others to serve. */
  const sendUses = (): void => {
    const ids = ring.takeUses(USES_AT_ONCE);
    if (ids.length === 0) return;
    send({ kind: 'used', ids, usedMs: Date.now() });
    if (ids.length === USES_AT_ONCE) setImmediate(sendUses);
  };
  const timers = [setInterval(() => ring.tick(), TICK_MS), setInterval(sendUses, USES_MS)];
  for (const timer of timers) timer.unref();
  return {
    ring,
    firstKeyFile: firstKeyFileOf(dataDir, ring),
    folderWarning: folderWarning(dataDir),
    get fault() {
      return faults.get('read') ?? faults.get('write');
    },
    call: (call) =>
      new Promise((resolve) => {
        if (!running) {
          resolve(STOPPED);
          return;
        }
        waiting.set(++lastCallId, resolve);
        send({ kind: 'call', callId: lastCallId, call });
      }),
    stop: async () => {
      for (const timer of timers) clearInterval(timer);
      if (!running) return;
      const exited = once(worker, 'exit');
      for (let ids = ring.takeUses(); ids.length > 0; ids = ring.takeUses())
        send({ kind: 'used', ids, usedMs: Date.now() });
      send({ kind: 'close' });
      const timeout = new AbortController();
      await Promise.race([
        exited,
        sleep(STOP_TIMEOUT_MS, undefined, { signal: timeout.signal }).catch(() => {}),
      ]);
      timeout.abort();
      if (running) await worker.terminate();
    },
  };
}

/** A key of the environment. */
function givenKey(name: string, digest: Buffer): StoredKey {
  return {
    id: `env:${name}`,
    name,
    state: 'active',
    scopes: DEFAULT_SCOPES,
    expiresMs: undefined,
    origins: [],
    cidrs: [],
    limits: {},
    createdMs: Date.now(),
    lastUsedMs: undefined,
    digestHex: digest.toString('hex'),
    generation: 1,
    formerDigestHex: undefined,
    formerUntilMs: undefined,
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
