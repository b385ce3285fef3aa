// The client's calls about one code, one province and the service: as the library answers, over the real service.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { HexcodesClient } from '#hexcodes/client';
import { area, boundary, edge, neighbors, parent, suggest } from '#hexcodes/geometry';
import { openKernel } from '../../support/open-world.js';
import { startServer, type TestServer } from '../../support/server.js';

const library = new Hexcodes(openKernel());
const CODE = library.encode(21.0288, 105.8525).hexcodes;
let server: TestServer;
let client: HexcodesClient;
beforeAll(async () => {
  server = await startServer();
  client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
});
afterAll(() => server.stop());

test('read tells all about a code, in any spelling', async () => {
  const read = library.read(CODE)!;
  for (const spelling of [
    CODE,
    ` ${CODE.toLowerCase()}+`.replace('+', ''),
    CODE.replaceAll('-', '／').replaceAll('／', '．'),
  ]) {
    const answer = await client.read(spelling);
    expect(answer).toMatchObject({
      status: 'OK',
      hexcodes: CODE,
      resolution: 13,
      admin_code: read.admin_code,
      province: ADMIN_UNITS.find(({ code }) => code === read.admin_code)?.name,
      h3_cell: read.cell.toString(16),
      lat: read.lat,
      lng: read.lng,
      area_m2: area(library, CODE),
      edge_m: edge(library, CODE),
      parent: parent(library, CODE),
      neighbors: neighbors(library, CODE),
    });
    if (answer.status === 'OK')
      expect(answer.boundary.geometry.coordinates[0]?.[0]).toEqual(
        [...boundary(library, CODE)[0]!].reverse(),
      );
  }
});

test.each([
  '',
  '.',
  '..',
  '../meta',
  'a/b?c#d',
  '%',
  'encode',
  'decode',
  'stream',
  'nope',
  'x'.repeat(9000),
  '\ud800',
  'Đà Nẵng',
])('read of %j, which is no hexcode, is an answer, and suggest finds nothing', async (text) => {
  const answer = await client.read(text);
  expect(answer).toEqual({
    status: 'INVALID_HEXCODES',
    hexcodes: text,
    message: expect.stringContaining('is not a hexcode'),
  });
  expect(await client.suggest(text)).toEqual(suggest(library, text));
});

test('suggest answers as the library does', async () => {
  const typed = `${CODE.slice(0, -1)}${CODE.endsWith('2') ? '3' : '2'}`;
  expect(suggest(library, typed).length).toBeGreaterThan(1);
  expect(await client.suggest(typed)).toEqual(suggest(library, typed));
  expect(await client.suggest(typed, { limit: 1 })).toEqual(suggest(library, typed, { limit: 1 }));
  for (const near of [[21.03, 105.85], { lat: 21.03, lng: 105.85 }] as const)
    expect(await client.suggest(typed, { near })).toEqual(suggest(library, typed, { near }));
  for (const near of [[21], '21,105', null, { lat: Number.NaN, lng: 1 }] as never[])
    await expect(client.suggest(typed, { near })).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  await expect(client.suggest(7 as never)).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
});

test('the provinces, and one with its boundary', async () => {
  const units = await client.adminUnits();
  expect(units.map((unit) => unit.admin_code)).toEqual(ADMIN_UNITS.map((unit) => unit.code));
  const unit = await client.adminUnit(ADMIN_UNITS[0]!.code);
  expect(unit).toMatchObject({ ...units[0], status: 'OK' });
  expect(unit.boundary.geometry.type).toBe('MultiPolygon');
  for (const code of ['XX', 'hn', '', '..'])
    await expect(client.adminUnit(code)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('meta names the service and its boundaries', async () => {
  const meta = await client.meta();
  expect(meta.code_format).toBe(1);
  expect(meta.boundary_data.sha256).toMatch(/^[0-9a-f]{64}$/);
});
