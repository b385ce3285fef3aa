// Look-ups on the real server: one code, places, versions, provinces, health; entity tags.

import { readFileSync } from 'node:fs';
import { get as httpGet } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes, type HexcodesData } from '#hexcodes';
import { area, cellFeature, findPlaces, neighbors, parent, suggest } from '#hexcodes/geometry';
import { type Answer, call, DECODE, ENCODE, GOOD } from '../../../support/http-calls.js';
import { scrape, sumOf } from '../../../support/metrics.js';
import { openWorld } from '../../../support/open-world.js';
import { startServer } from '../../../support/server.js';
import { sharedServer } from '../../../support/shared.js';

const server = sharedServer();

const library = Hexcodes.from(openWorld());

describe('one code', () => {
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
});

describe('places', () => {
  const get = (
    query: string,
    headers: Record<string, string> = { 'X-API-Key': server.key },
  ): Promise<Response> => fetch(`${server.base}/v1/places${query}`, { headers });

  test.each([
    ['?q=ha%20long', 'ha long', {}],
    ['?q=H%C3%A0+N%E1%BB%99i&limit=2', 'Hà Nội', { limit: 2 }],
    ['?q=t%C3%A2n&near=10.78,106.7', 'tân', { near: [10.78, 106.7] as const }],
    ['?q=qwertyuiop', 'qwertyuiop', {}],
  ])('%s', async (query, text, options) => {
    const answer = await get(query);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      status: 'OK',
      licence: 'Towns: © GeoNames, CC BY 4.0',
      places: findPlaces(library, text, options),
    });
  });

  test.each([
    ['', 'q'],
    ['?q=', 'q'],
    ['?q=%20', 'q'],
    ['?q=a&q=b', 'q'],
    [`?q=${'a'.repeat(101)}`, 'q'],
    ['?q=a&near=91,0', 'near'],
    ['?q=a&near=x', 'near'],
    ['?q=a&limit=0', 'limit'],
    ['?q=a&limit=101', 'limit'],
    ['?q=a&limit=1.5', 'limit'],
  ])('%s is refused for %s', async (query, parameter) => {
    const answer = await get(query);
    expect(answer.status).toBe(400);
    const body = (await answer.json()) as { details: { parameter: string; message: string }[] };
    expect(body.details.map((each) => each.parameter)).toEqual([parameter]);
    expect(body.details[0]!.message).not.toBe('');
  });
});

test('/v1/meta has the versions and the notice of the index', async () => {
  const { body } = await call(server, '/v1/meta');
  expect(['@btc-vision/uwebsockets.js', 'uws-pack']).toContain(body.transport.name);
  expect(body).toMatchObject({
    status: 'OK',
    service: { name: 'hexcodes' },
    code_format: 1,
    boundary_data: { source: 'made up', licence: 'none', notice: 'made up', date: '2026-01-01' },
  });
  expect(body.boundary_data.sha256).toMatch(/^[0-9a-f]{64}$/);
});

test('/v1/admin-units has the 34 provinces; a single one has its boundary', async () => {
  const { body } = await call(server, '/v1/admin-units');
  expect(body.admin_units).toHaveLength(34);
  expect(body.admin_units[11]).toEqual({ admin_code: 'HN', name: 'Hà Nội', merged_units: ['Hà Nội'] });
  const one = await call(server, '/v1/admin-units/HN');
  expect(one.body).toMatchObject({ admin_code: 'HN', boundary: { type: 'Feature' } });
  expect(one.body.boundary.geometry.type).toBe('MultiPolygon');
  expect((await call(server, '/v1/admin-units/hn')).body).toEqual(one.body);
  for (const code of ['XX', '%48N', 'HN/']) {
    expect((await call(server, `/v1/admin-units/${code}`)).status).toBe(404);
  }
});

test('/livez and /readyz are on the admin port only, without a key', async () => {
  for (const path of ['/livez', '/readyz']) {
    expect((await fetch(`http://127.0.0.1:${server.adminPort}${path}`)).status).toBe(200);
    expect((await call(server, path)).status).toBe(404);
  }
  expect((await fetch(`http://127.0.0.1:${server.adminPort}/v1/meta`)).status).toBe(404);
});

test.each(['/docs/http', '/docs/viewer.js', '/openapi.json'])('%s is compressed', async (path) => {
  const raw = (accepted: string): Promise<{ encoding: string | undefined; tag: string; body: Buffer }> =>
    new Promise((resolve, reject) => {
      const headers = accepted === '' ? {} : { 'accept-encoding': accepted };
      httpGet(`${server.base}${path}`, { headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () =>
          resolve({
            encoding: answer.headers['content-encoding'],
            tag: answer.headers.etag ?? '',
            body: Buffer.concat(chunks),
          }),
        );
      }).on('error', reject);
    });
  const plain = await raw('');
  const br = await raw('gzip, br');
  const gzip = await raw('gzip');
  expect([plain.encoding, br.encoding, gzip.encoding]).toEqual([undefined, 'br', 'gzip']);
  expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
  expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
  expect(br.body.length).toBeLessThan(plain.body.length / 3);
  expect(new Set([plain.tag, br.tag, gzip.tag]).size).toBe(3);
});

