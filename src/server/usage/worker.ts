// The thread that stores usage: a file blocks, a database may be far away, and neither may hold up the event loop. It
// keeps nothing but the open store: a batch that could not be written stays with the service, which sends it again.
// Batches of processes that stopped before they could be written come first.
import { parentPort, workerData } from 'node:worker_threads';
import type { Stored, StoredUse, UsageBatch, UsageStore } from './batch.js';
import { forgetLeftover, leftoversIn } from './leftover.js';
import { openOrMakeUsage, type UsageAddress, usageFault } from './store/open-usage.js';

export interface UsageWorkerData {
  readonly address: UsageAddress;
  /** Names the process in the store. */
  readonly node: string;
  /** Time for which counts of hours are kept; 0: for good. */
  readonly keepDays: number;
}

export type UsageOrder =
  | { readonly kind: 'load'; readonly day: string; readonly month: string }
  | { readonly kind: 'add'; readonly batch: UsageBatch }
  | { readonly kind: 'close' };

/** One for each order but the last. */
export type UsageReply =
  | { readonly kind: 'loaded'; readonly stored: StoredUse }
  | { readonly kind: 'added'; readonly stored: Stored }
  /** A sentence that says why the store cannot be used just now. */
  | { readonly kind: 'failed'; readonly reason: string };

const DAY_MS = 24 * 3_600_000;

const port = parentPort;
if (port === null) throw new Error('usage/worker.js runs as a worker thread');
const { address, node, keepDays } = workerData as UsageWorkerData;
let store: UsageStore | undefined;
let prunedDay = '';
/** Orders wait for one another. */
let last: Promise<void> = Promise.resolve();

async function opened(): Promise<UsageStore> {
  if (store?.isCurrent === false) await close();
  if (store !== undefined) return store;
  store = await openOrMakeUsage(address);
  for (const left of leftoversIn(address.dataDir)) {
    for (const batch of left.batches) await store.add(left.node, batch, Date.now());
    forgetLeftover(left);
  }
  return store;
}

async function close(): Promise<void> {
  const closed = store;
  store = undefined;
  await closed?.close();
}

async function replyTo(order: Exclude<UsageOrder, { kind: 'close' }>): Promise<UsageReply> {
  const open = await opened();
  if (order.kind === 'load') return { kind: 'loaded', stored: await open.load(order.day, order.month) };
  const { batch } = order;
  const stored = await open.add(node, batch, Date.now());
  if (batch.day > prunedDay) {
    prunedDay = batch.day;
    const beforeMs = keepDays === 0 ? 0 : batch.hourMs - keepDays * DAY_MS;
    await open.prune(monthBefore(batch.month), Date.now(), beforeMs);
  }
  return { kind: 'added', stored };
}

/** The clock of another process may be in the month before. */
function monthBefore(month: string): string {
  return new Date(Date.parse(`${month}-01`) - DAY_MS).toISOString().slice(0, 7);
}

async function carryOut(order: UsageOrder): Promise<void> {
  if (order.kind === 'close') {
    await close().catch(() => {});
    port?.close();
    return;
  }
  try {
    port?.postMessage(await replyTo(order));
  } catch (error) {
    await close().catch(() => {});
    // Errors of databases do not survive the way between threads.
    port?.postMessage({ kind: 'failed', reason: usageFault(address, error) } satisfies UsageReply);
  }
}

port.on('message', (order: UsageOrder) => {
  last = last.then(() => carryOut(order));
});
