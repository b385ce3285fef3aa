// GET /v1/places on the real server: the names that the library finds, and faults of each parameter.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { findPlaces } from '#hexcodes/geometry';
import { openWorld } from '../../../support/open-world.js';
import { startServer, type TestServer } from '../../../support/server.js';

let server: TestServer;
const library = Hexcodes.from(openWorld());
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

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

test('it needs a key, and an answer that is kept is not sent again', async () => {
  expect((await get('?q=hue', {})).status).toBe(401);
  const etag = (await get('?q=hue')).headers.get('etag')!;
  expect((await get('?q=hue', { 'X-API-Key': server.key, 'If-None-Match': etag })).status).toBe(304);
});
