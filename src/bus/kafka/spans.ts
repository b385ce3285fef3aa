// Answers to consecutive messages of a partition until they are stored: which are ready, and in which batches they go.
import type { MessageToProduce } from '@platformatic/kafka';

export type Output = MessageToProduce<Buffer, Buffer, Buffer, Buffer>;

/** Consecutive messages of a partition whose outputs are stored together. */
export interface Span {
  readonly lastOffset: bigint;
  /** Bytes of its messages and outputs, as far as they are known. */
  heldBytes: number;
  /** undefined while it is worked on. */
  outputs: readonly Output[] | undefined;
  /** `lost`: its messages are read again. */
  end(how: 'stored' | 'lost'): void;
}

export interface Partition {
  readonly topic: string;
  readonly partition: number;
  /** In the order of their messages; they are stored from the first. */
  spans: Span[];
}

/** Memory of a message beside its bytes. */
export const MESSAGE_BYTES = 1024;
const MOST_TRANSACTION_BYTES = 16 * 1024 * 1024;

export const sizeOf = ({ key, value, headers }: Output): number => {
  let sizeBytes = 64 + (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, word] of headers instanceof Map ? headers : [])
    sizeBytes += name.length + (word?.length ?? 0) + 10;
  return sizeBytes;
};

/** Spans of a partition, from the first, that are stored next. */
export interface Ready {
  readonly partition: Partition;
  readonly spans: readonly Span[];
}

export function readySpans(partitions: readonly Partition[]): Ready[] {
  const ready: Ready[] = [];
  let sizeBytes = 0;
  for (const partition of partitions) {
    let count = 0;
    while (partition.spans[count]?.outputs !== undefined && sizeBytes < MOST_TRANSACTION_BYTES)
      sizeBytes += partition.spans[count++]!.heldBytes;
    if (count > 0) ready.push({ partition, spans: partition.spans.slice(0, count) });
  }
  return ready;
}

/** The client makes one batch of all messages of a partition that it sends at once, and brokers bound a batch. */
export function* batchesOf(ready: readonly Ready[], mostBytes: number): Generator<Output[]> {
  const byPartition = new Map<string, { batches: Output[][]; lastBytes: number }>();
  for (const { spans } of ready)
    for (const output of spans.flatMap(({ outputs }) => outputs ?? [])) {
      const name = `${output.topic}:${output.partition}`;
      const own = byPartition.get(name) ?? { batches: [[]], lastBytes: 0 };
      byPartition.set(name, own);
      const sizeBytes = sizeOf(output);
      if (own.lastBytes > 0 && own.lastBytes + sizeBytes > mostBytes) {
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
