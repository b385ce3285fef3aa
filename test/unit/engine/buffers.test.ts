// Memory and marks of workers of a bus: answers that are kept, messages of a turn, and rates of what was reached.
import { describe, expect, test } from 'vitest';
import { Marks } from '#dist/bus/nats/collector.js';
import { Outbox } from '#dist/bus/nats/nats-engine.js';
import {
  AnswerBuffers,
  answerByLibrary,
  converterOf,
  encodeFrame,
  loadLibrary,
  positionsOf,
} from '../../support/engine/frames.js';

// Memory of answers is used again, and never while somebody may still read it.
describe('memory of answers', () => {
  test('a buffer that was given back is taken again, by answers of its size', () => {
    const buffers = new AnswerBuffers();
    const first = buffers.take(5000);
    expect(first.length).toBe(8192);
    expect(buffers.take(5000).buffer).not.toBe(first.buffer);
    buffers.giveBack(first.subarray(0, 5000));
    expect(buffers.take(8193).buffer).not.toBe(first.buffer);
    expect(buffers.take(4097).buffer).toBe(first.buffer);
    expect(buffers.take(4097).buffer).not.toBe(first.buffer);
  });

  test('no more than 16 MiB wait to be used again, and none that are very large', () => {
    const buffers = new AnswerBuffers();
    const taken = Array.from({ length: 20 }, () => buffers.take(1024 * 1024));
    for (const each of taken) buffers.giveBack(each);
    const again = Array.from({ length: 20 }, () => buffers.take(1024 * 1024).buffer);
    expect(again.filter((buffer) => taken.some((each) => each.buffer === buffer))).toHaveLength(16);
    const large = buffers.take(3 * 1024 * 1024);
    buffers.giveBack(large);
    expect(buffers.take(3 * 1024 * 1024).buffer).not.toBe(large.buffer);
  });

  test('an answer stays as it is until it is released, and a later one in its memory is right', async () => {
    const library = await loadLibrary();
    const converter = converterOf(library);
    const shape = { format: 'frames', operation: 'encode', resolution: 12 } as const;
    const positions = [300, 10, 299].map((points, i) => positionsOf(i, points));
    const rightOf = (i: number): Buffer => Buffer.from(answerByLibrary(library, positions[i]!));
    const answers = [];
    for (const each of positions) answers.push(await converter.convert(encodeFrame(each), shape));
    for (const [i, { bytes }] of answers.entries()) expect(Buffer.from(bytes)).toEqual(rightOf(i));
    const { buffer } = answers[0]!.bytes;
    answers[0]!.release!();
    const later = await converter.convert(encodeFrame(positions[2]!), shape);
    expect(later.bytes.buffer).toBe(buffer);
    expect(Buffer.from(later.bytes)).toEqual(rightOf(2));
    expect(Buffer.from(answers[2]!.bytes)).toEqual(rightOf(2));
  });
});

// The outbox sends all of one turn of the event loop together, in order, and nothing twice.
describe('the outbox', () => {
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test('all of a turn is sent at its end, in order and without a promise between', async () => {
    const outbox = new Outbox();
    const sent: string[] = [];
    const send = (name: string): void =>
      outbox.add(() => {
        sent.push(name);
        queueMicrotask(() => sent.push(`the client writes after ${name}`));
      });
    send('a');
    await Promise.resolve();
    send('b');
    expect(sent).toEqual([]);
    await turn();
    expect(sent.slice(0, 2)).toEqual(['a', 'b']);
    expect(sent).toHaveLength(4);
  });

  test('what is added while others are sent goes in the next turn, and nothing twice', async () => {
    const outbox = new Outbox();
    const sent: string[] = [];
    outbox.add(() => {
      sent.push('a');
      outbox.add(() => sent.push('b'));
    });
    await turn();
    expect(sent).toEqual(['a']);
    await turn();
    await turn();
    expect(sent).toEqual(['a', 'b']);
  });
});

// How far something had come a time ago: by marks, which a server that has forgotten something makes void.
describe('marks', () => {
  test('the last value that was reached so long ago; nothing where that is not known', () => {
    const marks = new Marks();
    expect(marks.before(0, 0)).toBeUndefined();
    for (const [value, atMs] of [
      [5, 0],
      [9, 1000],
      [9, 2000],
      [12, 3000],
    ] as const)
      marks.add(value, atMs);
    expect(marks.before(4000, 3500)).toBeUndefined();
    expect(marks.before(3500, 3500)).toBe(5);
    expect(marks.before(2000, 3500)).toBe(9);
    expect(marks.before(500, 3500)).toBe(12);
    expect(marks.before(2000, 3500)).toBeUndefined();
  });

  test('a value that falls, and a time without marks, make what was before void', () => {
    const fallen = new Marks();
    fallen.add(9, 0);
    fallen.add(7, 1000);
    expect(fallen.before(2000, 2000)).toBeUndefined();
    expect(fallen.before(1000, 2000)).toBe(7);
    const away = new Marks();
    away.add(9, 0);
    away.add(9, 20_000);
    expect(away.before(10_000, 25_000)).toBeUndefined();
    expect(away.before(5000, 25_000)).toBe(9);
  });
});
