// `certainty` and `former` over HTTP, the stream and the client, with the boundaries that ship: every place of the
// fixtures, the 63 capitals among them, gets its members in every call; a service whose boundaries lack the former
// provinces refuses.
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { HexcodesClient } from '#hexcodes/client';
import { call, post, postJson } from '../../../support/http-calls.js';
import { startServer } from '../../../support/server.js';
import { sharedOf } from '../../../support/shared.js';
import { shippedFiles, shippedKernel } from '../../../support/shipped.js';
import { rowsOf } from '../../../support/vectors.js';

const places = rowsOf('places').filter(({ admin_code }) => admin_code !== '-');
const library = new Hexcodes(shippedKernel());

const server = sharedOf(() => startServer({}, shippedFiles()));
const without = sharedOf(() => startServer());

afterAll(() => Promise.all([server.stop(), without.stop()]));

type Members = Readonly<Record<string, string | number | null>>;

// A place near a border, from the outskirts of Hà Nội, is the first for certainty.
const near = [[21.0757, 105.9872], ...places.map(({ lat, lng }) => [Number(lat), Number(lng)])];
const OPTIONS: readonly (readonly [
  option: 'certainty' | 'former',
  points: readonly (readonly number[])[],
  wanted: readonly Members[],
])[] = [
  [
    'certainty',
    near,
    near.map(([lat, lng]) => {
      const { border_m, certainty } = library.borderOf(lat!, lng!)!;
      return { border_m, certainty };
    }),
  ],
  ['former', near.slice(1), places.map(({ former_province }) => ({ former_province: former_province! }))],
];

test('the places are near to borders and far from them', () => {
  const [[, , sure]] = OPTIONS as [(typeof OPTIONS)[number]];
  expect(sure[0]!.border_m).not.toBeNull();
  expect(new Set(sure.map(({ certainty }) => certainty)).size).toBeGreaterThan(2);
});

test('both, in their order, before status', async () => {
  const { body } = await call(
    server,
    '/v1/hexcodes/encode?lat=21.0757&lng=105.9872&certainty=true&former=true',
  );
  expect(Object.keys(body).slice(-4)).toEqual(['former_province', 'border_m', 'certainty', 'status']);
});

describe.each(OPTIONS)('%s', (option, points, wanted) => {
  const names = Object.keys(wanted[0]!);
  const membersOf = (row: Members): Members => Object.fromEntries(names.map((name) => [name, row[name]!]));
  const csv = `lat,lng\n${points.map((each) => each.join(',')).join('\n')}\n`;
  const BULK = `/v1/hexcodes/encode/bulk?${option}=true`;

  function ofCsv(text: string): Members[] {
    const [head, ...rows] = text.trim().split('\n');
    const from = head!.split(',').indexOf(names[0]!);
    expect(head!.split(',').slice(from, from + names.length)).toEqual(names);
    return rows.map((row) => {
      const fields = row.split(',').slice(from, from + names.length);
      const values = fields.map((field) =>
        field === '' ? null : /^[\d.]+$/.test(field) ? Number(field) : field,
      );
      return Object.fromEntries(names.map((name, i) => [name, values[i]!]));
    });
  }

  test('one call: before status, in the query or the body', async () => {
    const [lat, lng] = points[0]!;
    const at = `/v1/hexcodes/encode?lat=${lat}&lng=${lng}`;
    const plain = (await call(server, at)).text;
    const due = plain.replace('"status"', `${JSON.stringify(wanted[0]).slice(1, -1)},"status"`);
    expect((await call(server, `${at}&${option}=true`)).text).toBe(due);
    const body = postJson(JSON.stringify({ lat, lng, [option]: true }));
    expect((await call(server, '/v1/hexcodes/encode', body)).text).toBe(due);
    expect((await call(server, `${at}&${option}=false`)).text).toBe(plain);
  });

  test('a value that is neither true nor false is refused, beside other faults', async () => {
    const { status, body } = await call(server, `/v1/hexcodes/encode?lat=x&lng=105&${option}=yes`);
    expect(status).toBe(400);
    expect(body.details.map((each: { parameter: string }) => each.parameter)).toEqual(['lat', option]);
    const text = postJson(`{"${option}":"true"}`);
    expect((await call(server, '/v1/hexcodes/encode?lat=21&lng=105', text)).status).toBe(400);
    expect((await call(server, BULK.replace('true', 'yes'), post('text/csv', csv))).status).toBe(400);
  });

  test('a position outside is answered as without it', async () => {
    const { status, body } = await call(server, `/v1/hexcodes/encode?lat=0&lng=0&${option}=true`);
    expect(status).toBe(404);
    for (const name of names) expect(body).not.toHaveProperty(name);
  });

  test('batch, in the thread of the service and beyond it, and bulk', async () => {
    for (const times of [1, 40]) {
      const many = { points: Array.from({ length: times }, () => points).flat(), [option]: true };
      const { body } = await call(server, '/v1/hexcodes/encode/batch', postJson(JSON.stringify(many)));
      expect(body.results.map(membersOf)).toEqual(Array.from({ length: times }, () => wanted).flat());
    }
    expect(ofCsv((await call(server, BULK, post('text/csv', csv))).text)).toEqual(wanted);
    const rows = points.map(([lat, lng]) => JSON.stringify({ lat, lng })).join('\n');
    const lines = (await call(server, BULK, post('application/x-ndjson', rows))).text.trim().split('\n');
    expect(lines.map((line) => membersOf(JSON.parse(line)))).toEqual(wanted);
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
        else socket.send(JSON.stringify({ seq: 1, op: 'encode', [option]: true, points }));
      });
    });
    socket.close();
    expect(JSON.parse(answer).results.map(membersOf)).toEqual(wanted);
  });

  test('the client asks for it in one call, a batch and a body', async () => {
    const client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
    const [lat, lng] = points[0] as [number, number];
    expect(await client.encode(lat, lng, { [option]: true })).toMatchObject(wanted[0]!);
    expect(await client.encode(lat, lng)).not.toHaveProperty(names[0]!);
    const pairs = points.map(([lat, lng]) => ({ lat: lat!, lng: lng! }));
    const batch = await client.encodeBatch(pairs, { [option]: true });
    expect(batch.results.map((result) => membersOf(result as unknown as Members))).toEqual(wanted);
    const bulk = { operation: 'encode', format: 'csv', source: Buffer.from(csv), [option]: true } as const;
    let text = '';
    for await (const bytes of await client.bulk(bulk)) text += Buffer.from(bytes).toString();
    expect(ofCsv(text)).toEqual(wanted);
  });

  test('frames have no space for it', async () => {
    const { headers, ...init } = post('text/csv', csv);
    const asFrames = { ...init, headers: { ...headers, Accept: 'application/vnd.hexcodes.frames' } };
    expect((await call(server, BULK, asFrames)).status).toBe(400);
  });
});

