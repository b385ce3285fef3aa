// GET /v1/reverse on the real server, asked as products with a setting for a Nominatim server ask.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { boundary } from '#hexcodes/geometry';
import { call, expectError } from '../../../support/http-calls.js';
import { scrape } from '../../../support/metrics.js';
import { rowsOf } from '../../../support/region/fixtures.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { shippedFiles } from '../../../support/shipped.js';

const OWN_KEY = 'PlainSecret0123456789abcdef';
const DECODER = 'PlainSecret9876543210zyxwvu';
let server: TestServer;
const library = Hexcodes.from(shippedFiles());
beforeAll(async () => {
  const apiKeys = [
    { name: 'own', secret: OWN_KEY },
    { name: 'other', secret: DECODER },
  ];
  server = await startServer({ apiKeys }, shippedFiles());
});
afterAll(() => server.stop());

const reverse = (query: string, key = OWN_KEY) => call(server, `/v1/reverse?${query}`, {}, key);

test('the request of Traccar, with its key in the query, for every place of the fixtures', async () => {
  const places = rowsOf('places').filter(({ admin_code }) => admin_code !== '-');
  expect(places.length).toBeGreaterThan(100);
  for (const place of places) {
    // Traccar writes six decimals.
    const [lat, lng] = [Number(place.lat).toFixed(6), Number(place.lng).toFixed(6)];
    const query = `format=json&lat=${lat}&lon=${lng}&zoom=18&addressdetails=1&key=${OWN_KEY}&accept-language=vi`;
    const { status, headers, body } = await reverse(query, '');
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('private, no-store');
    const { hexcodes, admin_code } = library.encode(Number(lat), Number(lng));
    const centre = library.decode(hexcodes)!;
    const state = ADMIN_UNITS.find(({ code }) => code === place.admin_code)!.name;
    const corners = boundary(library, hexcodes);
    const [south, north, west, east] = body.boundingbox.map(Number);
    expect(corners.every(([y, x]) => y >= south && y <= north && x >= west && x <= east)).toBe(true);
    expect(corners.map(([y]) => y)).toEqual(expect.arrayContaining([south, north]));
    expect(corners.map(([, x]) => x)).toEqual(expect.arrayContaining([west, east]));
    delete body.boundingbox;
    expect(body).toEqual({
      licence: 'Contains information from OpenStreetMap, © OpenStreetMap contributors, ODbL 1.0',
      lat: String(centre.lat),
      lon: String(centre.lng),
      name: hexcodes,
      display_name: `${hexcodes}, ${state}, Việt Nam`,
      address: { state, country: 'Việt Nam', country_code: 'vn' },
      hexcodes,
      resolution: 13,
      admin_code: place.admin_code,
      status: 'OK',
    });
    expect(admin_code).toBe(place.admin_code);
  }
});

test('jsonv2, no format, a resolution, no address; HEAD', async () => {
  const point = 'lat=21.0288&lon=105.8525';
  const plain = await reverse(`${point}&format=json`);
  expect((await reverse(`${point}&format=jsonv2`)).text).toBe(plain.text);
  expect((await reverse(point)).text).toBe(plain.text);
  expect((await reverse(`${point}&resolution=9`)).body).toMatchObject({
    hexcodes: 'HN-6GHP4-7QQ',
    resolution: 9,
  });
  const { address, ...rest } = plain.body;
  expect((await reverse(`${point}&addressdetails=0`)).body).toEqual(rest);
  expect(address.state).toBe('Hà Nội');
  const head = await call(server, `/v1/reverse?${point}`, { method: 'HEAD' }, OWN_KEY);
  expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(plain.text)));
});

test('outside of Viet Nam the answer is that of Nominatim', async () => {
  for (const point of ['lat=48.8584&lon=2.2945', 'lat=0&lon=0', 'lat=-90&lon=180']) {
    const answer = await reverse(`format=json&${point}`);
    expect([answer.status, answer.text]).toEqual([200, '{"error":"Unable to geocode"}']);
  }
});

