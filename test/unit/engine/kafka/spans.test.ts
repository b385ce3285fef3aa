// Transactions of a backlog: bounded in bytes and messages, fair to every partition, and as large as brokers commit in
// time.
import { expect, test } from 'vitest';
import { type Partition, readySpans, type Span, TransactionSize } from '#dist/bus/kafka/spans.js';

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
  expect(countsOf(readySpans([partition(0, [span(0, 10), span(1, 10, false), span(2, 10)])], 1000))).toEqual([
    [0, 1],
  ]);
});

test('the size follows what was committed within the target, and shrinks where a transaction failed', () => {
  const size = new TransactionSize(5000);
  const first = size.bytes;
  for (let i = 0; i < 20; i++) size.committed(size.bytes, 10);
  const largest = size.bytes;
  expect(largest).toBeGreaterThan(16 * first);
  // A link of 250,000 bytes a second.
  for (let i = 0; i < 20; i++) size.committed(size.bytes, size.bytes / 250);
  expect(size.bytes).toBeGreaterThan(0.4 * 1_250_000);
  expect(size.bytes).toBeLessThanOrEqual(1_250_000);
  const before = size.bytes;
  size.failed();
  expect(size.bytes).toBe(Math.round(before / 4));
  // A few small messages that were committed at once say nothing of large transactions.
  size.committed(100, 1);
  expect(size.bytes).toBe(Math.round(before / 4));
  for (let i = 0; i < 50; i++) size.failed();
  expect(size.bytes).toBeGreaterThan(0);
});
