// Positions on their way to a sink: order, bounds, tries, and the sink on NATS.

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Delivery } from '#dist/server/traccar/forward/delivery.js';
import { NatsSink } from '#dist/server/traccar/forward/sinks/sink.js';
import { line, opened, texts, until } from '../../support/traccar.js';

// The forwarder over sinks that take, refuse and hang: order, what the log says, the bound, and the end.
describe('the forwarder', () => {
  test('lines arrive once and in order, however many come at once; nothing is left on disk', async () => {
    const { forwarder, sink, said, folder } = await opened();
    await Promise.all(Array.from({ length: 2000 }, (_, n) => forwarder.take(line(n))));
    await until(() => sink.lines.length === 2000);
    expect(sink.lines).toEqual(texts(2000));
    expect(Math.max(...sink.batches.map((batch) => batch.length))).toBeLessThanOrEqual(500);
    await until(() => forwarder.waitingRows === 0);
    await forwarder.close();
    expect(readdirSync(folder)).toEqual([]);
    expect(said).toEqual([]);
  });

  test('positions are collected for a batch, which a full one does not wait for', async () => {
    const { forwarder, sink } = await opened({ batchMs: 3_600_000 });
    for (let n = 0; n < 499; n++) await forwarder.take(line(n));
    await sleep(30);
    expect(sink.tries).toBe(0);
    await forwarder.take(line(499));
    await until(() => sink.lines.length === 500);
    await forwarder.take(line(500));
    await forwarder.close();
    // The end delivers what there is.
    expect(sink.batches.map((batch) => batch.length)).toEqual([500, 1]);
  });

  test('a sink that takes nothing: said once, nothing lost, in order when it is back', async () => {
    const { forwarder, sink, said } = await opened();
    sink.fault = 'ECONNREFUSED';
    for (let n = 0; n < 20; n++) await forwarder.take(line(n));
    await until(() => sink.tries >= 2);
    expect(forwarder.fault).toBe('fake takes no positions (ECONNREFUSED): 20 wait on disk');
    sink.fault = undefined;
    await until(() => sink.lines.length === 20);
    expect(sink.lines).toEqual(texts(20));
    await until(() => forwarder.fault === undefined);
    expect(said.map((each) => each.split(' {')[0])).toEqual([
      'the sink of positions takes none; they wait on disk',
      'the sink of positions takes them again',
    ]);
    expect(said[0]).toContain('"reason":"ECONNREFUSED"');
    await forwarder.close();
  });

  test('as much waits as may: refused, said once, and taken again when there is space', async () => {
    const { forwarder, sink, said } = await opened({ maxBytes: 65_536 });
    sink.fault = 'away';
    let taken = 0;
    while (forwarder.hasSpace(line(taken).length)) await forwarder.take(line(taken++));
    expect(taken).toBeGreaterThan(4000);
    for (let i = 0; i < 5; i++) expect(forwarder.hasSpace(100)).toBe(false);
    sink.fault = undefined;
    await until(() => sink.lines.length === taken);
    expect(sink.lines).toEqual(texts(taken));
    await until(() => forwarder.hasSpace(100));
    await forwarder.take(line(taken));
    const refusals = said.filter((each) => each.startsWith('positions are refused'));
    const again = said.filter((each) => each.startsWith('positions are taken again'));
    expect([refusals.length, again.length]).toEqual([1, 1]);
    await forwarder.close();
  });

  test('what waits at the end is delivered by the next, before its own, and a sink that hangs does not hold it up', async () => {
    const first = await opened();
    first.sink.hangs = true;
    for (let n = 0; n < 3; n++) await first.forwarder.take(line(n));
    await first.forwarder.close();
    expect(first.said).toEqual(['positions wait on disk for the next start {"waiting":3}']);
    const second = await opened({ folder: first.folder, batchMs: 20 });
    expect(second.forwarder.waitingRows).toBe(3);
    for (let n = 3; n < 6; n++) await second.forwarder.take(line(n));
    await until(() => second.sink.lines.length === 6);
    expect(second.sink.lines).toEqual(texts(6));
    expect(second.said).toEqual(['positions that were left are delivered {"waiting":3}']);
    await second.forwarder.close();
    expect(readdirSync(first.folder)).toEqual([]);
  });

  test('a disk that takes nothing: the caller hears of it, and of the next line again', async () => {
    const { forwarder, sink, said, folder } = await opened();
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    for (const n of [0, 1])
      await expect(forwarder.take(line(n))).rejects.toThrow('the disk of the service takes no positions');
    expect(said.filter((each) => each.startsWith('positions are refused'))).toHaveLength(1);
    expect(sink.lines).toEqual([]);
    await forwarder.close();
  });

  test('a sink that neither takes nor gives up, and one that cannot be closed, do not hold up the end', async () => {
    const { forwarder, sink, said, folder } = await opened();
    sink.isDeaf = true;
    sink.closeFault = 'EIO';
    await forwarder.take(line(0));
    await until(() => sink.tries === 1);
    await forwarder.close();
    expect(said).toEqual([
      'positions or their sink cannot be closed {"reason":"EIO"}',
      'positions wait on disk for the next start {"waiting":1}',
    ]);
    const next = await opened({ folder });
    await until(() => next.sink.lines.length === 1);
    await next.forwarder.close();
  });

  test('a key that sends without end leaves a quarter to the others while the sink takes none', async () => {
    const { forwarder, sink } = await opened({ maxBytes: 65_536 });
    sink.fault = 'away';
    let taken = 0;
    while (forwarder.hasSpace(line(taken).length, 'a')) await forwarder.take(line(taken++), 'a');
    const before = taken;
    while (taken < before + 500) {
      expect(forwarder.hasSpace(line(taken).length, 'b')).toBe(true);
      await forwarder.take(line(taken++), 'b');
    }
    expect(forwarder.hasSpace(100, 'a')).toBe(false);
    sink.fault = undefined;
    await until(() => sink.lines.length === taken);
    await until(() => forwarder.hasSpace(100, 'a'));
    await forwarder.close();
  });
});