test('faults are named, all of them, and exchanged degrees are noticed', async () => {
  expectError(await reverse('lat=x&resolution=16&format=xml&addressdetails=2'), 400, 'INVALID_REQUEST', [
    'lat',
    'lon',
    'resolution',
    'format',
    'addressdetails',
  ]);
  expectError(await reverse('lat=21&lat=22&lon=105'), 400, 'INVALID_REQUEST', ['lat']);
  expectError(await reverse('lat=%zz&lon=105'), 400, 'INVALID_REQUEST', ['lat']);
  const swapped = await reverse('lat=105.8525&lon=21.0288');
  expectError(swapped, 400, 'INVALID_REQUEST', ['lat']);
  expect(swapped.body.message).toContain('lat and lon look swapped');
  expectError(
    await call(server, '/v1/reverse?lat=1&lon=2', { headers: { Accept: 'text/xml' } }, OWN_KEY),
    406,
    'INVALID_REQUEST',
  );
});

test('the parameter key is a key here and nowhere else; two keys are 400', async () => {
  const point = 'lat=21.0288&lon=105.8525';
  expectError(await reverse(point, ''), 401, 'REQUEST_DENIED');
  expectError(await reverse(`${point}&key=`, ''), 401, 'REQUEST_DENIED');
  expectError(await reverse(`${point}&key=%zz`, ''), 401, 'REQUEST_DENIED');
  expectError(await reverse(`${point}&key=nobody`, ''), 401, 'REQUEST_DENIED');
  expect((await reverse(`${point}&apikey=${OWN_KEY}`, '')).status).toBe(200);
  expect((await reverse(`${point}&key=${OWN_KEY}&apikey=${OWN_KEY}`)).status).toBe(200);
  for (const two of [`key=${DECODER}`, `key=${OWN_KEY}&key=b`, `apikey=${OWN_KEY}&key=b`])
    expectError(await reverse(`${point}&${two}`), 400, 'INVALID_REQUEST', ['apikey']);
  const wrongWay = await call(server, `/v1/reverse?key=${OWN_KEY}`, { method: 'DELETE' }, '');
  expectError(wrongWay, 405, 'INVALID_REQUEST');
  expect(wrongWay.headers.get('cache-control')).toBe('private, no-store');
  const elsewhere = `/v1/hexcodes/encode?lat=21&lng=105&key=${OWN_KEY}`;
  expectError(await call(server, elsewhere, {}, ''), 401, 'REQUEST_DENIED');
  expect((await call(server, elsewhere, {}, DECODER)).status).toBe(200);
});

test('the key is in no line of the log and in no error', async () => {
  const headers = { 'X-Request-Id': `a-${OWN_KEY}` };
  const answer = await call(server, `/v1/reverse?lat=${OWN_KEY}&lon=1&key=${OWN_KEY}`, { headers }, '');
  expectError(answer, 400, 'INVALID_REQUEST', ['lat']);
  expect(answer.text + [...answer.headers.values()].join()).not.toContain(OWN_KEY);
  expect(server.log()).toContain('"route":"/v1/reverse"');
  expect(server.log()).not.toContain(OWN_KEY);
});

test('each call is one point of the key, an encode, and a request of the route in the metrics', async () => {
  const other = await startServer({ apiKeys: [{ name: 'own', secret: OWN_KEY }] }, shippedFiles());
  try {
    const ask = (query: string) => call(other, `/v1/reverse?${query}`, {}, OWN_KEY);
    await ask('lat=21.0288&lon=105.8525');
    await ask('lat=0&lon=0');
    await ask('lat=x');
    const usage = await call(other, '/v1/usage', {}, OWN_KEY);
    expect(usage.body.day).toMatchObject({ requests: 3, points: 2 });
    const { text } = await scrape(other.adminPort);
    expect(text).toMatch(/hexcodes_http_requests_total\{[^}]*route="\/v1\/reverse"[^}]*\} 2/);
  } finally {
    await other.stop();
  }
});
