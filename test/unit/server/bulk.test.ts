// Work of large bodies: points of a key, batches in slices, and files of answers on disk.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { BulkLimit } from '#dist/server/bulk/limit.js';
import { type Spool, SpoolFullError, Spools } from '#dist/server/bulk/spool.js';
import { SlicedBatches } from '#dist/server/routes/batch.js';
import { openKernel } from '../../support/open-world.js';
import { encodeFrame } from '../../support/raw-stream.js';
import { WAIT } from '../../support/usage-model.js';
import { batchBody, openBatch, Wire } from '../../support/wire.js';

// A bulk body that waits for points of its key, by an entry that the test answers for.
describe('points of a key', () => {
  const BLOCK = new TextEncoder().encode('1,2\n3,4\n');
  const JOB = { input: 'csv' } as never;

  function waiting() {
    const given: number[] = [];
    let answer: (points: number) => void = () => {};
    let turns = 0;
    const entry = {
      isFree: false,
      key: { hasQuota: true, rates: { now: () => Number.POSITIVE_INFINITY } },
      period: undefined,
      take: () => WAIT,
      whenTaken: () => new Promise<number>((resolve) => (answer = resolve)),
      done: (ok: number, failed: number, reserved: number) => given.push(reserved - ok - failed),
    };
    const limit = new BulkLimit(entry as never, () => turns++);
    expect(limit.admit(JOB, BLOCK as never, true)).toBeUndefined();
    expect(limit.isWaiting).toBe(true);
    return { limit, given, turns: () => turns, answer: () => answer(2) };
  }

  test('continues once its points have arrived, and uses them', async () => {
    const { limit, given, turns, answer } = waiting();
    answer();
    await new Promise(setImmediate);
    expect([turns(), limit.isWaiting]).toEqual([1, false]);
    expect(limit.admit(JOB, BLOCK as never, true)).toMatchObject({ reserved: 2, rows: undefined });
    expect(given).toEqual([]);
  });

  test('gives its points back where it is gone when they come, and where it goes before it has used them', async () => {
    const first = waiting();
    first.limit.close();
    first.answer();
    await new Promise(setImmediate);
    expect([first.given, first.turns()]).toEqual([[2], 0]);
    const second = waiting();
    second.answer();
    await new Promise(setImmediate);
    second.limit.close();
    expect(second.given).toEqual([2]);
  });

  test('points that were granted for more rows than the rate has left go back, and are requested again', async () => {
    let left = 2;
    const [given, asked]: [number[], number[]] = [[], []];
    const entry = {
      isFree: false,
      key: { hasQuota: true, rates: { now: () => left, worthwhile: () => 1 } },
      period: undefined,
      take: () => WAIT,
      whenTaken: async (_: number, most: number) => {
        asked.push(most);
        return most;
      },
      done: (ok: number, failed: number, reserved: number) => given.push(reserved - ok - failed),
    };
    const block = new TextEncoder().encode('1,2\n3,4\n5,6\n');
    const limit = new BulkLimit(entry as never, () => {});
    expect(limit.admit(JOB, block as never, true)).toBeUndefined();
    await new Promise(setImmediate);
    left = 1;
    expect(limit.admit(JOB, block as never, true)).toBeUndefined();
    await new Promise(setImmediate);
    expect(limit.admit(JOB, block as never, true)).toMatchObject({ reserved: 1, rows: 1 });
    expect([given, asked]).toEqual([[2], [2, 1]]);
  });

  test('points of a block of frames are those that its frames announce, and one for bytes that are not a frame', () => {
    const frames = [3, 0, 5].map((count) => encodeFrame(0, new Float64Array(2 * count)));
    const block = Buffer.concat([...frames, Buffer.alloc(20, 255)]);
    const asked: number[] = [];
    const entry = {
      isFree: false,
      key: { hasQuota: true, rates: { now: () => Number.POSITIVE_INFINITY } },
      period: undefined,
      take: (points: number) => {
        asked.push(points);
        return points;
      },
    };
    const limit = new BulkLimit(entry as never, () => {});
    expect(limit.admit({ input: 'frames' } as never, block as never, true)).toMatchObject({ reserved: 10 });
    expect(asked).toEqual([10]);
  });
});

