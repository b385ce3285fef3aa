// Habits of clients of public APIs: keys in the header Authorization, one error object, gzip of
// every body within its limits, X-RateLimit headers, and files that crawlers and scanners ask for.
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scrape, sumOf } from '../../../support/metrics.js';
import { askRaw, rawClient } from '../../../support/raw-client.js';
import { startServer, type TestServer } from '../../../support/server.js';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    publicUrl: 'https://codes.example.com',
    securityContact: 'mailto:s@example.com',
  });
});
afterAll(() => server.stop());

const JSON_TYPE = { 'Content-Type': 'application/json' };
const call = (path: string, options: RequestInit = {}): Promise<Response> =>
  fetch(`${server.base}${path}`, options);
const post = (
  path: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Response> =>
  call(path, {
    method: 'POST',
    body: body as BodyInit,
    headers: { 'X-API-Key': server.key, ...JSON_TYPE, ...headers },
  });

test('the key may be in Authorization, by either scheme in any case; another scheme is not for us', async () => {
  for (const scheme of ['ApiKey', 'Bearer', 'bearer', 'APIKEY'])
    expect((await call('/v1/meta', { headers: { Authorization: `${scheme} ${server.key}` } })).status).toBe(
      200,
    );
  const basic = { Authorization: `Basic ${server.key}` };
  expect((await call('/v1/meta', { headers: basic })).status).toBe(401);
  expect((await call('/v1/meta', { headers: { ...basic, 'X-API-Key': server.key } })).status).toBe(200);
  const other = { Authorization: 'Bearer other', 'X-API-Key': server.key };
  expect((await call('/v1/meta', { headers: other })).status).toBe(400);
  expect((await call('/v1/meta', { headers: { Authorization: 'Bearer other' } })).status).toBe(401);
});

test('every scheme that a challenge names is taken', async () => {
  const challenge = (await call('/v1/meta')).headers.get('www-authenticate') ?? '';
  const schemes = [...challenge.matchAll(/(\w+) realm=/g)].map(([, scheme]) => scheme);
  expect(schemes.length).toBeGreaterThan(0);
  for (const scheme of schemes)
    expect((await call('/v1/meta', { headers: { Authorization: `${scheme} ${server.key}` } })).status).toBe(
      200,
    );
});

test('errors have one object; those of the two endpoints of the contract keep their members', async () => {
  const key = { 'X-API-Key': server.key };
  const cases: [path: string, options: RequestInit, status: number, code: string, param: string | null][] = [
    ['/v1/places', { headers: key }, 400, 'parameter_missing', 'q'],
    ['/v1/grid/23/0/0', { headers: key }, 400, 'parameter_invalid', 'z'],
    ['/v1/hexcodes/nope', { headers: key }, 404, 'hexcode_invalid', 'code'],
    ['/v1/admin-units/XX', { headers: key }, 404, 'not_found', null],
    ['/v1/nothing', {}, 404, 'not_found', null],
    ['/v1/meta', {}, 401, 'key_invalid', null],
    ['/v1/meta', { method: 'DELETE' }, 405, 'method_not_allowed', null],
    ['/v1/meta', { headers: { ...key, Accept: 'image/png' } }, 406, 'not_acceptable', null],
    [`/v1/meta?${'x'.repeat(8200)}`, { headers: key }, 414, 'target_too_long', null],
    ['/v1/hexcodes/stream', { headers: key }, 426, 'upgrade_required', null],
  ];
  for (const [path, options, status, code, param] of cases) {
    const answer = await call(path, options);
    const body = (await answer.json()) as { message: string; error: object };
    expect([path.slice(0, 30), answer.status, body.error]).toEqual([
      path.slice(0, 30),
      status,
      { code, message: body.message, param },
    ]);
  }
  for (const path of ['/v1/hexcodes/encode?lat=x&lng=1', '/v1/hexcodes/decode'])
    expect(await (await call(path, { headers: key })).json()).not.toHaveProperty('error');
});

test('items of a batch that fail have a code and their index, whatever their texts hold', async () => {
  const item = fc.oneof(
    fc.constant({ lat: 21.0288, lng: 105.8525 }),
    fc.constant([10.7769, 106.7009]),
    fc.constant({ lat: 0, lng: 0 }),
    fc.record({ lat: fc.jsonValue(), lng: fc.constant(105) }),
    fc.record({ lat: fc.constant(0), lng: fc.constant(0), id: fc.string({ maxLength: 40 }) }),
    fc
      .constantFrom('"status":"NOT_FOUND"', '\\"status\\":\\"', '\\', '"')
      .map((id) => ({ lat: 0, lng: 1, id })),
    fc.jsonValue({ maxDepth: 2 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 40 }), async (points) => {
      // More than one step of the conversion.
      const many = Array.from({ length: 60 }, () => points).flat();
      const { results, summary } = (await (
        await post('/v1/hexcodes/encode/batch', JSON.stringify({ points: many }))
      ).json()) as { results: Record<string, unknown>[]; summary: { failed: number } };
      expect(results).toHaveLength(many.length);
      let failed = 0;
      for (const [i, { status, code, index, details }] of results.entries()) {
        if (status === 'OK') {
          expect([code, index]).toEqual([undefined, undefined]);
          continue;
        }
        failed++;
        const [fault] = (details ?? []) as { message: string }[];
        const ofFault = fault?.message.startsWith('is required') ? 'parameter_missing' : 'parameter_invalid';
        expect([code, index]).toEqual([status === 'NOT_FOUND' ? 'outside_coverage' : ofFault, i]);
      }
      expect(summary.failed).toBe(failed);
    }),
    { seed: 49, numRuns: 60 },
  );
});

