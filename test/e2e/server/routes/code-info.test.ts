// The two endpoints about one code, on the real server.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { area, cellFeature, neighbors, parent, suggest } from '#hexcodes/geometry';
import { openWorld } from '../../../support/open-world.js';
import { startServer, type TestServer } from '../../../support/server.js';

let server: TestServer;
const library = Hexcodes.from(openWorld());
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const get = (path: string, init: RequestInit = {}) =>
  fetch(`${server.base}/v1/hexcodes/${path}`, {
    ...init,
    headers: { 'X-API-Key': server.key, ...init.headers },
  });
const CODE = library.encode(21.0288, 105.8525).hexcodes;

test('one code is described, in any spelling', async () => {
  const { cell, lat, lng, resolution, admin_code } = library.read(CODE)!;
  const { geometry, properties } = cellFeature(library, CODE);
  const expected = {
    status: 'OK',
    hexcodes: CODE,
    resolution,
    admin_code,
    province: ADMIN_UNITS.find((unit) => unit.code === admin_code)?.name,
    h3_cell: cell.toString(16),
    lat,
    lng,
    area_m2: area(library, CODE),
    boundary: { type: 'Feature', geometry, properties },
    parent: parent(library, CODE),
    neighbors: neighbors(library, CODE),
  };
  for (const path of [
    CODE,
    CODE.toLowerCase().replaceAll('-', ''),
    encodeURIComponent(CODE.replaceAll('-', ' ')),
  ]) {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject(expected);
  }
  const top = library.encode(21.0288, 105.8525, 0).hexcodes;
  expect((await (await get(top)).json()).parent).toBeNull();
});

test('an invalid code is 404 with a status of its own; broken escapes are 400', async () => {
  const answer = await get('HN-nonsense');
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ status: 'INVALID_HEXCODES', request_id: expect.any(String) });
  expect((await get('%zz')).status).toBe(400);
  expect((await get(CODE.replaceAll('-', '+'))).status).toBe(404);
});

test('suggestions come in the order of their distance to near', async () => {
  const typed = CODE.replace('8', 'B');
  const answer = await get(`${typed}/suggestions`);
  expect(answer.status).toBe(200);
  const { suggestions, ...rest } = await answer.json();
  expect(rest).toEqual({ status: 'OK', hexcodes: typed });
  expect(suggestions).toEqual(suggest(library, typed));
  const near = await (await get(`${typed}/suggestions?near=21.03,105.85`)).json();
  expect(near.suggestions).toEqual(suggest(library, typed, { near: [21.03, 105.85] }));
  expect(near.suggestions[0].hexcodes).toBe(CODE);
  expect((await (await get('nonsense/suggestions')).json()).suggestions).toEqual([]);
});

test('near must be a position', async () => {
  for (const near of ['', '21', '21;105', '91,105', '21,181', 'x,y', '%zz', '1,2&near=3,4']) {
    const answer = await get(`${CODE}/suggestions?near=${near}`);
    expect([near, answer.status]).toEqual([near, 400]);
    expect((await answer.json()).details).toMatchObject([{ parameter: 'near' }]);
  }
});

test('requests without a key, with other methods and types are refused', async () => {
  expect((await fetch(`${server.base}/v1/hexcodes/${CODE}`)).status).toBe(401);
  const post = await get(CODE, { method: 'POST' });
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  expect((await get(CODE, { headers: { Accept: 'text/html' } })).status).toBe(406);
});
