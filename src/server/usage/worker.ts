// The thread that stores usage: a file blocks, a database may be far away, and neither may hold up the event loop.
// Its only state is the open store: a batch that could not be written stays with the service, which sends it again.
// Batches that a stopped process left unwritten come first.
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { StoreOptions } from '../keys/store/open-store.js';
import { Heartbeat } from '../observe/heartbeat.js';
import {
  forgetLeftover,
  leftoversIn,
  mergedBatch,
  type Stored,
  type StoredUse,
  type UsageBatch,
} from './batch.js';
import { openOrMakeUsage, type UsageStore, usageFault } from './store/usage-store.js';

export interface UsageWorkerData {
  readonly address: StoreOptions;
  /** Names the process in the store. */
  readonly node: string;
  /** Time for which counts of hours are kept; 0: for good. */
  readonly keepDays: number;
  /** Memory of the thread's heartbeat. */
  readonly heartbeat: SharedArrayBuffer;
}

export type UsageOrder =
  | { readonly kind: 'load'; readonly day: string; readonly month: string }
  /** A part of a batch, which is stored with its last one. */
  | { readonly kind: 'add'; readonly batch: UsageBatch; readonly isLast: boolean }
  | { readonly kind: 'close' };

/** One for each order to load, and for each batch one or more. */
export type UsageReply =
  | { readonly kind: 'loaded'; readonly stored: StoredUse }
  /** The use of some keys of the batch; rates and grants come with the last. */
  | { readonly kind: 'added'; readonly stored: Stored; readonly isLast: boolean }
  /** A sentence that says why the store cannot be used just now. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Usage of an earlier process is in a file that cannot be believed; no answer to an order. */
  | { readonly kind: 'refused'; readonly path: string; readonly reason: string };

const DAY_MS = 24 * 3_600_000;
/**
 * Largest lead of the clock over the last counted day, after a service was idle: too short to remove the month of
 * that day.
 */
const MAX_AHEAD_MS = 27 * DAY_MS;
/** Keys of a reply: the event loop of the service takes them in within a millisecond or two, and then serves others. */
const REPLY_KEYS = 1000;
const BETWEEN_REPLIES_MS = 5;

if (parentPort === null) throw new Error('usage/worker.js runs as a worker thread');
const port = parentPort;
const { address, node, keepDays, heartbeat: shared } = workerData as UsageWorkerData;
const heartbeat = new Heartbeat(shared);
let store: UsageStore | undefined;
let prunedDay = '';
/** The parts of a batch whose last one has not come. */
let parts: UsageBatch[] = [];
/** Orders run one after another. */
let last: Promise<void> = Promise.resolve();

async function opened(): Promise<UsageStore> {
  if (store?.isCurrent === false) await close();
  if (store !== undefined) return store;
  store = await openOrMakeUsage(address);
  const refused = (path: string, reason: string): void => reply({ kind: 'refused', path, reason });
  for (const left of leftoversIn(address.dataDir, refused)) {
    for (const batch of left.batches) {
      await store.add(left.node, batch, Date.now());
      heartbeat.beat();
    }
    forgetLeftover(left);
  }
  return store;
}

async function close(): Promise<void> {
  const closed = store;
  store = undefined;
  await closed?.close();
}

async function load(day: string, month: string): Promise<void> {
  reply({ kind: 'loaded', stored: await (await opened()).load(day, month) });
}

async function add(part: UsageBatch, isLast: boolean): Promise<void> {
  parts.push(part);
  if (!isLast) return;
  const batch = mergedBatch(parts);
  parts = [];
  const open = await opened();
  const stored = await open.add(node, batch, Date.now());
  if (batch.day !== prunedDay) {
    prunedDay = batch.day;
    // A clock that is years ahead would remove current counts; it may be corrected tomorrow.
    const before = await open.dayBefore(batch.day);
    const isBelieved = Date.parse(batch.day) - Date.parse(before ?? '') <= MAX_AHEAD_MS;
    const beforeMs = keepDays === 0 ? 0 : batch.hourMs - keepDays * DAY_MS;
    // The next batch removes more.
    if (isBelieved && !(await open.prune(monthBefore(batch.month), Date.now(), beforeMs))) prunedDay = '';
  }
  const used = [...stored.used];
  while (used.length > REPLY_KEYS) {
    const some = new Map(used.splice(-REPLY_KEYS));
    reply({ kind: 'added', stored: { used: some, rates: [], grants: [] }, isLast: false });
    await sleep(BETWEEN_REPLIES_MS);
    heartbeat.beat();
  }
  reply({ kind: 'added', stored: { ...stored, used: new Map(used) }, isLast: true });
}

const reply = (message: UsageReply): void => port.postMessage(message);

/** The clock of another process may still be in the previous month. */
function monthBefore(month: string): string {
  return new Date(Date.parse(`${month}-01`) - DAY_MS).toISOString().slice(0, 7);
}

async function carryOut(order: UsageOrder): Promise<void> {
  if (order.kind === 'close') {
    await close().catch(() => {});
    port.close();
    return;
  }
  try {
    if (order.kind === 'load') await load(order.day, order.month);
    else await add(order.batch, order.isLast);
  } catch (error) {
    await close().catch(() => {});
    // Errors of databases cannot be posted between threads.
    reply({ kind: 'failed', reason: usageFault(address, error) });
  }
}

port.on('message', (order: UsageOrder) => {
  last = last.then(() => heartbeat.during(() => carryOut(order)));
});