test('gzip of every body: the same answer as plain, bounded by what it unpacks to', async () => {
  const gzip = { 'Content-Encoding': 'gzip' };
  for (const [path, body] of [
    ['/v1/hexcodes/encode', '{"lat":21.0288,"lng":105.8525}'],
    ['/v1/hexcodes/decode', '{"hexcodes":"HN-6GHP4-83RFR"}'],
    [
      '/v1/hexcodes/encode/batch',
      JSON.stringify({ points: Array.from({ length: 9000 }, (_, i) => [20 + i / 1e4, 106]) }),
    ],
    ['/v1/hexcodes/decode/batch', '{"hexcodes":["HN-6GHP4-83RFR"]}'],
    [
      '/v1/traccar?resolution=9',
      '{"position":{"latitude":21,"longitude":105.8,"fixTime":0},"device":{"uniqueId":"1"}}',
    ],
  ] as const) {
    const plain = await (await post(path, body)).text();
    const whole = gzipSync(body);
    const half = Math.floor(body.length / 2);
    const members = Buffer.concat([gzipSync(body.slice(0, half)), gzipSync(body.slice(half))]);
    expect(await (await post(path, whole, gzip)).text(), path).toBe(plain);
    expect(await (await post(path, members, { 'Content-Encoding': 'X-GZIP' })).text(), path).toBe(plain);
    for (const broken of [
      whole.subarray(0, -1),
      Buffer.concat([whole, Buffer.from([0, 1])]),
      whole.subarray(1),
    ])
      expect((await post(path, broken, gzip)).status, path).toBe(400);
    const bomb = await post(path, gzipSync(Buffer.alloc(64 << 20)), gzip);
    expect(bomb.status, path).toBe(413);
  }
  // The bound is that of the plain body, to the byte.
  const padded = (bytes: number): Buffer =>
    gzipSync(`{"lat":21.0288,"lng":105.8525${' '.repeat(bytes - 30)}}`);
  expect((await post('/v1/hexcodes/encode', padded(16_384), gzip)).status).toBe(200);
  expect((await post('/v1/hexcodes/encode', padded(16_385), gzip)).status).toBe(413);
});