// How often a sink is tried that takes nothing: ever more rarely, up to every 30 s, and at once again when it is
// back.
describe('tries', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

  /** A delivery of one batch to a sink that fails `failures` times; the pauses between its tries in ms. */
  async function pausesOf(failures: number): Promise<number[]> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const tries: number[] = [];
    let waiting = 1;
    const backlog = {
      next: async () => ({ lines: Buffer.from('{}\n'), rows: 1, isFound: false }),
      accept: async () => {
        waiting = 0;
      },
    };
    const delivery = new Delivery({
      sink: {
        name: 'x',
        deliver: async () => {
          tries.push(performance.now());
          if (tries.length <= failures) throw new Error('no');
        },
        close: async () => undefined,
      },
      batchMs: 1,
      source: async () => (waiting > 0 ? (backlog as never) : undefined),
      waitingRows: () => waiting,
      log,
    });
    for (let i = 0; i < 2 * failures + 4 && tries.length <= failures; i++)
      await vi.advanceTimersByTimeAsync(30_000);
    const over = delivery.end(10);
    await vi.advanceTimersByTimeAsync(1000);
    await over;
    return tries.slice(1).map((time, i) => Math.round(time - tries[i]!));
  }

  test('the pauses double from 250 ms to 30 s', async () => {
    expect(await pausesOf(10)).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  test('a sink that takes the batch is not tried again', async () => {
    expect(await pausesOf(0)).toEqual([]);
  });
});

// The sink on NATS over publishers that are opened, refuse, and are closed for good. Files and HTTP: test/e2e/forward.

class FakePublisher {
  readonly published: string[] = [];
  hasEnded = false;
  isClosed = (): boolean => this.hasEnded;

  async publish(messages: readonly { readonly id: string; readonly bytes: Uint8Array }[]): Promise<void> {
    if (this.hasEnded) throw new Error('CLOSED');
    this.published.push(...messages.map(({ id, bytes }) => `${id} ${Buffer.from(bytes)}`));
  }

  async close(): Promise<void> {
    this.hasEnded = true;
  }
}

const batch = (...ids: string[]): Buffer => Buffer.from(ids.map((id) => `{"id":"${id}"}\n`).join(''));

test('one connection for all batches; each message is a line without its end, under its id', async () => {
  const opened: FakePublisher[] = [];
  const sink = new NatsSink('nats', async () => {
    opened.push(new FakePublisher());
    return opened.at(-1)!;
  });
  await sink.deliver(batch('a', 'b'));
  await sink.deliver(batch('c'));
  expect(opened).toHaveLength(1);
  expect(opened[0]!.published).toEqual(['a {"id":"a"}', 'b {"id":"b"}', 'c {"id":"c"}']);
  await sink.close();
  expect(opened[0]!.hasEnded).toBe(true);
});

test('a sink reconnects until the connection is open', async () => {
  const opened: FakePublisher[] = [];
  let tries = 0;
  const sink = new NatsSink('nats', async () => {
    if (++tries === 2) throw new Error('refuses these credentials');
    opened.push(new FakePublisher());
    return opened.at(-1)!;
  });
  await sink.deliver(batch('a'));
  opened[0]!.hasEnded = true;
  await expect(sink.deliver(batch('b'))).rejects.toThrow('refuses these credentials');
  await sink.deliver(batch('b'));
  await sink.deliver(batch('c'));
  expect(tries).toBe(3);
  expect(opened[1]!.published).toEqual(['b {"id":"b"}', 'c {"id":"c"}']);
});
