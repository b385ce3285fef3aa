// A key in every place of a request where a client could put it, and then a search for it in all that the service says:
// log, metrics, traces, activity and error bodies. Likewise positions, which are said only where that is requested.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { scrape } from '../../../support/metrics.js';
import { sendRaw, startServer, type TestServer } from '../../../support/server.js';

/** A key of another form, as HEXCODES_API_KEYS may have. */
const OWN_KEY = 'PlainSecret0123456789abcdef';

/** Stands in for a collector of OpenTelemetry: it keeps what is posted, and answers as one. */
let collector: Server;
const exported: string[] = [];
let server: TestServer;

beforeAll(async () => {
  collector = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      exported.push(`${request.method} ${request.url} ${request.headers['content-type']}\n${body}`);
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  server = await startServer({
    apiKeys: [{ name: 'own', secret: OWN_KEY }],
    otlpEndpoint: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    traceRatio: 1,
  });
});
afterAll(async () => {
  collector.closeAllConnections();
  await new Promise((resolve) => collector.close(resolve));
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
    await sendRaw(server.port, `GET / HTTP/1.1\r\nHost: ${key}\r\nHost: ${key}\r\nX-API-Key: ${key}\r\n\r\n`),
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
  for (const [where, text] of Object.entries({ log: server.log(), metrics: metrics.text, activity, spans })) {
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
