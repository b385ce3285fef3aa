// The view of `hexcodes top` from two readings of the admin port.
import { expect, test } from 'vitest';
import { bytes, drawView, duration, upTime } from '#dist/cli/commands/top.js';
import { quantileOf, type Reading, readExposition, viewOf } from '#dist/cli/readings.js';

const plain = (_style: string, text: string): string => text;

test('the text format is read: labels with escapes, infinities, comments', () => {
  const text = [
    '# HELP a An a.',
    '# TYPE a counter',
    'a 1',
    'a{b="c",d="x\\"y\\\\z\\n,{}"} 2.5e3',
    'h_bucket{le="+Inf"} +Inf 1700000000000',
    '',
  ].join('\n');
  expect([...readExposition(text)]).toEqual([
    [
      'a',
      [
        { labels: {}, value: 1 },
        { labels: { b: 'c', d: 'x"y\\z\n,{}' }, value: 2500 },
      ],
    ],
    ['h_bucket', [{ labels: { le: '+Inf' }, value: Number.POSITIVE_INFINITY }]],
  ]);
  for (const broken of ['<html>', 'a{b=c} 1', 'a{b="c} 1', 'a'])
    expect(() => readExposition(broken), broken).toThrow(SyntaxError);
});

test('quantiles lie between the bounds of their buckets', () => {
  const buckets = new Map([
    [0.1, 0],
    [0.2, 50],
    [0.4, 100],
    [Number.POSITIVE_INFINITY, 100],
  ]);
  expect(quantileOf(buckets, 0.5)).toBeCloseTo(0.2, 12);
  expect(quantileOf(buckets, 0.25)).toBeCloseTo(0.15, 12);
  expect(quantileOf(buckets, 0.99)).toBeCloseTo(0.396, 12);
  expect(
    quantileOf(
      new Map([
        [0.1, 0],
        [Number.POSITIVE_INFINITY, 3],
      ]),
      0.5,
    ),
  ).toBe(0.1);
  expect(quantileOf(new Map([[0.1, 0]]), 0.5)).toBeUndefined();
  expect(quantileOf(new Map(), 0.5)).toBeUndefined();
});

const reading = (atMs: number, count: number, keys: Reading['keys'] = []): Reading => ({
  atMs,
  keys,
  metrics: readExposition(
    [
      'hexcodes_info{version="1.2.3",kernel="k",data="d",data_date="2025-07-01",transport="uws",transport_version="20",node="22"} 1',
      'hexcodes_ready 1',
      `hexcodes_http_requests_total{route="/v1/hexcodes/encode",method="GET",status="200"} ${count}`,
      `hexcodes_http_requests_total{route="/v1/hexcodes/encode",method="GET",status="404"} ${count / 10}`,
      'hexcodes_http_requests_total{route="/v1/meta",method="GET",status="200"} 5',
      `hexcodes_http_request_duration_seconds_bucket{route="/v1/hexcodes/encode",le="0.0001"} ${count}`,
      `hexcodes_http_request_duration_seconds_bucket{route="/v1/hexcodes/encode",le="+Inf"} ${count}`,
      `hexcodes_points_total{operation="encode",outcome="ok"} ${count}`,
      `hexcodes_points_total{operation="encode",outcome="failed"} ${count / 10}`,
      `process_cpu_seconds_total ${count / 1000}`,
      'hexcodes_event_loop_delay_seconds{quantile="0.99"} 0.002',
    ].join('\n'),
  ),
});

test('rates are those between two readings', () => {
  const view = viewOf(
    reading(1000, 100, [{ id: 'k1', requests: 10, points: 10 }]),
    reading(3000, 500, [
      { id: 'k2', requests: 7, points: 7 },
      { id: 'k1', requests: 20, points: 410 },
    ]),
  );
  expect(view).toMatchObject({
    isReady: true,
    requestsPerSecond: 220,
    pointsPerSecond: 220,
    failedPointsPerSecond: 20,
    cpuShare: 0.2,
  });
  expect(view.eventLoop).toEqual({ p50: 0, p99: 0.002, max: 0 });
  expect(
    view.routes.map(({ route, requestsPerSecond, refusedPerSecond }) => [
      route,
      requestsPerSecond,
      refusedPerSecond,
    ]),
  ).toEqual([
    ['/v1/hexcodes/encode', 220, 20],
    ['/v1/meta', 0, 0],
  ]);
  expect(view.routes[0]?.p50).toBeCloseTo(0.00005, 12);
  expect(view.routes[1]?.p50).toBeUndefined();
  expect(view.keys).toEqual([
    { id: 'k1', requestsPerSecond: 5, pointsPerSecond: 200 },
    { id: 'k2', requestsPerSecond: 0, pointsPerSecond: 0 },
  ]);
});

test('of several processes counts are added up, and of delays the worst is shown', () => {
  const two = (count: number): Reading => ({
    atMs: count,
    keys: [],
    metrics: readExposition(
      ['1', '2']
        .flatMap((process) => [
          `hexcodes_ready{process="${process}"} 1`,
          `hexcodes_points_total{process="${process}",operation="encode",outcome="ok"} ${count}`,
          `hexcodes_event_loop_delay_seconds{process="${process}",quantile="1"} 0.0${process}`,
        ])
        .join('\n'),
    ),
  });
  const view = viewOf(two(0), two(1000));
  expect([view.isReady, view.pointsPerSecond, view.eventLoop.max]).toEqual([true, 2000, 0.02]);
});

test('after a restart the counts since then are the rate', () => {
  expect(viewOf(reading(0, 1000), reading(1000, 100)).requestsPerSecond).toBe(115);
});

test('a view is drawn as lines, the tables cut to the height of the screen', () => {
  const keys = Array.from({ length: 5 }, (_, i) => ({ id: `k${i}`, requests: 0, points: 0 }));
  const view = viewOf(reading(0, 0), reading(1000, 100, keys));
  const lines = drawView(view, '127.0.0.1:9090', plain, 2);
  const text = lines.join('\n');
  expect(lines[0]).toMatch(/^hexcodes 1\.2\.3 on 127\.0\.0\.1:9090, ready, up /);
  expect(text).toContain('\nrequests    110/s, ');
  expect(lines.slice(-8)).toEqual([
    'ROUTE                REQUESTS    P50    P99   4XX  5XX',
    '/v1/hexcodes/encode     110/s  50 µs  99 µs  10/s  0/s',
    '/v1/meta                  0/s      -      -   0/s  0/s',
    '',
    'KEY  REQUESTS  POINTS',
    'k0        0/s     0/s',
    'k1        0/s     0/s',
    'and 3 more',
  ]);
  expect(text).toMatch(/\nand 3 more$/);
});

test('control characters of a service do not reach the terminal', () => {
  const view = viewOf(reading(0, 0), reading(1000, 1, [{ id: 'k\u001b[2J', requests: 0, points: 0 }]));
  expect(drawView(view, 'a', plain).join('\n')).not.toContain('\u001b');
});

test('numbers have the unit that suits', () => {
  expect([undefined, 0.0000505, 0.0123, 2.5].map(duration)).toEqual(['-', '51 µs', '12.3 ms', '2.50 s']);
  expect([0, 1023, 1536, 200 * 2 ** 20, 3 * 2 ** 40].map(bytes)).toEqual([
    '0 B',
    '1023 B',
    '1.5 KiB',
    '200 MiB',
    '3.0 TiB',
  ]);
  expect([59, 61, 7500, 200_000].map(upTime)).toEqual(['59 s', '1 min 1 s', '2 h 5 min', '2 days 7 h']);
});
