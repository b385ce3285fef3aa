// The log sink over a target that a test lets succeed, fail or stand still: order, the bound of memory, the count.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LogSink, type LogTarget } from '#dist/server/log.js';

type Done = Parameters<LogTarget['write']>[1];

/** A target whose writes wait until `answer` settles them. */
class HeldTarget implements LogTarget {
  written = '';
  readonly waiting: { bytes: Buffer; done: Done }[] = [];
  /** Bytes that writeSync takes before it fails. */
  roomBytes = 0;

  write(bytes: Buffer, done: Done): void {
    this.waiting.push({ bytes, done });
  }

  writeSync(bytes: Buffer): number {
    if (this.roomBytes === 0) throw new Error('EAGAIN');
    const takenBytes = Math.min(bytes.length, this.roomBytes);
    this.roomBytes -= takenBytes;
    this.written += bytes.subarray(0, takenBytes).toString();
    return takenBytes;
  }

  /** Settles the write that waits: with an error, or with a number of its bytes. */
  answer(takes: Error | number): void {
    const { bytes, done } = this.waiting.shift() as { bytes: Buffer; done: Done };
    if (takes instanceof Error) {
      done(takes, 0);
      return;
    }
    this.written += bytes.subarray(0, takes).toString();
    done(null, Math.min(takes, bytes.length));
  }
}

function sinkOf(maxWaitingBytes: number): { target: HeldTarget; sink: LogSink } {
  const target = new HeldTarget();
  const sink: LogSink = new LogSink(target, (count) => sink.write(`(${count})\n`), maxWaitingBytes);
  return { target, sink };
}

test('lines keep their order, one write at a time, also where a write takes a part', () => {
  const { target, sink } = sinkOf(1000);
  for (const word of ['é1\n', 'b2\n', 'c3\n']) sink.write(word);
  expect(target.waiting).toHaveLength(1);
  target.answer(2);
  target.answer(1);
  for (let turn = 0; turn < 3 && target.waiting.length > 0; turn++) target.answer(1000);
  expect(target.written).toBe('é1\nb2\nc3\n');
  expect(sink.waitingBytes).toBe(0);
  expect(target.waiting).toHaveLength(0);
});

test('a target that stands still: lines beyond the bound are dropped, counted, and reported in their place', () => {
  const { target, sink } = sinkOf(10);
  for (const word of ['1\n', '2\n', '3\n', '4\n', '5\n', '6\n', '7\n']) sink.write(word);
  expect(sink.waitingBytes).toBe(10);
  target.answer(1000);
  target.answer(1000);
  sink.write('8\n');
  while (target.waiting.length > 0) target.answer(1000);
  expect(target.written).toBe('1\n2\n3\n4\n5\n(2)\n8\n');
});

test('a failed write is tried again, and nothing is written twice', async () => {
  const { target, sink } = sinkOf(1000);
  sink.write('1\n');
  target.answer(new Error('ENOSPC'));
  sink.write('2\n');
  expect(target.waiting).toHaveLength(0);
  while (target.waiting.length === 0) await sleep(5);
  while (target.waiting.length > 0) target.answer(1000);
  expect(target.written).toBe('1\n2\n');
});

test('flush ends when the time is over, and flushNow writes what fits', async () => {
  const { target, sink } = sinkOf(1000);
  sink.write('1\n');
  target.answer(new Error('ENOSPC'));
  sink.write('2\n');
  sink.write('3\n');
  await sink.flush(20);
  expect(sink.waitingBytes).toBe(6);
  target.roomBytes = 5;
  sink.flushNow();
  expect(target.written).toBe('1\n2\n3');
});