test('what crawlers, browsers and scanners ask for', async () => {
  expect(await (await call('/robots.txt')).text()).toBe('User-agent: *\nDisallow: /v1/\n');
  const icon = await call('/favicon.ico');
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  const contact = await call('/.well-known/security.txt');
  expect(contact.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const fields = Object.fromEntries(
    (await contact.text())
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/: (.*)/).slice(0, 2)),
  ) as Record<string, string>;
  expect(fields.Contact).toBe('mailto:s@example.com');
  expect(fields.Canonical).toBe('https://codes.example.com/.well-known/security.txt');
  const days = (Date.parse(fields.Expires!) - Date.now()) / 86_400_000;
  expect(days > 1 && days < 365).toBe(true);
});

test('/v1/openapi.json is /openapi.json, with the address that clients use', async () => {
  const [one, other] = await Promise.all(
    ['/openapi.json', '/v1/openapi.json'].map(async (path) => (await call(path)).text()),
  );
  expect(other).toBe(one);
  expect(JSON.parse(one!).servers).toEqual([{ url: 'https://codes.example.com' }]);
  const packed = await call('/v1/openapi.json', { headers: { 'Accept-Encoding': 'gzip' } });
  expect(packed.status).toBe(200);
});

test('a path of the admin port says where it is', async () => {
  for (const path of ['/readyz', '/livez', '/metrics']) {
    const { message } = (await (await call(path)).json()) as { message: string };
    expect(message).toContain(`${path} is on the admin port`);
  }
});

test('an upgrade to HTTP/2 is not taken, and the call is answered, with its body', async () => {
  const body = '{"lat":21.0288,"lng":105.8525}';
  const client = await rawClient(server.port);
  const answer = await askRaw(client, [
    `POST /v1/hexcodes/encode HTTP/1.1\r\nHost: x\r\nX-API-Key: ${server.key}\r\nConnection: Upgrade, HTTP2-Settings\r\n` +
      `Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  ]);
  client.socket.destroy();
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer).toContain('"status":"OK"');
});

test('batches whose clients go leave nothing held', async () => {
  const points = JSON.stringify({ points: Array.from({ length: 8000 }, () => [21.0288, 105.8525]) });
  const cuts = [1, points.length >> 1, points.length - 1, points.length];
  const gone = Array.from({ length: 40 }, async (_, i) => {
    const client = await rawClient(server.port);
    const head = `POST /v1/hexcodes/encode/batch HTTP/1.1\r\nHost: x\r\nX-API-Key: ${server.key}\r\nContent-Type: application/json\r\n`;
    client.socket.write(`${head}Content-Length: ${points.length}\r\n\r\n${points.slice(0, cuts[i % 4])}`);
    await sleep(i % 10);
    client.socket.resetAndDestroy();
  });
  await Promise.all(gone);
  const held = async (): Promise<number> => {
    const { metrics } = await scrape(server.adminPort);
    return sumOf(metrics, 'hexcodes_held_bytes') + sumOf(metrics, 'hexcodes_http_requests_under_way');
  };
  while ((await held()) > 0) await sleep(50);
  expect((await post('/v1/hexcodes/encode/batch', points)).status).toBe(200);
});

test('Accept: application/json, which generated clients send, does not refuse answers that are no JSON', async () => {
  const headers = { 'X-API-Key': server.key, Accept: 'application/json' };
  const csv = await call('/v1/hexcodes/encode/bulk', {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'text/csv' },
    body: 'lat,lng\n21.0288,105.8525\n',
  });
  expect([csv.status, csv.headers.get('content-type')?.split(';')[0]]).toEqual([200, 'text/csv']);
  const tile = await call('/v1/grid/12/3252/1803.mvt', { headers });
  expect([tile.status, tile.headers.get('content-type')]).toEqual([
    200,
    'application/vnd.mapbox-vector-tile',
  ]);
  const refused = await call('/v1/grid/12/3252/1803.mvt', { headers: { ...headers, Accept: 'image/png' } });
  expect(refused.status).toBe(406);
});