test('a parameter that only the other operation has is unknown, and no hint advises it', async () => {
  const hint = async (path: string, init?: RequestInit): Promise<string | null> =>
    (await call(server, `/v1/hexcodes/${path}`, init)).headers.get('Hexcodes-Hint');
  for (const name of ['lat', 'lng', 'latitude', 'longitude', 'lon', 'resolution', 'former', 'certainty']) {
    const hints = await Promise.all([
      hint(`decode?hexcodes=HN-6GHP4-83RFR&admin_v2=true&${name}=x`),
      hint(`decode/bulk?${name}=x`, post('text/csv', 'hexcodes\nHN-6GHP4-83RFR\n')),
    ]);
    expect(hints).toEqual([`${name} is not a parameter`, `${name} is not a parameter`]);
  }
  expect(await hint('encode/bulk?column=1', post('text/csv', 'lat,lng\n'))).toBe('column is not a parameter');
  expect(await hint('decode?certainti=true')).toBe('certainti is not a parameter');
  expect(await hint('decode?hexcode=1')).toBe('hexcode is not a parameter; perhaps hexcodes');
  const encode = 'encode?lat=21&lng=105.8&resolution=9&admin_v2=true&former=true';
  expect(await hint(`${encode}&certainti=true`)).toBe('certainti is not a parameter; perhaps certainty');
  expect(await hint(`${encode}&certainty=true&hexcodes=1`)).toBe('hexcodes is not a parameter');
});

test('/v1/meta has the bands', async () => {
  const { boundary_data } = (await call(server, '/v1/meta')).body;
  const { bands } = boundary_data;
  expect(bands.map(({ certainty }: Members) => certainty)).toEqual(
    library.kernel.bands.map(({ share }) => share),
  );
  expect(boundary_data.bands_note).toContain('99.65 %');
  expect([bands.at(0).below_m, bands.at(-1).below_m]).toEqual([25, null]);
});

test('the list has all 63, each with its province of today', async () => {
  const { status, former_provinces } = (await call(server, '/v1/admin-units/former')).body;
  expect(status).toBe('OK');
  expect(former_provinces).toHaveLength(63);
  for (const { code, mergedUnits } of ADMIN_UNITS) {
    const own = former_provinces.filter((row: Members) => row.admin_code === code);
    expect(own.map((row: Members) => row.former_province).sort()).toEqual([...mergedUnits].sort());
  }
  expect((await call(server, '/v1/admin-units/HN')).status).toBe(200);
});

test('boundaries without former provinces: 400, and nothing else changes', async () => {
  for (const [path, init] of [
    ['/v1/admin-units/former'],
    ['/v1/hexcodes/encode?lat=21&lng=105&former=true'],
    ['/v1/hexcodes/encode/batch', postJson('{"points":[[21,105]],"former":true}')],
    ['/v1/hexcodes/encode/bulk?former=true', post('text/csv', 'lat,lng\n21,105\n')],
  ] as const)
    expect([path, (await call(without, path, init)).status]).toEqual([path, 400]);
  expect((await call(without, '/v1/hexcodes/encode?lat=21&lng=105&former=false')).status).toBe(200);
});
