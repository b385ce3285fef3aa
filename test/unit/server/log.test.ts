// The log: its sink, secrets, lines for people, and the lines of requests.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ClientAddresses } from '#dist/server/http/exchange.js';
import { LogSink, type LogTarget, lineForPeople, openLog } from '#dist/server/observe/log.js';
import { RequestCounts } from '#dist/server/observe/metrics/request-counts.js';
import { RequestLog } from '#dist/server/observe/request-log.js';

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

// The lines of requests: what they hold, and that a flood of requests is not a flood of lines.
describe('lines of requests', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const HEAD = {
    requestId: 'r1',
    hasGivenId: false,
    method: 'GET',
    pattern: '/v1/meta',
    forwardedFor: '',
    traceparent: '',
  };
  const REQUEST = {
    head: HEAD,
    notes: { entry: undefined, position: {} },
    status: 200,
    isComplete: true,
    keyId: 'k1',
    peerAddress: Uint8Array.of(192, 0, 2, 1),
    bytesIn: 0,
    bytesOut: 10,
    startedMs: 1000,
    progressMs: 1000,
    abortReason: undefined,
  };

  type Line = Record<string, unknown>;

  function logOf(
    level: 'debug' | 'info' | 'warn',
    linesPerSecond: number,
  ): {
    log: RequestLog;
    lines: Line[];
    add: (fields?: object) => void;
  } {
    const lines: Line[] = [];
    const { logger } = openLog(level, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
    const log = new RequestLog(logger, new ClientAddresses(['192.0.2.1']), linesPerSecond);
    const add = (fields: object = {}): void =>
      log.add({ ...REQUEST, ...fields } as never, 1002.3456, undefined);
    return { log, lines, add };
  }

  test('a line has who, what and how long', () => {
    const { lines, add } = logOf('info', 10);
    const entry = { points: 3, failedPoints: 1 };
    add({ notes: { entry, position: {} }, head: { ...HEAD, forwardedFor: '203.0.113.5' } });
    const { time, service, version, ...line } = lines[0] as Line;
    expect([typeof time, service, typeof version]).toEqual(['string', 'hexcodes', 'string']);
    expect(line).toEqual({
      level: 30,
      request_id: 'r1',
      key_id: 'k1',
      client: '203.0.113.5',
      method: 'GET',
      route: '/v1/meta',
      http_status: 200,
      points: 3,
      failed_points: 1,
      bytes_in: 0,
      bytes_out: 10,
      duration_ms: 2.346,
      msg: 'answered',
    });
  });

  test('requests that end otherwise say so', () => {
    const { lines, add } = logOf('info', 10);
    add({ status: 0, isComplete: false });
    add({ isComplete: false });
    add({ status: 503 });
    add({ status: 101 });
    expect(lines.map(({ level, http_status, msg }) => [level, http_status, msg])).toEqual([
      [30, undefined, 'closed without an answer'],
      [40, 200, 'closed within its answer'],
      [50, 503, 'answered'],
    ]);
  });

  test('an answer that ends within itself says who has ended it, and why', () => {
    const { lines, add } = logOf('info', 10);
    add({ isComplete: false });
    add({ isComplete: false, abortReason: 'the store is full' });
    add();
    expect(lines.map(({ ended_by, reason, rested_ms }) => [ended_by, reason, rested_ms])).toEqual([
      ['peer or transport', 'the connection was closed', 2.346],
      ['service', 'the store is full', undefined],
      [undefined, undefined, undefined],
    ]);
  });

  test('the ids of a trace are those of the caller, unless a span was recorded', () => {
    const { log, lines, add } = logOf('info', 10);
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    add({ head: { ...HEAD, traceparent } });
    add({ head: { ...HEAD, traceparent: `${traceparent}-more` } });
    log.add({ ...REQUEST, head: { ...HEAD, traceparent } } as never, 0, {
      traceId: 'a',
      spanId: 'b',
    });
    expect(lines.map(({ trace_id, span_id }) => [trace_id, span_id])).toEqual([
      ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'],
      [undefined, undefined],
      ['a', 'b'],
    ]);
  });

  test('beyond the limit of a second requests are counted, by status', () => {
    const { log, lines, add } = logOf('info', 2);
    for (let i = 0; i < 5; i++) add();
    add({ status: 404 });
    expect(lines).toHaveLength(2);
    expect(log.skipped).toBe(4);
    vi.advanceTimersByTime(1000);
    expect(lines).toHaveLength(3);
    expect(lines[2]).toMatchObject({
      level: 30,
      requests: 4,
      by_status: { 200: 3, 404: 1 },
      msg: 'further requests of this second',
    });
    add();
    expect(lines).toHaveLength(4);
    vi.advanceTimersByTime(1000);
    expect(lines).toHaveLength(4);
  });

  test('failures have a limit of their own', () => {
    const { lines, add } = logOf('info', 1);
    for (const status of [200, 200, 500, 503]) add({ status });
    expect(lines.map(({ http_status }) => http_status)).toEqual([200, 500]);
    vi.advanceTimersByTime(1000);
    expect(lines.slice(2).map(({ level, by_status }) => [level, by_status])).toEqual([
      [30, { 200: 1 }],
      [50, { 503: 1 }],
    ]);
  });

  test('at debug level every request has its line, at warn only failures', () => {
    const debug = logOf('debug', 1);
    const warn = logOf('warn', 10);
    for (const status of [200, 404, 500]) {
      debug.add({ status });
      warn.add({ status });
    }
    expect(debug.lines).toHaveLength(3);
    expect(warn.lines.map(({ http_status }) => http_status)).toEqual([500]);
    expect(warn.log.skipped).toBe(0);
  });

  test('what is only counted when the service stops is logged then', () => {
    const { log, lines, add } = logOf('info', 0);
    add();
    log.close();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ requests: 1 });
  });
});

// Requests by route and status, and answers of 500 in a count of their own, which is there before the first of them.
describe('answers of 500', () => {
  test('only 500 is a defect', () => {
    const counts = new RequestCounts();
    const head = { pattern: '/x', method: 'GET' };
    const request = { head, isComplete: true, startedMs: 0, bytesIn: 0, bytesOut: 0 };
    expect(counts.defects).toBe(0);
    for (const status of [200, 404, 499, 501, 503, 0]) counts.add({ ...request, status }, 1);
    expect(counts.defects).toBe(0);
    for (const pattern of ['/x', '/y'])
      counts.add({ ...request, head: { ...head, pattern }, status: 500 }, 1);
    expect(counts.defects).toBe(2);
  });
});
