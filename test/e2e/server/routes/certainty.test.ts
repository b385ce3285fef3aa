// `certainty` over HTTP and the stream, with the boundaries that ship: every place of the fixtures gets the library's
// numbers in every call.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { Hexcodes } from '#hexcodes';
import { HexcodesClient } from '#hexcodes/client';
import { rowsOf } from '../../../support/region/fixtures.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { shippedFiles, shippedKernel } from '../../../support/shipped.js';

const places = rowsOf('places').filter(({ admin_code }) => admin_code !== '-');
const library = new Hexcodes(shippedKernel());
let server: TestServer;
beforeAll(async () => {
  server = await startServer({}, shippedFiles());
});
afterAll(() => server.stop());

function call(path: string, body?: string, type = 'application/json'): Promise<Response> {
  const headers = { 'X-API-Key': server.key, ...(body === undefined ? {} : { 'Content-Type': type }) };
  return fetch(`${server.base}/v1/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    ...(body && { body }),
  });
}

interface Sure {
  border_m: number | null;
  certainty: number | null;
}

// A place near a border, from the outskirts of Hà Nội, is the first.
const points = [[21.0757, 105.9872], ...places.map(({ lat, lng }) => [Number(lat), Number(lng)])];
const csv = `lat,lng\n${points.map((each) => each.join(',')).join('\n')}\n`;
const wanted: Sure[] = points.map(([lat, lng]) => {
  const { border_m, certainty } = library.borderOf(lat!, lng!)!;
  return { border_m, certainty };
});
const ofCsv = (text: string): Sure[] => {
  const numberOf = (field: string): number | null => (field === '' ? null : Number(field));
  const [head, ...rows] = text.trim().split('\n');
  const column = head!.split(',').indexOf('border_m');
  expect(head!.split(',')[column + 1]).toBe('certainty');
  return rows.map((row) => {
    const fields = row.split(',');
    return { border_m: numberOf(fields[column]!), certainty: numberOf(fields[column + 1]!) };
  });
};
const sureOf = ({
  border_m,
  certainty,
}: {
  border_m?: number | null;
  certainty?: number | null;
}): unknown => ({
  border_m,
  certainty,
});

test('the places are near to borders and far from them', () => {
  expect(wanted[0]!.border_m).not.toBeNull();
  expect(new Set(wanted.map(({ certainty }) => certainty)).size).toBeGreaterThan(2);
});

test('one call: before status, in the query or the body', async () => {
  const [lat, lng] = points[0]!;
  const at = `hexcodes/encode?lat=${lat}&lng=${lng}`;
  const plain = await (await call(at)).text();
  const { border_m, certainty } = wanted[0]!;
  const sure = plain.replace('"status"', `"border_m":${border_m},"certainty":${certainty},"status"`);
  expect(await (await call(`${at}&certainty=true`)).text()).toBe(sure);
  expect(await (await call('hexcodes/encode', JSON.stringify({ lat, lng, certainty: true }))).text()).toBe(
    sure,
  );
  expect(await (await call(`${at}&certainty=false`)).text()).toBe(plain);
  const both = await (await call(`${at}&certainty=true&former=true`)).json();
  expect(Object.keys(both).slice(-4)).toEqual(['former_province', 'border_m', 'certainty', 'status']);
});

test('what is neither true nor false is refused, beside other faults', async () => {
  const answer = await call('hexcodes/encode?lat=x&lng=105&certainty=yes');
  expect(answer.status).toBe(400);
  expect((await answer.json()).details).toEqual([
    { parameter: 'lat', message: 'must be a decimal number from -90 to 90' },
    { parameter: 'certainty', message: 'must be true or false' },
  ]);
  expect((await call('hexcodes/encode?lat=21&lng=105', '{"certainty":"true"}')).status).toBe(400);
  const bulk = await call('hexcodes/encode/bulk?certainty=yes', csv, 'text/csv');
  expect((await bulk.json()).message).toBe('certainty must be true or false');
});

test('a position outside is answered as without it', async () => {
  const answer = await call('hexcodes/encode?lat=0&lng=0&certainty=true');
  expect(answer.status).toBe(404);
  expect(await answer.json()).not.toHaveProperty('certainty');
});

test('batch, in the thread of the service and beyond it, and bulk', async () => {
  const batch = async (items: readonly (readonly number[])[]): Promise<unknown[]> => {
    const answer = await call('hexcodes/encode/batch', JSON.stringify({ points: items, certainty: true }));
    return (await answer.json()).results.map(sureOf);
  };
  expect(await batch(points)).toEqual(wanted);
  const many = Array.from({ length: 30 }, () => points).flat();
  expect(await batch(many)).toEqual(Array.from({ length: 30 }, () => wanted).flat());
  expect(ofCsv(await (await call('hexcodes/encode/bulk?certainty=true', csv, 'text/csv')).text())).toEqual(
    wanted,
  );
  const rows = points.map(([lat, lng]) => JSON.stringify({ lat, lng })).join('\n');
  const answer = await call('hexcodes/encode/bulk?certainty=true', rows, 'application/x-ndjson');
  const lines = (await answer.text()).trim().split('\n');
  expect(lines.map((line) => sureOf(JSON.parse(line)))).toEqual(wanted);
});

test('the JSON stream', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/v1/hexcodes/stream`, 'hexcodes.v1.json', {
    headers: { 'X-API-Key': server.key },
  });
  const answer = await new Promise<string>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('message', (data) => {
      const text = String(data);
      if (text.includes('"results"')) resolve(text);
      else socket.send(JSON.stringify({ seq: 1, op: 'encode', certainty: true, points }));
    });
  });
  socket.close();
  expect(JSON.parse(answer).results.map(sureOf)).toEqual(wanted);
});

test('the client asks for it in one call, a batch and a body', async () => {
  const client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
  const [lat, lng] = points[0] as [number, number];
  expect(await client.encode(lat, lng, { certainty: true })).toMatchObject(wanted[0]!);
  expect(await client.encode(lat, lng)).not.toHaveProperty('certainty');
  const batch = await client.encodeBatch(
    points.map(([lat, lng]) => ({ lat: lat!, lng: lng! })),
    { certainty: true },
  );
  expect(batch.results.map(sureOf)).toEqual(wanted);
  const bulk = { operation: 'encode', format: 'csv', source: Buffer.from(csv), certainty: true } as const;
  let text = '';
  for await (const bytes of await client.bulk(bulk)) text += Buffer.from(bytes).toString();
  expect(ofCsv(text)).toEqual(wanted);
});

test('frames have no space for it', async () => {
  const headers = {
    'X-API-Key': server.key,
    'Content-Type': 'text/csv',
    Accept: 'application/vnd.hexcodes.frames',
  };
  const url = `${server.base}/v1/hexcodes/encode/bulk?certainty=true`;
  const answer = await fetch(url, { method: 'POST', headers, body: csv });
  expect(answer.status).toBe(400);
  expect((await answer.json()).message).toBe('certainty needs an answer in text/csv or application/x-ndjson');
});

test('/v1/meta has the bands', async () => {
  const { boundary_data } = await (await call('meta')).json();
  expect(boundary_data.bands.map(({ certainty }: Sure) => certainty)).toEqual(
    library.kernel.bands.map(({ share }) => share),
  );
  expect(boundary_data.bands_note).toContain('99.65 %');
  expect(boundary_data.bands.at(0).below_m).toBe(25);
  expect(boundary_data.bands.at(-1).below_m).toBeNull();
});