// Large batches in slices: one slice a turn, one batch after the other, memory used again, and every way a batch may
// end.
describe('batches in slices', () => {
  const kernel = openKernel();
  const slices = new SlicedBatches(kernel);

  /** The part of an exchange that slices use. */
  class FakeExchange {
    held = 0;
    fault: unknown;
    onOver: (() => void) | undefined;
    readonly body = { keep: (body: Uint8Array) => new Uint8Array(body) };
    hold(bytes: number): void {
      this.held = bytes;
    }
    guard(work: () => void): void {
      try {
        work();
      } catch (error) {
        this.fault = error;
        this.end();
      }
    }
    /** The answer has left, or the peer is gone. */
    end(): void {
      const { onOver } = this;
      this.onOver = undefined;
      onOver?.();
    }
  }

  const bodyOf = (
    items: number,
    item = (i: number): string => `{"lat":21,"lng":${105 + i / 1e6},"id":${i}}`,
  ) => Buffer.from(`{"points":[${Array.from({ length: items }, (_, i) => item(i)).join(', ')}]}`);

  const inOneGo = (body: Buffer): string => Buffer.from(new Wire(kernel).batch('encode', body)).toString();

  interface Run {
    readonly x: FakeExchange;
    readonly ended: string[];
    answer: string;
  }

  function begin(body: Buffer): Run {
    const x = new FakeExchange();
    const run: Run = { x, ended: [], answer: '' };
    slices.convert(x as never, openBatch('encode', body, kernel), {
      converted(batch) {
        run.ended.push('converted');
        run.answer = Buffer.from(batchBody(batch)).toString();
        x.end();
      },
      tooMuch(kept) {
        run.ended.push(`too much of ${kept.length} bytes`);
        x.end();
      },
      givenUp(total, failed) {
        run.ended.push(`given up after ${total}, ${failed} failed`);
      },
    });
    // As the transport does, which takes its memory back.
    body.fill(0);
    return run;
  }

  test('three batches are converted one after the other, a slice in each turn, and have the answers of one go', async () => {
    const bodies = [bodyOf(10_000), bodyOf(9000, (i) => `[21.5,${100 + i / 500}]`), bodyOf(3)];
    const wanted = bodies.map(inOneGo);
    const runs = bodies.map((body) => begin(Buffer.from(body)));
    expect(runs[0]!.x.held).toBe(3 * bodies[0]!.length);
    const endedAt = runs.map(() => 0);
    for (let turns = 1; endedAt.includes(0) && turns < 100; turns++) {
      await turn();
      for (const [i, { ended }] of runs.entries()) if (ended.length > 0) endedAt[i] ||= turns;
    }
    expect(runs.map(({ ended }) => ended)).toEqual([['converted'], ['converted'], ['converted']]);
    expect(runs.map(({ answer }) => answer)).toEqual(wanted);
    // Slices of 2,048: the small one has one, the others have five each.
    expect(endedAt).toEqual([5, 10, 11]);
  });

  test('a batch that proves not to be JSON is given up, one whose peer is gone with what it has converted', async () => {
    const broken = begin(bodyOf(5000, (i) => (i === 4000 ? '{"lat":}' : '[21,105]')));
    const left = begin(bodyOf(10_000, () => '[1,105]'));
    for (let i = 0; i < 3; i++) await turn();
    left.x.end();
    for (let i = 0; i < 6; i++) await turn();
    expect(broken.ended).toEqual(['given up after 0, 0 failed']);
    expect(String(broken.x.fault)).toContain('points is not valid JSON');
    expect(left.ended).toEqual(['given up after 2048, 2048 failed']);
    expect(slices.mayTake(1000)).toBe(true);
  });

  test('rows that are too much for one turn are left to the pool, with the whole body', async () => {
    const body = bodyOf(4000, () => '{"lng":105,"lat":"21"}');
    const run = begin(Buffer.from(body));
    for (let i = 0; i < 4; i++) await turn();
    expect(run.ended).toEqual([`too much of ${body.length} bytes`]);
  });

  test('no more than sixteen at a time, and none over 1 MiB', async () => {
    expect(slices.mayTake(1024 * 1024)).toBe(true);
    expect(slices.mayTake(1024 * 1024 + 1)).toBe(false);
    const runs = Array.from({ length: 16 }, () => begin(bodyOf(3000)));
    expect(slices.mayTake(1)).toBe(false);
    for (let i = 0; i < 40; i++) await turn();
    expect(runs.every(({ ended }) => ended[0] === 'converted')).toBe(true);
    expect(slices.mayTake(1)).toBe(true);
  });
});

// Shares of the keys in the files of answers that wait on disk.
describe('files of answers', () => {
  test('a key opens three quarters of the files at most, and they are free again when they are closed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hexcodes-spools-'));
    const spools = new Spools(folder, { requestBytes: 100, totalBytes: 1000, files: 8 });
    const open: Spool[] = [];
    const fill = (key: string): number => {
      const before = open.length;
      try {
        for (;;) open.push(spools.open(key));
      } catch (error) {
        expect(error).toBeInstanceOf(SpoolFullError);
      }
      return open.length - before;
    };
    expect([fill('a'), fill('b'), fill('c')]).toEqual([6, 2, 0]);
    await Promise.all(open.map((spool) => spool.append(Buffer.alloc(10))));
    expect(spools.totalBytes).toBe(80);
    for (const spool of open.splice(0)) spool.close();
    expect(spools.totalBytes).toBe(0);
    expect(fill('a')).toBe(6);
    for (const spool of open) await spool.written.then(() => spool.close());
    rmSync(folder, { recursive: true });
  });
});
