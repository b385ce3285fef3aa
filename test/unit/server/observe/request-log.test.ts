// The lines of requests: what they hold, and that a flood of requests is not a flood of lines.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ClientAddresses } from '#dist/server/client-address.js';
import type { Exchange } from '#dist/server/exchange.js';
import { openLog } from '#dist/server/log.js';
import { RequestLog } from '#dist/server/observe/request-log.js';

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
    log.add({ ...REQUEST, ...fields } as unknown as Exchange, 1002.3456, undefined);
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
  log.add({ ...REQUEST, head: { ...HEAD, traceparent } } as unknown as Exchange, 0, {
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
