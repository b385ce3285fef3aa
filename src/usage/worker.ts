// The thread that writes usage: calls of the store block, and nothing may block the event loop. It keeps nothing but the open
// file: a batch that could not be written stays with the service, which sends it again.
import { parentPort, workerData } from 'node:worker_threads';
import type { StoredUse, UsageBatch, UsedByKeys } from './batch.js';
import { usageFault } from './fault.js';
import { UsageStore } from './store.js';

export interface UsageWorkerData {
  readonly dataDir: string;
  /** Names the process in the store. */
  readonly node: string;
}

export type UsageOrder =
  | { readonly kind: 'load'; readonly day: string; readonly month: string }
  | { readonly kind: 'add'; readonly batch: UsageBatch }
  | { readonly kind: 'close' };

/** One for each order but the last. */
export type UsageReply =
  | { readonly kind: 'loaded'; readonly stored: StoredUse }
  | { readonly kind: 'added'; readonly used: UsedByKeys }
  /** A sentence that says why the store cannot be used just now. */
  | { readonly kind: 'failed'; readonly reason: string };

const port = parentPort;
if (port === null) throw new Error('usage/worker.js runs as a worker thread');
const { dataDir, node } = workerData as UsageWorkerData;
let store: UsageStore | undefined;
let prunedMonth = '';

function opened(): UsageStore {
  if (store?.isInPlace === false) close();
  store ??= UsageStore.openOrMake(dataDir);
  return store;
}

function close(): void {
  store?.close();
  store = undefined;
}

function replyTo(order: Exclude<UsageOrder, { kind: 'close' }>): UsageReply {
  if (order.kind === 'load') return { kind: 'loaded', stored: opened().load(order.day, order.month) };
  const { batch } = order;
  const used = opened().add(node, batch, Date.now());
  if (batch.month > prunedMonth) {
    prunedMonth = batch.month;
    opened().prune(batch.month, Date.now());
  }
  return { kind: 'added', used };
}

port.on('message', (order: UsageOrder) => {
  if (order.kind === 'close') {
    close();
    port.close();
    return;
  }
  try {
    port.postMessage(replyTo(order));
  } catch (error) {
    close();
    // Errors of libsql do not survive the way between threads.
    port.postMessage({ kind: 'failed', reason: usageFault(dataDir, error) } satisfies UsageReply);
  }
});
