// The thread that owns the server's connection to the key store, because its calls block. The thread sends all keys
// once at the start, and later the changes of other processes. While the store is missing, damaged or away, the last
// keys stay valid.
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Heartbeat } from '../observe/heartbeat.js';
import { type PackedKeys, packKeys } from './key-record.js';
import { answerCall, checkPepper, type KeyAnswer, type KeyCall, KeyChanger } from './manage/key-changes.js';
import { ensureDataDir, readOrMakePepper } from './secret.js';
import { Follower } from './store/key-store.js';
import { openFollowedStore, openOrMakeStore, type StoreOptions, storeFault } from './store/open-store.js';

export interface KeyWorkerData {
  readonly store: StoreOptions;
  /** Undefined: the pepper file of the data folder. */
  readonly pepper: string | undefined;
  /** Make a first key in an empty store. */
  readonly makeFirst: boolean;
  /** Memory of the thread's heartbeat. */
  readonly heartbeat: SharedArrayBuffer;
}

export type KeysMessage =
  /** The first message, unless it is a failure. All keys follow. */
  | { readonly kind: 'opened'; readonly pepper: string }
  /** A part of what has changed. */
  | { readonly kind: 'changed'; readonly keys: PackedKeys; readonly removedIds: readonly string[] }
  /** The end of a change: no other part follows. */
  | { readonly kind: 'told' }
  /** A sentence that says why the store cannot be used just now; sent once for each reason. */
  | { readonly kind: 'failed'; readonly to: 'read' | 'write'; readonly reason: string }
  /** The store can be used again. */
  | { readonly kind: 'recovered'; readonly to: 'read' | 'write' }
  | { readonly kind: 'answer'; readonly callId: number; readonly answer: KeyAnswer };

export type KeysCommand =
  /** Keys that were used. */
  | { readonly kind: 'used'; readonly ids: readonly string[]; readonly usedMs: number }
  | { readonly kind: 'call'; readonly callId: number; readonly call: KeyCall }
  | { readonly kind: 'close' };

/** Keys of a message, which the event loop of the service processes within a millisecond before it serves others. */
const PART_KEYS = 500;
const BETWEEN_PARTS_MS = 5;

/** Retry interval of a failing store; shorter if it is polled more often anyway. */
const RETRY_MS = 1000;

const port = parentPort;
if (port === null) throw new Error('keys/worker.js runs as a worker thread');
const given = workerData as KeyWorkerData;
const heartbeat = new Heartbeat(given.heartbeat);
const { dataDir } = given.store;
const post = (message: KeysMessage): void => port.postMessage(message);

/** Creates whatever is missing: the data folder, the store, the pepper, the first key. Returns the pepper. */
async function prepare(): Promise<string> {
  ensureDataDir(dataDir);
  const store = await openOrMakeStore(given.store);
  try {
    const pepper = given.pepper ?? readOrMakePepper(dataDir, await store.count(), store.address);
    checkPepper(store.address, await store.head(), pepper);
    if (given.makeFirst) await new KeyChanger(store).createFirst(dataDir, pepper);
    return pepper;
  } finally {
    await store.close();
  }
}

/** Reports a failure once, and its end once. */
class Complaint {
  #reason = '';

  constructor(private readonly to: 'read' | 'write') {}

  failed(reason: string): void {
    if (reason !== this.#reason) post({ kind: 'failed', to: this.to, reason });
    this.#reason = reason;
  }

  succeeded(): void {
    if (this.#reason !== '') post({ kind: 'recovered', to: this.to });
    this.#reason = '';
  }
}

class Service {
  readonly #reading = new Complaint('read');
  readonly #writing = new Complaint('write');
  readonly #follower: Follower;
  /** The latest use of each key that is not written yet. */
  readonly #uses = new Map<string, number>();
  /** Calls of the store run one after another. */
  #last: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #pollMs = RETRY_MS;
  #isClosed = false;

  constructor(private readonly pepper: string) {
    this.#follower = new Follower(
      () => openFollowedStore(given.store, () => this.#look()),
      (head) => checkPepper('the store', head, pepper),
    );
  }

  /** Reads all keys for the first time, and follows them from then on. */
  async start(): Promise<void> {
    await this.#tell({ isPaced: false });
    post({ kind: 'told' });
    this.#pollMs = (await this.#follower.store()).pollMs;
    this.#lookIn(this.#pollMs);
  }

  used(ids: readonly string[], usedMs: number): void {
    for (const id of ids) this.#uses.set(id, usedMs);
    void this.#inTurn(() => this.#writeUses());
  }

  call(callId: number, call: KeyCall): void {
    void this.#inTurn(async () => {
      let answer: KeyAnswer;
      try {
        answer = await answerCall(await this.#follower.store(), this.pepper, call);
      } catch (error) {
        answer = { kind: 'unavailable', message: faultOf(error), faults: [] };
      }
      // The change must be visible to requests before the caller is answered.
      await this.#read();
      post({ kind: 'answer', callId, answer });
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    return this.#inTurn(async () => {
      await this.#writeUses();
      await this.#follower.close();
      port?.close();
    });
  }

  /** Reads changes, now and later. */
  #look(): void {
    void this.#inTurn(async () => this.#lookIn(await this.#read()));
  }

  #lookIn(waitMs: number): void {
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#look(), waitMs);
  }

  /** Resolves to how long to wait until the next time. */
  async #read(): Promise<number> {
    try {
      if (await this.#tell({ isPaced: true })) post({ kind: 'told' });
      // Uses that could not be written before.
      await this.#writeUses();
      this.#reading.succeeded();
      return this.#pollMs;
    } catch (error) {
      await this.#follower.close().catch(() => {});
      this.#reading.failed(faultOf(error));
      return Math.min(this.#pollMs, RETRY_MS);
    }
  }

  /**
   * @param isPaced while the event loop of the service has requests to serve
   * @returns whether anything has changed
   */
  async #tell({ isPaced }: { isPaced: boolean }): Promise<boolean> {
    let hasChanged = false;
    for await (const { keys, removedIds } of this.#follower.read()) {
      const partKeys = isPaced ? PART_KEYS : Math.max(1, keys.length);
      for (let at = 0; at === 0 || at < keys.length; at += partKeys) {
        if (isPaced && hasChanged) await sleep(BETWEEN_PARTS_MS);
        heartbeat.beat();
        const part = packKeys(keys.slice(at, at + partKeys));
        post({ kind: 'changed', keys: part, removedIds: at === 0 ? removedIds : [] });
        hasChanged = true;
      }
    }
    return hasChanged;
  }

  async #writeUses(): Promise<void> {
    if (this.#uses.size === 0) return;
    try {
      const store = await this.#follower.store();
      await store.touch(this.#uses);
      this.#uses.clear();
      this.#writing.succeeded();
    } catch (error) {
      this.#writing.failed(faultOf(error));
    }
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const watched = (): Promise<void> => heartbeat.during(work);
    this.#last = this.#last.then(watched, watched);
    return this.#last;
  }
}

/** Errors of a database cannot be posted between threads. */
const faultOf = (error: unknown): string => storeFault(given.store, error);

try {
  const pepper = await heartbeat.during(prepare);
  const service = new Service(pepper);
  post({ kind: 'opened', pepper });
  await heartbeat.during(() => service.start());
  port.on('message', (command: KeysCommand) => {
    if (command.kind === 'used') service.used(command.ids, command.usedMs);
    else if (command.kind === 'call') service.call(command.callId, command.call);
    else void service.close();
  });
} catch (error) {
  post({ kind: 'failed', to: 'read', reason: faultOf(error) });
  port.close();
}
