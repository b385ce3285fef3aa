// The server's keys: those of the store, followed by a worker thread, and those of HEXCODES_API_KEYS, which live in
// memory only and are checked in the same way.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { HeartbeatWatch } from '../observe/heartbeat.js';
import { NEW_KEY, type StoredKey, unpackKeys } from './key-record.js';
import { KeyRing } from './key-ring.js';
import type { KeyAnswer, KeyCall } from './manage/key-changes.js';
import { digestOf, folderWarning } from './secret.js';
import type { StoreOptions } from './store/open-store.js';
import type { KeysCommand, KeysMessage, KeyWorkerData } from './worker.js';

/** How soon a key that expires is refused. */
const TICK_MS = 250;
/** A hanging database delays the end of the process by this time at most. */
const STOP_TIMEOUT_MS = 3000;
/** Delay before an ended thread is restarted, which grows with each failure. */
const AGAIN_MS = 1000;
const MAX_AGAIN_MS = 30_000;
/** Lifetime after which earlier failures are forgotten. */
const STABLE_MS = 60_000;
/** Interval at which uses of keys are written to the store. */
const USES_MS = 10_000;
const USES_AT_ONCE = 2000;

const STOPPED: KeyAnswer = { kind: 'unavailable', message: 'the service is stopping', faults: [] };

const FAILED = {
  read: 'the key store cannot be read; the keys read last hold',
  write: 'the key store cannot be written; when keys are used is not kept',
};

export interface KeysOptions {
  readonly store: StoreOptions;
  /** Undefined: the pepper file of the data folder. */
  readonly pepper: string | undefined;
  /** Keys of the environment; if there are any, an empty store stays empty. */
  readonly given: readonly { readonly name: string; readonly secret: string }[];
  readonly logger: Logger;
}

/** A thread that has reported why it cannot open the store, or has ended or hung before. */
class OpeningError extends Error {}

export class ServerKeys {
  #ring: KeyRing | undefined;
  /** Ids of the keys of the store. */
  readonly #storedIds = new Set<string>();
  /** The thread that has sent all keys and follows the store; undefined while there is none. */
  #thread: Worker | undefined;
  #absence: string | undefined;
  readonly #heartbeat = new HeartbeatWatch(() => this.#lose('hangs'));
  #again: NodeJS.Timeout | undefined;
  #tries = 0;
  #startedMs = 0;
  #isStopping = false;
  readonly #waiting = new Map<number, (answer: KeyAnswer) => void>();
  #lastCallId = 0;
  readonly #faults = new Map<'read' | 'write', string>();
  #timers: NodeJS.Timeout[] = [];
  /** A sentence if other users can replace the store. */
  readonly folderWarning: string | undefined;
  /** The file that holds the first key, if it is there and the key is active. */
  firstKeyFile: string | undefined;
  /** Rejects the opening that is under way. */
  #refuse: ((error: Error) => void) | undefined;

  /** Undefined: as at the first start. */
  #opened: Pick<KeyWorkerData, 'pepper' | 'makeFirst'>;

  private constructor(private readonly options: KeysOptions) {
    this.folderWarning = folderWarning(options.store.dataDir);
    this.#opened = { pepper: options.pepper, makeFirst: options.given.length === 0 };
  }

  /** Resolves when all keys are loaded; rejects with a sentence if the store cannot be opened. */
  static async open(options: KeysOptions): Promise<ServerKeys> {
    const keys = new ServerKeys(options);
    await keys.#open();
    return keys;
  }

  get ring(): KeyRing {
    return this.#ring as KeyRing;
  }

  /** Why the store cannot be read or written at the moment, as a sentence. */
  get fault(): string | undefined {
    return this.absence ?? this.#faults.get('read') ?? this.#faults.get('write');
  }

