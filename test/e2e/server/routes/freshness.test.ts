// Entity tags of look-ups: who has the answer gets 304, nothing is kept where a key is in the URL, and a 304 is counted
// and logged as one.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HexcodesData } from '#hexcodes';
import { type Answer, call, DECODE, ENCODE, GOOD } from '../../../support/http-calls.js';
import { scrape, sumOf } from '../../../support/metrics.js';
import { openWorld } from '../../../support/open-world.js';
import { startServer, type TestServer } from '../../../support/server.js';

const CODE = '/v1/hexcodes/HN-6GHP4-83RFR';
const KEPT = [
  CODE,
  '/v1/hexcodes/HN-6GHP4-B3RFR/suggestions?near=21,105',
  '/v1/admin-units',
  '/v1/admin-units/HN',
];

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

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
    expect(namesOf(whole)).toEqual([tag, cacheControl, 'X-API-Key']);
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
  const answer = await call(server, CODE, { headers: { 'If-None-Match': '*', 'X-Request-Id': 'known-304' } });
  expect(answer.status).toBe(304);
  expect(await count()).toBe(before + 1);
  const line = server
    .log()
    .split('\n')
    .find((text) => text.includes('known-304'));
  expect(JSON.parse(line!)).toMatchObject({ http_status: 304, route: '/v1/hexcodes/:code', bytes_out: 0 });
});

test('the tag is that of the data: the same of a second server, another with other data', async () => {
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
