// Kafka without a broker: spans of a partition, and records of batches that were fetched.
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type GroupOptions, KafkaGroup } from '#dist/bus/kafka/group.js';
import { type Partition, readySpans, recordsOf, type Span, TransactionSize } from '#dist/bus/kafka/spans.js';

// Transactions of a backlog: bounded in bytes and messages, fair to every partition, and as large as brokers commit
// in time.
describe('spans', () => {
  const span = (lastOffset: number, heldBytes: number, isReady = true): Span => ({
    ...{ lastOffset: BigInt(lastOffset), heldBytes, outputs: isReady ? [] : undefined },
    end: () => {},
  });
  const partition = (index: number, spans: Span[]): Partition => ({ topic: 'in', partition: index, spans });
  const many = (count: number, bytes: number): Span[] =>
    Array.from({ length: count }, (_, i) => span(i, bytes));
  const countsOf = (ready: ReturnType<typeof readySpans>): number[][] =>
    ready.map(({ partition: { partition: index }, spans }) => [index, spans.length]);

  test('a backlog goes in transactions of bounded bytes, in which every partition has its part', () => {
    const partitions = [
      partition(0, many(1000, 1000)),
      partition(1, many(3, 1000)),
      partition(2, many(1000, 1000)),
    ];
    expect(countsOf(readySpans(partitions, 20_000))).toEqual([
      [0, 9],
      [1, 3],
      [2, 8],
    ]);
    expect(countsOf(readySpans(partitions, 1e9, 7))).toEqual([
      [0, 3],
      [1, 2],
      [2, 2],
    ]);
  });

  test('a message that is larger than a transaction goes alone, and nothing overtakes one that is worked on', () => {
    expect(countsOf(readySpans([partition(0, many(2, 5000))], 1000))).toEqual([[0, 1]]);
    expect(readySpans([partition(0, [span(0, 10, false), span(1, 10)])], 1000)).toEqual([]);
    expect(
      countsOf(readySpans([partition(0, [span(0, 10), span(1, 10, false), span(2, 10)])], 1000)),
    ).toEqual([[0, 1]]);
  });

  test('the size follows what was committed within the target, and shrinks where a transaction failed', () => {
    const size = new TransactionSize(5000);
    const first = size.bytes;
    for (let i = 0; i < 20; i++) size.committed(size.bytes, 10, 8);
    const largest = size.bytes;
    expect(largest).toBeGreaterThan(16 * first);
    // A link of 250,000 bytes a second.
    for (let i = 0; i < 20; i++) size.committed(size.bytes, size.bytes / 250, size.bytes / 250 - 50);
    expect(size.bytes).toBeGreaterThan(0.4 * 1_250_000);
    expect(size.bytes).toBeLessThanOrEqual(1_250_000);
    const before = size.bytes;
    size.failed();
    expect(size.bytes).toBe(Math.round(before / 4));
    // A few small messages that were committed at once say nothing of large transactions.
    size.committed(100, 1, 1);
    expect(size.bytes).toBe(Math.round(before / 4));
    for (let i = 0; i < 50; i++) size.failed();
    expect(size.bytes).toBeGreaterThan(0);
  });

  test('a transaction grows no further than makes the cost of beginning and committing it small', () => {
    for (const fixedMs of [10, 100, 400]) {
      const size = new TransactionSize(5000);
      // A link of 2,000,000 bytes a second.
      const sendMs = (): number => size.bytes / 2000;
      for (let i = 0; i < 20; i++) size.committed(size.bytes, fixedMs + sendMs(), sendMs());
      const worthwhileMs = Math.max(250, 2 * fixedMs);
      expect(sendMs()).toBeGreaterThanOrEqual(worthwhileMs);
      expect(sendMs()).toBeLessThan(2 * worthwhileMs);
    }
  });
});

// Records of an answer of a Kafka broker: none before the offset that was requested, none of aborted transactions.
describe('records', () => {
  const TRANSACTIONAL = 0x10;
  const CONTROL = 0x20;

  function batch(firstOffset: number, count: number, producerId = 1, attributes = 0, type?: number) {
    const key = type === undefined ? null : Buffer.from([0, 0, 0, type]);
    return {
      ...{
        firstOffset: BigInt(firstOffset),
        lastOffsetDelta: count - 1,
        producerId: BigInt(producerId),
        attributes,
      },
      records: Array.from({ length: count }, (_, offsetDelta) => ({
        offsetDelta,
        key,
        value: null,
        headers: [],
      })),
    };
  }

  function read(batches: unknown[], from: number, aborted: [producer: number, first: number][] = []) {
    const abortedTransactions = aborted.map(([producerId, firstOffset]) => ({
      ...{ producerId: BigInt(producerId), firstOffset: BigInt(firstOffset) },
    }));
    const partition = { partitionIndex: 0, records: batches, abortedTransactions };
    const { records, next } = recordsOf('t', partition as never, BigInt(from));
    return { offsets: records.map(({ offset }) => Number(offset)), next: Number(next) };
  }

  test('a batch that begins before the offset gives its records from there on', () => {
    expect(read([batch(0, 5), batch(5, 2)], 3)).toEqual({ offsets: [3, 4, 5, 6], next: 7 });
    expect(read([batch(0, 5)], 5)).toEqual({ offsets: [], next: 5 });
    expect(read([], 9)).toEqual({ offsets: [], next: 9 });
  });

  test('records of an aborted transaction are left out up to its mark, whichever offset of a batch it begins with', () => {
    for (const first of [2, 3, 4]) {
      const batches = [
        batch(0, 2, 1, TRANSACTIONAL),
        batch(2, 3, 1, TRANSACTIONAL),
        batch(5, 1, 2, TRANSACTIONAL),
        batch(6, 1, 1, TRANSACTIONAL | CONTROL, 0),
        batch(7, 1, 1, TRANSACTIONAL),
      ];
      expect(read(batches, 0, [[1, first]])).toEqual({ offsets: [0, 1, 5, 7], next: 8 });
    }
  });

  test('a mark of a commit ends nothing that was aborted by another producer', () => {
    const batches = [
      batch(0, 1, 1, TRANSACTIONAL),
      batch(1, 1, 2, TRANSACTIONAL),
      batch(2, 1, 2, TRANSACTIONAL | CONTROL, 1),
      batch(3, 1, 1, TRANSACTIONAL | CONTROL, 0),
    ];
    expect(read(batches, 0, [[1, 0]])).toEqual({ offsets: [1], next: 4 });
  });
});

// A call of the client that never ends cannot be had from a broker on purpose.
test('a session that never begins is given up after a minute, and begun again with other clients', async () => {
  const noCall = () => {};
  let producers = 0;
  const client = {
    Consumer: class {
      topics = { trackAll: noCall };
      on = noCall;
      close = noCall;
    },
    Admin: class {
      close = noCall;
    },
    Producer: class {
      constructor() {
        producers++;
      }
      beginTransaction = () => new Promise(noCall);
      close = noCall;
    },
  };
  const said: string[] = [];
  const group = new KafkaGroup({
    ...{ client, where: 'broker', group: 'g', inputs: ['in'], outputs: ['out'] },
    say: (sentence: string) => said.push(sentence),
  } as unknown as GroupOptions);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());

  const running = group.run();
  await vi.advanceTimersByTimeAsync(59_000);
  expect([said, producers]).toEqual([[], 1]);
  await vi.advanceTimersByTimeAsync(1000);
  vi.useRealTimers();
  await expect.poll(() => producers).toBe(2);
  expect(said).toEqual(['broker: no session within 60 s; it is tried again, nothing is lost']);
  group.stop(0);
  await running;
});
