// Encode and decode on the real server, with their parameters in the query, in JSON and in a form.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { openWorld } from '../../../support/open-world.js';
import { startServer, type TestServer } from '../../../support/server.js';

let server: TestServer;
const library = Hexcodes.from(openWorld());
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const LAT = 21.0288;
const LNG = 105.8525;
const call = (path: string, init: RequestInit = {}) =>
  fetch(`${server.base}/v1/hexcodes/${path}`, {
    ...init,
    headers: { 'X-API-Key': server.key, ...(init.headers as Record<string, string>) },
  });
const jsonInit = (value: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(value),
});
const formInit = (body: string): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body,
});

test('POST with everything in the query, as the contract has it', async () => {
  const url = `${server.base}/v1/hexcodes/encode?lat=${LAT}&lng=${LNG}&resolution=9&apikey=${server.key}`;
  const answer = await fetch(url, { method: 'POST' });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/json');
  const body = await answer.json();
  expect(body).toEqual({ ...library.encode(LAT, LNG, 9), status: 'OK' });
  expect(Object.keys(body)).toEqual(['hexcodes', 'lat', 'lng', 'resolution', 'admin_code', 'status']);

  const back = await fetch(
    `${server.base}/v1/hexcodes/decode?hexcodes=${body.hexcodes}&apikey=${server.key}`,
    { method: 'POST' },
  );
  const { lat, lng, resolution } = library.decode(body.hexcodes)!;
  const decoded = await back.json();
  expect(decoded).toEqual({ lat, lng, resolution, hexcodes: body.hexcodes, status: 'OK' });
  expect(Object.keys(decoded)).toEqual(['lat', 'lng', 'resolution', 'hexcodes', 'status']);
});

test('resolution is 13 when absent', async () => {
  expect((await (await call(`encode?lat=${LAT}&lng=${LNG}`)).json()).resolution).toBe(13);
});

test('query, JSON body and form body give the same answer, with GET and POST', async () => {
  const wanted = { ...library.encode(LAT, LNG, 7), status: 'OK' };
  const query = `lat=${LAT}&lng=${LNG}&resolution=7`;
  for (const answer of await Promise.all([
    call(`encode?${query}`),
    call(`encode?${query}`, { method: 'POST' }),
    call('encode', jsonInit({ lat: LAT, lng: LNG, resolution: 7 })),
    call('encode', formInit(query)),
    call(`encode?lat=${LAT}`, jsonInit({ lng: LNG, resolution: 7 })),
  ])) {
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual(wanted);
  }
  const code = wanted.hexcodes;
  for (const answer of await Promise.all([
    call(`decode?hexcodes=${code}`),
    call(`decode?hexcodes=${code}`, { method: 'POST' }),
    call('decode', jsonInit({ hexcodes: code })),
    call('decode', formInit(`hexcodes=${code}`)),
  ])) {
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ hexcodes: code, resolution: 7, status: 'OK' });
  }
});