  /** Why no thread follows the store at the moment, as a sentence: a revoked key may still be accepted. */
  get absence(): string | undefined {
    const { silentS } = this.#heartbeat;
    if (this.#absence !== undefined || silentS === undefined) return this.#absence;
    return `the thread that follows the key store has not answered for ${silentS} s`;
  }

  async #open(): Promise<void> {
    await this.#start();
    this.firstKeyFile = firstKeyFileOf(this.options.store.dataDir, this.ring);
    const timers = [
      setInterval(() => this.ring.tick(), TICK_MS),
      setInterval(() => this.#sendUses(), USES_MS),
    ];
    for (const timer of timers) timer.unref();
    this.#timers = timers;
  }

  /** Answers a call of the admin port. */
  call(call: KeyCall): Promise<KeyAnswer> {
    const thread = this.#thread;
    if (thread === undefined) return Promise.resolve(this.#isStopping ? STOPPED : this.#unavailable);
    return new Promise((resolve) => {
      this.#waiting.set(++this.#lastCallId, resolve);
      post(thread, { kind: 'call', callId: this.#lastCallId, call });
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#again);
    for (const timer of this.#timers) clearInterval(timer);
    this.#heartbeat.end();
    this.#refuse?.(new OpeningError('the service is stopping'));
    const thread = this.#thread;
    if (thread === undefined) return;
    const exited = once(thread, 'exit');
    for (let ids = this.ring.takeUses(); ids.length > 0; ids = this.ring.takeUses())
      post(thread, { kind: 'used', ids, usedMs: Date.now() });
    post(thread, { kind: 'close' });
    await Promise.race([exited, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    if (this.#thread !== undefined) await thread.terminate();
  }

  /** Starts a thread, and resolves when it has sent all keys. */
  async #start(): Promise<void> {
    const { store } = this.options;
    const workerData: KeyWorkerData = { store, ...this.#opened, heartbeat: this.#heartbeat.begin() };
    const thread = new Worker(new URL('./worker.js', import.meta.url), { workerData });
    // Keys removed from the store while no thread followed it.
    const goneIds = new Set(this.#storedIds);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#refuse = reject;
        thread.on('message', (message: KeysMessage) => {
          if (message.kind === 'opened') this.#begin(message.pepper);
          else if (message.kind === 'changed') for (const id of this.#take(message)) goneIds.delete(id);
          else if (message.kind === 'told') resolve();
          else reject(new OpeningError(message.kind === 'failed' ? message.reason : message.kind));
        });
        thread.once('error', reject);
        thread.once('exit', () => reject(new OpeningError('the thread of the key store has ended')));
      });
    } catch (error) {
      this.#heartbeat.end();
      thread.on('error', () => {});
      void thread.terminate();
      throw error;
    } finally {
      this.#refuse = undefined;
      thread.removeAllListeners('message');
    }
    this.#change([], [...goneIds]);
    this.#thread = thread;
    this.#startedMs = performance.now();
    this.#absence = undefined;
    thread.on('message', (message: KeysMessage) => {
      if (this.#thread === thread) this.#heard(message);
    });
    thread.on('error', (error) => {
      if (this.#thread === thread)
        this.#failed('read', error instanceof Error ? error.message : String(error));
    });
    thread.once('exit', () => {
      if (this.#thread === thread) this.#lose('has ended');
    });
  }

  #begin(pepper: string): void {
    // A store in its place would have another pepper; and only the first thread makes a first key.
    this.#opened = { pepper, makeFirst: false };
    if (this.#ring !== undefined) return;
    this.#ring = new KeyRing(pepper);
    this.#ring.change(this.options.given.map(({ name, secret }) => givenKey(name, digestOf(secret, pepper))));
  }

  /** @returns ids of the keys of the part */
  #take(part: Extract<KeysMessage, { kind: 'changed' }>): readonly string[] {
    this.#change(unpackKeys(part.keys), part.removedIds);
    return part.keys.ids;
  }

  #change(keys: readonly StoredKey[], removedIds: readonly string[]): void {
    for (const id of removedIds) this.#storedIds.delete(id);
    for (const { id } of keys) this.#storedIds.add(id);
    this.ring.change(keys, removedIds);
  }

  #heard(message: KeysMessage): void {
    if (message.kind === 'failed') {
      this.#failed(message.to, message.reason);
    } else if (message.kind === 'changed') {
      this.#take(message);
    } else if (message.kind === 'told') {
      this.options.logger.info({ keys: this.ring.size }, 'keys changed');
    } else if (message.kind === 'answer') {
      this.#waiting.get(message.callId)?.(message.answer);
      this.#waiting.delete(message.callId);
    } else if (message.kind === 'recovered') {
      this.#recovered(message.to);
    }
  }

  #failed(to: 'read' | 'write', reason: string): void {
    this.#faults.set(to, reason);
    this.options.logger.error({ reason }, FAILED[to]);
  }

  #recovered(to: 'read' | 'write'): void {
    const can = to === 'read' ? 'read' : 'written';
    if (this.#faults.delete(to)) this.options.logger.info(`the key store can be ${can} again`);
  }

  /** Replaces a thread that is gone, or from which nothing is expected any more. */
  #lose(how: 'has ended' | 'hangs'): void {
    const thread = this.#thread;
    this.#thread = undefined;
    this.#heartbeat.end();
    const answer = this.#isStopping ? STOPPED : this.#unavailable;
    for (const answered of this.#waiting.values()) answered(answer);
    this.#waiting.clear();
    this.#refuse?.(new OpeningError(`the thread of the key store ${how}`));
    if (this.#isStopping || thread === undefined) return;
    void thread.terminate();
    this.#absence = `the thread that follows the key store ${how}; it is started again, and until then keys are as they were`;
    const message = 'the key store is not followed: a revoked key may be let in';
    this.options.logger.error({ reason: this.#absence }, message);
    this.#startAgain();
  }

  #startAgain(): void {
    if (performance.now() - this.#startedMs > STABLE_MS) this.#tries = 0;
    const waitMs = Math.min(MAX_AGAIN_MS, AGAIN_MS * 2 ** this.#tries++);
    this.#again = setTimeout(async () => {
      try {
        await this.#start();
        for (const to of ['read', 'write'] as const) this.#recovered(to);
        this.options.logger.info('the key store is followed again');
      } catch (error) {
        if (this.#isStopping) return;
        this.#failed('read', error instanceof Error ? error.message : String(error));
        this.#startAgain();
      }
    }, waitMs);
    this.#again.unref();
  }

  get #unavailable(): KeyAnswer {
    return { kind: 'unavailable', message: this.#absence ?? 'the key store is not followed', faults: [] };
  }

  /** Sends a part in each turn of the event loop, which has other work, too. */
  #sendUses(): void {
    if (this.#thread === undefined) return;
    const ids = this.ring.takeUses(USES_AT_ONCE);
    if (ids.length === 0) return;
    post(this.#thread, { kind: 'used', ids, usedMs: Date.now() });
    if (ids.length === USES_AT_ONCE) setImmediate(() => this.#sendUses());
  }
}

const post = (thread: Worker, command: KeysCommand): void => thread.postMessage(command);

/** A key of this process alone, as those of the environment are. */
export function givenKey(name: string, digest: Buffer): StoredKey {
  return {
    ...NEW_KEY,
    id: `env:${name}`,
    name,
    state: 'active',
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
