// Spans: answers to consecutive messages of a partition that are not stored yet; which spans are ready, and how they
// are batched.
import type { fetchV13, MessageToProduce } from '@platformatic/kafka';

// Records of a fetched partition, without those of aborted transactions: the client keeps them where the abort marker
// is not in the same answer.

type FetchResponsePartition = fetchV13.FetchResponsePartition;

export interface FetchedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [Buffer | null, Buffer | null])[];
}

const IS_TRANSACTIONAL = 0x10;
const IS_CONTROL = 0x20;
/** Type of an abort marker, after two bytes of version in the key of a control record. */
const ABORT = 0;

/**
 * @param from first requested offset: a broker sends whole batches, which may begin earlier
 * @returns the records, and the offset after the last one, even if it is not a record
 */
export function recordsOf(
  topic: string,
  { partitionIndex: partition, records: batches, abortedTransactions }: FetchResponsePartition,
  from: bigint,
): { readonly records: FetchedRecord[]; readonly next: bigint } {
  const records: FetchedRecord[] = [];
  const waiting = [...(abortedTransactions ?? [])].sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1));
  const aborted = new Set<bigint>();
  let next = from;
  for (const batch of batches ?? []) {
    const last = batch.firstOffset + BigInt(batch.lastOffsetDelta);
    while (waiting.length > 0 && waiting[0]!.firstOffset <= last) aborted.add(waiting.shift()!.producerId);
    if (last >= next) next = last + 1n;
    if ((batch.attributes & IS_CONTROL) !== 0) {
      if (batch.records[0]?.key?.readInt16BE(2) === ABORT) aborted.delete(batch.producerId);
      continue;
    }
    if ((batch.attributes & IS_TRANSACTIONAL) !== 0 && aborted.has(batch.producerId)) continue;
    for (const { offsetDelta, key, value, headers } of batch.records) {
      const offset = batch.firstOffset + BigInt(offsetDelta);
      if (offset >= from) records.push({ topic, partition, offset, key, value, headers });
    }
  }
  return { records, next };
}

export type Output = MessageToProduce<Buffer, Buffer, Buffer, Buffer>;

/** Consecutive messages of a partition whose outputs are stored together. */
export interface Span {
  readonly lastOffset: bigint;
  /** Bytes of its messages and outputs known so far. */
  heldBytes: number;
  /** undefined while it is worked on. */
  outputs: readonly Output[] | undefined;
  /** `lost`: its messages are read again. */
  end(how: 'stored' | 'lost'): void;
}

export interface Partition {
  readonly topic: string;
  readonly partition: number;
  /** In the order of their messages; the first is stored first. */
  spans: Span[];
}

/** Memory of a message beyond its bytes. */
export const MESSAGE_BYTES = 1024;
const FIRST_TRANSACTION_BYTES = 256 * 1024;
const MIN_TRANSACTION_BYTES = 16 * 1024;
const MAX_TRANSACTION_BYTES = 8 * 1024 * 1024;
/** Limit for small messages: brokers spend time on offsets and headers, too. */
const MAX_TRANSACTION_MESSAGES = 10_000;

export const sizeOf = ({ key, value, headers }: Output): number => {
  let sizeBytes = 64 + (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, word] of headers instanceof Map ? headers : [])
    sizeBytes += name.length + (word?.length ?? 0) + 10;
  return sizeBytes;
};

/** The first spans of a partition, which are stored next. */
export interface Ready {
  readonly partition: Partition;
  readonly spans: readonly Span[];
}

/** Transactions shorter than this may grow faster. */
const SHORT_MS = 250;
/** A transaction longer than this multiple of its fixed cost is not more efficient, but a failure loses all of it. */
const WORTHWHILE = 2;

/**
 * Bytes of the next transaction: as many as the brokers are known to commit within a target time, and no more than
 * needed to make its fixed cost small. A backlog is stored in many transactions, so that each is committed long
 * before the brokers abort it, and a worker that dies has read little in vain.
 */
export class TransactionSize {
  bytes = FIRST_TRANSACTION_BYTES;

  /** @param targetMs time that a transaction may take */
  constructor(private readonly targetMs: number) {}

  /**
   * Notes that a transaction of `sizeBytes` was committed after `ms`, of which `sendMs` was spent sending its
   * answers.
   */
  committed(sizeBytes: number, ms: number, sendMs: number): void {
    // Both times include queueing on a busy link, so that a small transaction grows there, too.
    const worthwhileMs = Math.max(SHORT_MS, WORTHWHILE * (ms - sendMs));
    if (ms > this.targetMs) this.#set((sizeBytes * this.targetMs) / ms);
    // A small transaction does not predict a large one.
    else if (sizeBytes >= this.bytes / 2 && sendMs < worthwhileMs && ms < this.targetMs / 2)
      this.#set(2 * this.bytes);
  }

  /** Notes a transaction that was not committed. */
  failed(): void {
    this.#set(this.bytes / 4);
  }

  #set(sizeBytes: number): void {
    this.bytes = Math.round(Math.min(MAX_TRANSACTION_BYTES, Math.max(MIN_TRANSACTION_BYTES, sizeBytes)));
  }
}

/**
 * Spans from the start of each partition, one partition after another, up to the bytes or the messages of a
 * transaction; at least one.
 */
export function readySpans(
  partitions: readonly Partition[],
  maxBytes: number,
  maxMessages = MAX_TRANSACTION_MESSAGES,
): Ready[] {
  const counts = partitions.map(() => 0);
  let sizeBytes = 0;
  let messages = 0;
  for (let hasMore = true; hasMore; ) {
    hasMore = false;
    for (const [i, { spans }] of partitions.entries()) {
      const next = spans[counts[i]!];
      if (next?.outputs === undefined) continue;
      if (messages > 0 && (sizeBytes + next.heldBytes > maxBytes || messages >= maxMessages)) break;
      counts[i]!++;
      messages++;
      sizeBytes += next.heldBytes;
      hasMore = true;
    }
  }
  return partitions.flatMap((partition, i) =>
    counts[i] === 0 ? [] : [{ partition, spans: partition.spans.slice(0, counts[i]) }],
  );
}

/**
 * The client makes one batch of all messages of a partition sent in one call, and brokers limit the size of a batch.
 */
export function* batchesOf(ready: readonly Ready[], maxBytes: number): Generator<Output[]> {
  const byPartition = new Map<string, { batches: Output[][]; lastBytes: number }>();
  for (const { spans } of ready)
    for (const output of spans.flatMap(({ outputs }) => outputs ?? [])) {
      const name = `${output.topic}:${output.partition}`;
      const own = byPartition.get(name) ?? { batches: [[]], lastBytes: 0 };
      byPartition.set(name, own);
      const sizeBytes = sizeOf(output);
      if (own.lastBytes > 0 && own.lastBytes + sizeBytes > maxBytes) {
        own.batches.push([]);
        own.lastBytes = 0;
      }
      own.batches.at(-1)!.push(output);
      own.lastBytes += sizeBytes;
    }
  for (let i = 0; ; i++) {
    const messages = [...byPartition.values()].flatMap(({ batches }) => batches[i] ?? []);
    if (messages.length === 0) return;
    yield messages;
  }
}
