// The log: its sink, secrets, and lines for people. The lines of requests: test/e2e/server/observe/log.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { LogSink, type LogTarget, lineForPeople, openLog } from '../../support/server.js';

// The log sink over a target that a test lets succeed, fail or stand still: order, the bound of memory, the count.
describe('the sink', () => {
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
});

// Secrets that a line of the log must not have.
describe('secrets', () => {
  function linesOf(work: (logger: ReturnType<typeof openLog>['logger']) => void): Record<string, unknown>[] {
    const lines: string[] = [];
    const { logger } = openLog('info', { write: (line) => lines.push(line) });
    work(logger);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  test('secrets are not written, of a line or of an object in it, and the object of the caller keeps them', () => {
    const fields = {
      key_id: 'a',
      apikey: 'x',
      request: { query: 'key=x', method: 'GET' },
      list: [1, 2],
      none: null,
    };
    const [line] = linesOf((logger) => logger.info(fields, 'said'));
    expect(line).toMatchObject({
      ...{ key_id: 'a', apikey: '[redacted]', list: [1, 2], none: null, msg: 'said' },
      request: { query: '[redacted]', method: 'GET' },
    });
    expect(fields).toMatchObject({ apikey: 'x', request: { query: 'key=x' } });
  });

  test('of an error as well, with its message and its stack', () => {
    const error = Object.assign(new Error('broken'), { headers: { 'x-api-key': 'x' }, code: 'EIO' });
    const [given, alone] = linesOf((logger) => {
      logger.error({ err: error }, 'failed');
      logger.error(error);
    });
    for (const line of [given, alone])
      expect(line).toMatchObject({
        err: { type: 'Error', message: 'broken', code: 'EIO', headers: '[redacted]' },
      });
    expect((given!.err as { stack: string }).stack).toContain('log.test');
  });

  test('keys of our form are masked wherever they stand', () => {
    const [line] = linesOf((logger) =>
      logger.info({ client: 'hxk_0123456789abcdef' }, 'from hxk_0123456789abcdef'),
    );
    expect(line).toMatchObject({ client: 'hxk_…', msg: 'from hxk_…' });
  });
});

// Log lines on a terminal.
describe('lines for people', () => {
  const line = (fields: object): string =>
    `${JSON.stringify({ level: 30, time: '2025-07-01T10:20:30.123Z', service: 'hexcodes', version: '1', ...fields })}\n`;

  test.each([
    [
      'a request',
      { method: 'GET', route: '/v1/x', http_status: 200, duration_ms: 0.4, client: 'a', msg: 'answered' },
      '10:20:30  GET /v1/x 200 in 0.4 ms client="a"\n',
    ],
    ['a warning', { level: 40, msg: 'full', left: 3 }, '10:20:30  WARN  full left=3\n'],
    ['what a terminal would obey', { msg: 'a\u001b[2Jb' }, '10:20:30  a·[2Jb\n'],
  ])('%s', (_, fields, expected) => {
    expect(lineForPeople(line(fields))).toBe(expected);
  });

  test('what is not JSON stays', () => {
    expect(lineForPeople('x\n')).toBe('x\n');
  });
});