describe('entity tags', () => {
  const CODE = '/v1/hexcodes/HN-6GHP4-83RFR';

  const KEPT = [
    CODE,
    '/v1/hexcodes/HN-6GHP4-B3RFR/suggestions?near=21,105',
    '/v1/admin-units',
    '/v1/admin-units/HN',
  ];

  const withTag = (path: string, tag: string, method = 'GET'): Promise<Answer> =>
    call(server, path, { method, headers: { 'If-None-Match': tag } });

  const namesOf = ({ headers }: Answer): (string | null)[] =>
    ['etag', 'cache-control', 'vary'].map((name) => headers.get(name));

  test.each([...KEPT.map((path) => [path, 'private, max-age=3600']), ['/v1/meta', 'private, no-cache']])(
    '%s has an entity tag and %s',
    async (path, cacheControl) => {
      const whole = await call(server, path!);
      expect(whole.status).toBe(200);
      const [tag] = namesOf(whole) as [string];
      expect(tag).toMatch(/^"[0-9a-f]{16}"$/);
      expect(namesOf(whole)).toEqual([tag, cacheControl, 'Authorization, Hexcodes-Data, X-API-Key']);
      for (const given of [tag, `"other", W/${tag}`, '*']) {
        for (const method of ['GET', 'HEAD']) {
          const answer = await withTag(path!, given, method);
          expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([304, '', null]);
          expect(namesOf(answer)).toEqual(namesOf(whole));
        }
      }
      const other = await withTag(path!, '"0123456789abcdef"');
      expect([other.status, other.text]).toEqual([200, whole.text]);
    },
  );

  test.each([...KEPT, '/v1/meta'])(
    '%s is not kept where a key, or what may be one, is in the URL',
    async (path) => {
      const glue = path.includes('?') ? '&' : '?';
      const tag = (await call(server, path)).headers.get('etag')!;
      const inUrl = await call(
        server,
        `${path}${glue}apikey=${server.key}`,
        { headers: { 'If-None-Match': tag } },
        '',
      );
      expect([inUrl.status, ...namesOf(inUrl)]).toEqual([200, null, 'private, no-store', null]);
      const misspelt = await withTag(`${path}${glue}APIKEY=x`, tag);
      expect([misspelt.status, ...namesOf(misspelt)]).toEqual([200, null, null, null]);
    },
  );

  test('an error has no entity tag, and no tag in the request makes a 304 of it', async () => {
    for (const path of ['/v1/hexcodes/nope', '/v1/admin-units/XX', `${CODE}/suggestions?near=x`]) {
      const answer = await withTag(path, '*');
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(namesOf(answer)).toEqual([null, null, null]);
    }
    expect((await call(server, CODE, { headers: { 'If-None-Match': '*' } }, '')).status).toBe(401);
  });

  test('neither conversions nor usage are kept', async () => {
    for (const path of [`${ENCODE}?${GOOD}`, `${DECODE}?hexcodes=HN-66`, '/v1/usage']) {
      const answer = await withTag(path, '*');
      expect([answer.status, ...namesOf(answer)]).toEqual([200, null, null, null]);
    }
  });

  test('a 304 is counted, and has its line in the log', async () => {
    const labels = { route: '/v1/hexcodes/:code', method: 'GET', status: '304' };
    const count = async (): Promise<number> =>
      sumOf((await scrape(server.adminPort)).metrics, 'hexcodes_http_requests_total', labels);
    const before = await count();
    const answer = await call(server, CODE, {
      headers: { 'If-None-Match': '*', 'X-Request-Id': 'known-304' },
    });
    expect(answer.status).toBe(304);
    expect(await count()).toBe(before + 1);
    const line = server
      .log()
      .split('\n')
      .find((text) => text.includes('known-304'));
    expect(JSON.parse(line!)).toMatchObject({ http_status: 304, route: '/v1/hexcodes/:code', bytes_out: 0 });
  });

  test('the tag follows the data: equal on a second server, another with other data', async () => {
    const tagOf = async (files: HexcodesData): Promise<string | null> => {
      const other = await startServer({ logLevel: 'silent' }, files);
      const answer = await call(other, '/v1/admin-units');
      await other.stop();
      return answer.headers.get('etag');
    };
    const world = openWorld();
    const tag = (await call(server, '/v1/admin-units')).headers.get('etag');
    expect(await tagOf(world)).toBe(tag);
    const reach = readFileSync('data/reach.bin');
    expect(await tagOf({ ...world, reach })).toMatch(/^"[0-9a-f]{16}"$/);
    expect(await tagOf({ ...world, reach })).not.toBe(tag);
  });
});
