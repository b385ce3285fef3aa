// Records of an answer of a Kafka broker: none before the offset that was asked for, none of aborted transactions.
import { expect, test } from 'vitest';
import { recordsOf } from '#dist/bus/kafka/fetched-records.js';

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
