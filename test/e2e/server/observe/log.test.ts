// The log lines of requests: who, what and how long; the client behind proxies; the context of a trace (W3C Trace
// Context, sections 3.2 and 3.3); and a flood of requests, which is not a flood of lines. Last a search for keys in
// all that the service says.

import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { call, ENCODE, GOOD, postJson } from '../../../support/http-calls.js';
import { scrape } from '../../../support/metrics.js';
import { listening } from '../../../support/network.js';
import { sendRaw, startServer, type TestServer } from '../../../support/server.js';
import { sharedServer } from '../../../support/shared.js';

const behind = sharedServer({ trustedProxies: ['127.0.0.1', '10.0.0.0/8', '2001:db8:aaaa::/48'] });
const plain = sharedServer();

type Line = Record<string, unknown>;

const linesOf = (server: TestServer): Line[] =>
  server
    .log()
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text) as Line);

/** Waits for the first line that is as asked. */
async function lineOf(server: TestServer, isMeant: (line: Line) => boolean): Promise<Line> {
  for (;;) {
    const line = linesOf(server).find(isMeant);
    if (line !== undefined) return line;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('the first line of a service names the build of uWebSockets.js that was tested', async () => {
  const { transport, transport_version } = await lineOf(plain, ({ msg }) => msg === 'listening');
  expect(['@btc-vision/uwebsockets.js 20.57.0', 'uws-pack 20.0.8']).toContain(
    `${transport} ${transport_version}`,
  );
});

let calls = 0;
/** The line of a call with these headers. */
function lineFor(server: TestServer, headers: Record<string, string>, path = '/v1/meta', body?: string) {
  const id = `call-${++calls}`;
  const given = body === undefined ? { headers } : { ...postJson(body), headers };
  return call(server, path, { ...given, headers: { ...headers, 'X-Request-Id': id } }).then(() =>
    lineOf(server, ({ request_id }) => request_id === id),
  );
}

const clientOf = async (server: TestServer, forwardedFor: string): Promise<unknown> =>
  (await lineFor(server, { 'X-Forwarded-For': forwardedFor })).client;

test.each([
  ['no header', '', '127.0.0.1'],
  ['one proxy', '203.0.113.9', '203.0.113.9'],
  ['two proxies', '203.0.113.9, 10.0.0.2', '203.0.113.9'],
  ['a client that adds an entry itself', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
  ['a client that calls itself a proxy', '1.1.1.1,10.9.9.9,203.0.113.9,10.0.0.2', '203.0.113.9'],
  ['proxies only', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['IPv6', '2001:db8:bbbb::7, 2001:db8:aaaa::1', '2001:db8:bbbb::7'],
  ['IPv4 written as IPv6', '::ffff:203.0.113.9, ::ffff:10.0.0.2', '203.0.113.9'],
  ['IPv6 in long form', '2001:DB8:BBBB:0:0:0:0:7', '2001:db8:bbbb::7'],
  ['a port', '203.0.113.9:5123', '203.0.113.9'],
  ['IPv6 and a port', '[2001:db8:bbbb::7]:5123', '2001:db8:bbbb::7'],
  ['brackets only', '[2001:db8:bbbb::7]', '2001:db8:bbbb::7'],
  ['an entry that is none', '203.0.113.9, unknown', '127.0.0.1'],
  ['an entry that is none before a proxy', 'unknown, 10.0.0.2', '10.0.0.2'],
  ['an address of one machine', 'fe80::1%eth0', '127.0.0.1'],
  ['a leading zero', '192.0.2.01', '127.0.0.1'],
  ['three numbers', '192.0.2', '127.0.0.1'],
  ['an empty entry', '203.0.113.9,', '127.0.0.1'],
  ['an empty entry at the left', ',10.0.0.2', '10.0.0.2'],
  ['32 hops and no more', Array.from({ length: 100 }, (_, i) => `10.0.0.${i}`).join(','), '10.0.0.68'],
])('the client behind %s', async (_, forwardedFor, client) => {
  expect(await clientOf(behind, forwardedFor)).toBe(client);
  expect(await clientOf(plain, forwardedFor)).toBe('127.0.0.1');
});

test('a line has who, what and how long', async () => {
  const body = '{"points":[[21.03,105.85],[91,105],[21.03,105.85]]}';
  const json = { 'Content-Type': 'application/json' };
  const line = await lineFor(plain, json, `${ENCODE}/batch`, body);
  expect(line).toEqual({
    ...{ level: 30, time: expect.any(String), service: 'hexcodes', version: expect.any(String) },
    ...{ request_id: `call-${calls}`, key_id: expect.stringMatching(/^\w+$/), client: '127.0.0.1' },
    ...{ method: 'POST', route: `${ENCODE}/batch`, http_status: 200, points: 3, failed_points: 1 },
    ...{ bytes_in: body.length, bytes_out: expect.any(Number), duration_ms: expect.any(Number) },
    msg: 'answered',
  });
  expect(line.bytes_out).toBeGreaterThan(100);
});

test('a request that ends within its answer, or without one, says who has ended it, and why', async () => {
  const head = (id: string, more: string): string =>
    `POST ${ENCODE}/bulk HTTP/1.1\r\nHost: a\r\nX-API-Key: ${plain.key}\r\nX-Request-Id: ${id}\r\nContent-Type: text/csv\r\n${more}\r\n`;
  const early = connect(plain.port, '127.0.0.1');
  early.write(`${head('cut-early', 'Content-Length: 1000000\r\n')}lat,`);
  while (!(await scrape(plain.adminPort)).text.includes('hexcodes_http_requests_under_way 1'));
  early.destroy();
  const socket = connect(plain.port, '127.0.0.1');
  socket.write(`${head('cut-by-peer', 'Content-Length: 1000000\r\n')}lat,lng\n21.03,105.85\n`);
  await once(socket, 'data');
  socket.destroy();
  const long = `lat,lng\n${'21.03,105.85\n'.repeat(2000)}1,10,"${'a'.repeat(300_000)}`;
  await call(plain, `${ENCODE}/bulk`, {
    ...{ method: 'POST', body: long },
    headers: { 'Content-Type': 'text/csv', 'X-Request-Id': 'cut-by-us' },
  }).catch(() => undefined);
  const of = (id: string) =>
    lineOf(plain, ({ request_id, msg }) => request_id === id && /^closed/.test(`${msg}`));
  const byPeer = { ended_by: 'peer or transport', reason: 'the connection was closed' };
  expect(await of('cut-by-peer')).toMatchObject({
    ...{ ...byPeer, level: 40, http_status: 200, rested_ms: expect.any(Number) },
    msg: 'closed within its answer',
  });
  const without = await of('cut-early');
  expect(without).toMatchObject({ ...byPeer, level: 30, msg: 'closed without an answer' });
  expect(without).not.toHaveProperty('http_status');
  const byUs = await of('cut-by-us');
  expect(byUs).toMatchObject({ ended_by: 'service', msg: 'closed within its answer' });
  expect(byUs).not.toHaveProperty('rested_ms');
});

describe('the context of a trace', () => {
  const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
  const PARENT = '00f067aa0ba902b7';

  test.each([
    [`00-${TRACE}-${PARENT}-01`, true],
    [`00-${TRACE}-${PARENT}-00`, true],
    [`cc-${TRACE}-${PARENT}-01`, true],
    [`cc-${TRACE}-${PARENT}-01-what-the-future-will-be-like`, true],
    ['', false],
    [`00-${TRACE}-${PARENT}`, false],
    [`00-${TRACE}-${PARENT}-1`, false],
    [`00-${TRACE}-${PARENT}-01-`, false],
    [`00-${TRACE}-${PARENT}-01-more`, false],
    [`cc-${TRACE}-${PARENT}-01.what`, false],
    [`ff-${TRACE}-${PARENT}-01`, false],
    [`0-${TRACE}-${PARENT}-01`, false],
    [`00-${TRACE.toUpperCase()}-${PARENT}-01`, false],
    [`00-${'0'.repeat(32)}-${PARENT}-01`, false],
    [`00-${TRACE}-${'0'.repeat(16)}-01`, false],
    [`00-${TRACE.slice(1)}-${PARENT}-01`, false],
    [`00-${TRACE}-${PARENT}-0g`, false],
    [`00-${TRACE}-${PARENT}-01,00-${TRACE}-${PARENT}-01`, false],
  ])('the traceparent %j is in the line: %s', async (traceparent, isRead) => {
    const { trace_id, span_id } = await lineFor(plain, { traceparent });
    expect([trace_id, span_id]).toEqual(isRead ? [TRACE, PARENT] : [undefined, undefined]);
  });

  const members = (count: number): string => Array.from({ length: count }, (_, i) => `a${i}=1`).join(',');
  const STATES: readonly (readonly [given: string, read: string])[] = [
    ...['', 'foo=1', 'foo=1,bar=2', 'fw529a3039@dt=Ff AxoJM', `foo=${'x'.repeat(256)}`, members(32)].map(
      (text) => [text, text] as const,
    ),
    ['foo=1 ,\t bar=2,', 'foo=1,bar=2'],
    ...['foo@=1', 'Foo=1', 'foo =1', 'foo=1,foo=2', 'foo', 'foo=bar=baz', `foo=${'x'.repeat(257)}`].map(
      (text) => [text, ''] as const,
    ),
    [members(33), ''],
    [`a=${'x'.repeat(250)},b=${'x'.repeat(250)},c=${'x'.repeat(10)}`, ''],
  ];

  test('spans go on with the trace of the caller and its state, and lines have the ids of the span', async () => {
    const bodies: string[] = [];
    const { base, close } = await listening(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      bodies.push(text);
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
    onTestFinished(close);
    // Callers decide: of others no span is recorded.
    const server = await startServer({ otlpEndpoint: base, traceRatio: 0 });
    const aheadMs = Date.now() + 3_600_000;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => aheadMs + performance.now());
    const traceOf = (at: number): string => (at + 1).toString(16).padStart(32, 'a');
    const lines: Line[] = [];
    for (const [at, [tracestate]] of STATES.entries())
      lines.push(await lineFor(server, { traceparent: `00-${traceOf(at)}-${PARENT}-03`, tracestate }));
    const unsampled = await lineFor(server, { traceparent: `00-${TRACE}-${PARENT}-00` });
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
    for (const method of ['BREW', 'PUT']) await fetch(`${server.base}/v1/meta`, { method, headers });
    await server.stop();
    clock.mockRestore();
    const spans = bodies.flatMap((text) =>
      JSON.parse(text).resourceSpans.flatMap(({ scopeSpans }: { scopeSpans: { spans: Line[] }[] }) =>
        scopeSpans.flatMap((scope) => scope.spans),
      ),
    ) as Line[];
    expect(spans.splice(-2).map(({ name }) => name)).toEqual(['HTTP /v1/meta', 'HTTP /v1/meta']);
    expect(spans).toHaveLength(STATES.length);
    for (const [at, [given, read]] of STATES.entries()) {
      const span = spans.find(({ traceId }) => traceId === traceOf(at))!;
      expect([given, span.parentSpanId, span.traceState ?? '']).toEqual([given, PARENT, read]);
      expect(lines[at]).toMatchObject({ trace_id: traceOf(at), span_id: span.spanId });
    }
    expect(unsampled).toMatchObject({ trace_id: TRACE, span_id: PARENT });
    // The clock of the machine was set ahead, or it slept, after the start.
    for (const time of ['startTimeUnixNano', 'endTimeUnixNano'])
      expect(spans.map((span) => Number(span[time]) / 1e6 >= aheadMs)).toEqual(STATES.map(() => true));
  });
});

describe('lines of a second', () => {
  const requestsOf = (server: TestServer): Line[] =>
    linesOf(server).filter(({ msg }) => /^(answered|further requests)/.test(`${msg}`));

  /** Sends requests in one write, so that one turn of the event loop answers them. */
  async function atOnce(server: TestServer, paths: readonly string[]): Promise<void> {
    const socket = connect(server.port, '127.0.0.1');
    let text = '';
    socket.on('data', (bytes) => (text += bytes));
    socket.write(
      paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\n\r\n`).join(''),
    );
    while (text.split('HTTP/1.1 ').length <= paths.length) await once(socket, 'data');
    socket.destroy();
  }

  test('beyond the limit requests are counted, by status; failures have a limit of their own', async () => {
    // Points are 503 beyond the ceiling of the service.
    const limits = { logLevel: 'info' as const, logRequestsPerSecond: 2, maxPointsPerSecond: 1 };
    const server = await startServer(limits);
    const meta = Array.from({ length: 5 }, () => '/v1/meta');
    await atOnce(server, [...meta, '/v1/none', ...Array.from({ length: 5 }, () => `${ENCODE}?${GOOD}`)]);
    for (const level of [30, 50]) await lineOf(server, (line) => line.level === level && 'by_status' in line);
    const shown = requestsOf(server).map(({ level, http_status, requests, by_status }) => [
      ...[level, http_status ?? requests, by_status],
    ]);
    expect(shown).toEqual([
      ...[
        [30, 200, undefined],
        [30, 200, undefined],
        [50, 503, undefined],
        [50, 503, undefined],
        [30, 5, { 200: 4, 404: 1 }],
        [50, 2, { 503: 2 }],
      ],
    ]);
    expect(requestsOf(server).at(-1)!.msg).toBe('further requests of this second');
    // Answers of 500 alone are defects.
    expect((await scrape(server.adminPort)).text).toMatch(/^hexcodes_defects_total 0$/m);
    await server.stop();
  });

  test('at debug level every request has a line, at warn only failures; bare counts are logged at the stop', async () => {
    const of = async (more: object, paths: readonly string[]): Promise<Line[]> => {
      const server = await startServer({ maxPointsPerSecond: 1, ...more });
      await atOnce(server, paths);
      await server.stop();
      return requestsOf(server);
    };
    const paths = ['/v1/meta', '/v1/none', ...Array.from({ length: 3 }, () => `${ENCODE}?${GOOD}`)];
    const statuses = (lines: Line[]) => lines.map(({ http_status }) => http_status);
    const debug = await of({ logLevel: 'debug', logRequestsPerSecond: 1 }, paths);
    expect(statuses(debug)).toEqual([200, 404, 200, 503, 503]);
    expect(statuses(await of({ logLevel: 'warn' }, paths))).toEqual([503, 503]);
    const counted = await of({ logLevel: 'info', logRequestsPerSecond: 0 }, ['/v1/meta']);
    expect(counted).toEqual([expect.objectContaining({ requests: 1, by_status: { 200: 1 } })]);
  });
});

// A key in every place of a request where a client could put it, and then a search for it in all that the service says:
// log, metrics, traces, activity and error bodies. Likewise positions, which are said only where that is requested.

describe('no key', () => {
  /** A key of another form, as HEXCODES_API_KEYS may have. */
  const OWN_KEY = 'PlainSecret0123456789abcdef';

  /** All that was posted to a stand-in for a collector of OpenTelemetry. */
  const exported: string[] = [];
  let server: TestServer;

  beforeAll(async () => {
    const collector = await listening((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on('end', () => {
        exported.push(`${request.method} ${request.url} ${request.headers['content-type']}\n${body}`);
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
    server = await startServer({
      apiKeys: [{ name: 'own', secret: OWN_KEY }],
      otlpEndpoint: collector.base,
      traceRatio: 1,
    });
    return collector.close;
  });

  const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const LAT = '10.512345';

  test('a key is in nothing that the service says', async () => {
    const key = OWN_KEY;
    const auth = { 'X-API-Key': key };
    const heard: string[] = [];
    const said = async (path: string, init: RequestInit = {}): Promise<void> => {
      const answer = await fetch(`${server.base}${path}`, init);
      heard.push(await answer.text(), ...[...answer.headers.values()]);
    };
    const encode = '/v1/hexcodes/encode';
    const point = `lat=${LAT}&lng=106.5`;
    const json = { 'Content-Type': 'application/json' };
    await said(`${encode}?${point}&apikey=${key}`);
    await said(`${encode}?apikey=${key}&lat=${key}`, { headers: auth });
    await said(`${encode}?${point}&apikey=${key}&apikey=another`);
    await said(`${encode}?${point}`, { headers: { ...auth, 'X-Request-Id': key } });
    await said(`${encode}?${point}`, { headers: { ...auth, 'X-Request-Id': `a-${key}-b` } });
    await said(`${encode}?${point}`, { headers: { ...auth, traceparent: key, tracestate: `a=${key}` } });
    await said(`${encode}?${point}`, {
      headers: { ...auth, traceparent: TRACEPARENT, tracestate: `a=${key}` },
    });
    await said(`${encode}?${point}`, { headers: { ...auth, 'X-Forwarded-For': key, Accept: key } });
    await said(`${encode}?${point}`, { headers: { ...auth, 'User-Agent': key, Referer: key, Origin: key } });
    await said(encode, { method: 'POST', headers: { ...auth, 'Content-Type': key }, body: key });
    await said(encode, {
      method: 'POST',
      headers: { ...auth, ...json },
      body: JSON.stringify({ lat: key, apikey: key }),
    });
    await said(`${encode}/batch`, { method: 'POST', headers: { ...auth, ...json }, body: key });
    await said(`${encode}/bulk`, {
      method: 'POST',
      headers: { ...auth, 'Content-Type': 'text/csv' },
      body: `${key},lng\n1,2\n`,
    });
    await said(`/v1/${key}`, { headers: auth });
    await said(`/${key}?apikey=${key}`);
    await said(`/v1/hexcodes/${key}`, { headers: auth });
    await said(`/v1/admin-units/${key}`, { headers: auth });
    await said(`/v1/reverse?lat=${key}&lon=1&key=${key}`, { headers: { 'X-Request-Id': `a-${key}` } });
    heard.push(await sendRaw(server.port, `${key} / HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`));
    heard.push(
      await sendRaw(
        server.port,
        `GET / HTTP/1.1\r\nHost: ${key}\r\nHost: ${key}\r\nX-API-Key: ${key}\r\n\r\n`,
      ),
    );

    // A body that never ends, under a request id that is the key: it has a line, and no answer.
    const cut = connect(server.port, '127.0.0.1');
    cut.write(
      `POST ${encode}/batch HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nX-Request-Id: ${key}\r\nContent-Length: 9\r\n\r\n{`,
    );
    while (!(await scrape(server.adminPort)).text.includes('hexcodes_http_requests_under_way 1'));
    cut.destroy();
    while (!server.log().includes('closed without an answer')) await new Promise(setImmediate);

    const socket = new WebSocket(
      `ws://127.0.0.1:${server.port}/v1/hexcodes/stream?apikey=${key}`,
      'hexcodes.v1.json',
      {
        headers: { 'X-Request-Id': key },
      },
    );
    await once(socket, 'message');
    socket.send(JSON.stringify({ seq: 1, op: key, points: [[key, key]], apikey: key }));
    heard.push(String((await once(socket, 'message'))[0]));
    socket.close();
    await once(socket, 'close');

    const metrics = await scrape(server.adminPort);
    const activity = await (await fetch(`http://127.0.0.1:${server.adminPort}/activity`)).text();
    await server.stop();

    const spans = exported.join('\n');
    expect(exported[0]).toMatch(/^POST \/v1\/traces application\/json\n/);
    expect(spans).toContain('4bf92f3577b34da6a3ce929d0e0e4736');
    expect(spans).toContain('"env:own"');
    expect(server.log().match(/"msg":"answered"/g)?.length).toBeGreaterThan(15);
    for (const [where, text] of Object.entries({
      log: server.log(),
      metrics: metrics.text,
      activity,
      spans,
    })) {
      expect(text.length, where).toBeGreaterThan(20);
      expect(text, where).not.toContain(key);
      expect(text, where).not.toContain(LAT);
    }
    // An answer echoes what was sent, such as a hexcode; it never has the key.
    for (const text of heard) expect(text).not.toContain(key);
  });

  test('with --log-positions the lines of single calls have them, and no text that is not a code', async () => {
    const talking = await startServer({ logPositions: true });
    const headers = { 'X-API-Key': talking.key };
    const encoded = await fetch(`${talking.base}/v1/hexcodes/encode?lat=${LAT}&lng=106.5&resolution=10`, {
      headers,
    });
    const { hexcodes } = (await encoded.json()) as { hexcodes: string };
    await fetch(`${talking.base}/v1/hexcodes/decode?hexcodes=${hexcodes}`, { headers });
    await fetch(`${talking.base}/v1/hexcodes/decode?hexcodes=nonsense`, { headers });
    const lines = talking
      .log()
      .split('\n')
      .filter((line) => line.includes('"answered"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(
      lines.map(({ lat_deg, lng_deg, resolution, hexcodes: code }) => [lat_deg, lng_deg, resolution, code]),
    ).toEqual([
      [Number(LAT), 106.5, 10, undefined],
      [undefined, undefined, undefined, hexcodes],
      [undefined, undefined, undefined, undefined],
    ]);
    await talking.stop();
  });
});
