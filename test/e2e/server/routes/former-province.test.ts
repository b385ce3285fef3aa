// `former` over HTTP and the stream, with the boundaries that ship: every place of the fixtures, the 63 capitals among
// them, gets its former province in every call; a service whose boundaries lack them refuses.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ADMIN_UNITS } from '#hexcodes';
import { HexcodesClient } from '#hexcodes/client';
import { rowsOf } from '../../../support/region/fixtures.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { shippedFiles } from '../../../support/shipped.js';

const places = rowsOf('places').filter(({ admin_code }) => admin_code !== '-');
let server: TestServer;
let without: TestServer;
beforeAll(async () => {
  server = await startServer({}, shippedFiles());
  without = await startServer();
});
afterAll(() => Promise.all([server.stop(), without.stop()]));

function call(to: TestServer, path: string, body?: string, type = 'application/json'): Promise<Response> {
  const headers = { 'X-API-Key': to.key, ...(body === undefined ? {} : { 'Content-Type': type }) };
  return fetch(`${to.base}/v1/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    ...(body && { body }),
  });
}

const csv = `lat,lng\n${places.map(({ lat, lng }) => `${lat},${lng}`).join('\n')}\n`;
const points = places.map(({ lat, lng }) => [Number(lat), Number(lng)]);
const wanted = places.map((place) => place.former_province);

test('one call: after admin_code, in the query or the body', async () => {
  const { lat, lng } = places[0]!;
  const plain = await (await call(server, `hexcodes/encode?lat=${lat}&lng=${lng}`)).text();
  const named = plain.replace('"status"', '"former_province":"Hà Giang","status"');
  expect(await (await call(server, `hexcodes/encode?lat=${lat}&lng=${lng}&former=true`)).text()).toBe(named);
  const body = JSON.stringify({ lat: Number(lat), lng: Number(lng), former: true });
  expect(await (await call(server, 'hexcodes/encode', body)).text()).toBe(named);
  expect(await (await call(server, `hexcodes/encode?lat=${lat}&lng=${lng}&former=false`)).text()).toBe(plain);
  for (const place of places) {
    const answer = await call(server, `hexcodes/encode?lat=${place.lat}&lng=${place.lng}&former=true`);
    expect(await answer.json()).toMatchObject({
      admin_code: place.admin_code,
      former_province: place.former_province,
    });
  }
});

test('the client asks for it in one call, a batch and a body', async () => {
  const client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
  const [lat, lng] = points[0] as [number, number];
  expect(await client.encode(lat, lng, { former: true })).toMatchObject({ former_province: wanted[0] });
  expect(await client.encode(lat, lng)).not.toHaveProperty('former_province');
  const batch = await client.encodeBatch(
    points.map(([lat, lng]) => ({ lat: lat!, lng: lng! })),
    { former: true },
  );
  expect(batch.results.map((result) => result.former_province)).toEqual(wanted);
  const bulk = { operation: 'encode', format: 'csv', source: Buffer.from(csv), former: true } as const;
  let text = '';
  for await (const bytes of await client.bulk(bulk)) text += Buffer.from(bytes).toString();
  const column = text.split('\n')[0]!.split(',').indexOf('former_province');
  const rows = text.trim().split('\n').slice(1);
  expect(rows.map((row) => row.split(',')[column])).toEqual(wanted);
});

test('what is neither true nor false is refused, beside other faults', async () => {
  const answer = await call(server, 'hexcodes/encode?lat=x&lng=105&former=yes');
  expect(answer.status).toBe(400);
  expect((await answer.json()).details).toEqual([
    { parameter: 'lat', message: 'must be a decimal number from -90 to 90' },
    { parameter: 'former', message: 'must be true or false' },
  ]);
  expect((await call(server, 'hexcodes/encode?lat=21&lng=105', '{"former":"true"}')).status).toBe(400);
  const bulk = await call(server, 'hexcodes/encode/bulk?former=yes', csv, 'text/csv');
  expect((await bulk.json()).message).toBe('former must be true or false');
});

test('a position outside is answered as without it', async () => {
  const answer = await call(server, 'hexcodes/encode?lat=0&lng=0&former=true');
  expect(answer.status).toBe(404);
  expect(await answer.json()).not.toHaveProperty('former_province');
});

test('batch, bulk and the JSON stream', async () => {
  const batch = await (
    await call(server, 'hexcodes/encode/batch', JSON.stringify({ points, former: true }))
  ).json();
  expect(batch.results.map((row: { former_province: string }) => row.former_province)).toEqual(wanted);
  // Beyond what is answered in the thread of the service.
  const many = Array.from({ length: 40 }, () => points).flat();
  const large = await (
    await call(server, 'hexcodes/encode/batch', JSON.stringify({ former: true, points: many }))
  ).json();
  expect(large.results.map((row: { former_province: string }) => row.former_province)).toEqual(
    Array.from({ length: 40 }, () => wanted).flat(),
  );
  const bulk = await (await call(server, 'hexcodes/encode/bulk?former=true', csv, 'text/csv')).text();
  expect(
    bulk
      .split('\n')
      .slice(1, -1)
      .map((row) => row.split(',').at(-2)),
  ).toEqual(wanted);
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/v1/hexcodes/stream`, 'hexcodes.v1.json', {
    headers: { 'X-API-Key': server.key },
  });
  const answer = await new Promise<string>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('message', (data) => {
      const text = String(data);
      if (text.includes('"results"')) resolve(text);
      else socket.send(JSON.stringify({ seq: 1, op: 'encode', former: true, points }));
    });
  });
  socket.close();
  const { results } = JSON.parse(answer);
  expect(results.map((row: { former_province: string }) => row.former_province)).toEqual(wanted);
});

test('frames have no space for it', async () => {
  const headers = {
    'X-API-Key': server.key,
    'Content-Type': 'text/csv',
    Accept: 'application/vnd.hexcodes.frames',
  };
  const url = `${server.base}/v1/hexcodes/encode/bulk?former=true`;
  const answer = await fetch(url, { method: 'POST', headers, body: csv });
  expect(answer.status).toBe(400);
  expect((await answer.json()).message).toBe('former needs an answer in text/csv or application/x-ndjson');
});

test('the list has all 63, each with its province of today', async () => {
  const { status, former_provinces } = await (await call(server, 'admin-units/former')).json();
  expect(status).toBe('OK');
  const of = (code: string): string[] =>
    former_provinces
      .filter((row: { admin_code: string }) => row.admin_code === code)
      .map((row: { former_province: string }) => row.former_province);
  expect(former_provinces).toHaveLength(63);
  for (const { code, mergedUnits } of ADMIN_UNITS) expect(of(code).sort()).toEqual([...mergedUnits].sort());
  expect((await call(server, 'admin-units/HN')).status).toBe(200);
});

test('boundaries that lack them: 400, and nothing else changes', async () => {
  for (const [path, body, type] of [
    ['admin-units/former'],
    ['hexcodes/encode?lat=21&lng=105&former=true'],
    ['hexcodes/encode/batch', '{"points":[[21,105]],"former":true}'],
    ['hexcodes/encode/bulk?former=true', csv, 'text/csv'],
  ] as const) {
    const answer = await call(without, path, body, type);
    expect(answer.status, path).toBe(400);
    expect((await answer.json()).message).toContain('no provinces of before July 2025');
  }
  expect((await call(without, 'hexcodes/encode?lat=21&lng=105&former=false')).status).toBe(200);
});
