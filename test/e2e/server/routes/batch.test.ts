// The batch endpoints on the real server.
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { openWorld } from '../../../support/open-world.js';
import { sendRaw } from '../../../support/server.js';
import { sharedServer } from '../../../support/shared.js';

const server = sharedServer();
const library = Hexcodes.from(openWorld());

const ENCODE = '/v1/hexcodes/encode/batch';
const DECODE = '/v1/hexcodes/decode/batch';

function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(server.base + path, {
    method: 'POST',
    headers: { 'X-API-Key': server.key, 'Content-Type': 'application/json', ...headers },
    body,
  });
}

async function single(path: string): Promise<unknown> {
  const answer = await fetch(`${server.base}/v1/hexcodes/${path}`, { headers: { 'X-API-Key': server.key } });
  const { request_id: _, ...body } = (await answer.json()) as Record<string, unknown>;
  return body;
}

test('each result is the body of the single answer, whatever its status, with its id', async () => {
  const points = [
    { lat: 21.0288, lng: 105.8525, id: 'a' },
    { lat: 10.5, lng: 106.7, resolution: 7, id: 2 },
    { lat: 5, lng: 179 },
    { lat: 105.8525, lng: 21.0288 },
    { lat: 91, lng: 500, resolution: 16 },
    { lat: 1e-9, lng: -0 },
  ];
  const answer = await post(ENCODE, JSON.stringify({ points, resolution: 9 }));
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/json');
  const { status, summary, results } = await answer.json();
  expect([status, summary]).toEqual(['OK', { total: 6, ok: 2, failed: 4 }]);
  for (const [i, { lat, lng, resolution = 9, id }] of points.entries()) {
    const wanted = (await single(`encode?lat=${lat}&lng=${lng}&resolution=${resolution}`)) as object;
    const { code, index, ...rest } = results[i];
    expect(rest).toEqual(id === undefined ? wanted : { ...wanted, id });
    const failed = results[i].status !== 'OK';
    const due = results[i].status === 'NOT_FOUND' ? 'outside_coverage' : 'parameter_invalid';
    expect([code, index]).toEqual(failed ? [due, i] : [undefined, undefined]);
  }
  const codes = [results[0].hexcodes, 'HN', ' hn6ghmk53fmf', 'HÀ NỘI', 'x'.repeat(80)];
  const back = await (await post(DECODE, JSON.stringify({ hexcodes: codes }))).json();
  expect(back.summary).toEqual({ total: 5, ok: 2, failed: 3 });
  for (const [i, code] of codes.entries()) {
    const { code: reason, index, ...rest } = back.results[i];
    expect(rest).toEqual(await single(`decode?hexcodes=${encodeURIComponent(code)}`));
    expect([reason, index]).toEqual(rest.status === 'OK' ? [undefined, undefined] : ['hexcode_invalid', i]);
  }
});

test('items may be pairs, codes, and objects with ids', async () => {
  const { results } = await (
    await post(ENCODE, '{"points":[[21.0288,105.8525],{"lat":10,"lng":106,"id":"x"}]}')
  ).json();
  expect(results[0]).toEqual({ ...library.encode(21.0288, 105.8525), status: 'OK' });
  expect(results[1]).toEqual({ ...library.encode(10, 106), status: 'OK', id: 'x' });
  const [code] = results.map((r: { hexcodes: string }) => r.hexcodes);
  const back = await (
    await post(DECODE, JSON.stringify({ hexcodes: [code, { hexcodes: code, id: 1 }, 5, ''] }))
  ).json();
  expect(back.results.map((r: { status: string }) => r.status)).toEqual([
    ...['OK', 'OK', 'INVALID_REQUEST', 'INVALID_REQUEST'],
  ]);
  expect(back.results[1].id).toBe(1);
});

test('10,000 items are answered, one more is 413', async () => {
  const of = (count: number): string => JSON.stringify({ points: Array(count).fill([21.0288, 105.8525]) });
  const answer = await (await post(ENCODE, of(10_000))).json();
  expect(answer.summary).toEqual({ total: 10_000, ok: 10_000, failed: 0 });
  const refused = await post(ENCODE, of(10_001));
  expect(refused.status).toBe(413);
  expect((await refused.json()).status).toBe('INVALID_REQUEST');
});

test('a body over 4 MiB is 413 before it is sent', async () => {
  const head = `POST ${ENCODE} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${server.key}\r\nContent-Type: application/json\r\n`;
  const answer = await sendRaw(server.port, `${head}Content-Length: 4194305\r\n\r\n{`);
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  const full = `{"points":[],"x":"${'y'.repeat(4 * 1024 * 1024 - 20)}"}`;
  expect(full.length).toBe(4 * 1024 * 1024);
  expect((await post(ENCODE, full)).status).toBe(200);
});

test('a broken envelope is 400 and names every fault', async () => {
  for (const body of ['', '{', '[]', '{"points":1}', '{"points":[1 2]}', '{"points":[{"lat":1,}]}']) {
    const answer = await post(ENCODE, body);
    expect(answer.status).toBe(400);
    const { status, message, details, request_id } = await answer.json();
    expect([status, typeof message, details.length, typeof request_id]).toEqual([
      ...['INVALID_REQUEST', 'string', 1, 'string'],
    ]);
  }
  const both = await (await post(ENCODE, '{"resolution":16}')).json();
  expect(both.details.map((d: { parameter: string }) => d.parameter)).toEqual(['points', 'resolution']);
});

test('the limits of docs/http.md: of an item, which fails alone or with its batch, and of members', async () => {
  const outcome = async (path: string, list: string, item: string, more = ''): Promise<unknown> => {
    const answer = await post(path, `{"${list}":[${item},${item}]${more}}`);
    return answer.status === 200 ? (await answer.json()).summary.failed : answer.status;
  };
  const itemOf = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`;
  for (const [path, list] of [
    [ENCODE, 'points'],
    [DECODE, 'hexcodes'],
  ] as const) {
    expect(await outcome(path, list, itemOf(65_537))).toBe(2);
    expect(await outcome(path, list, itemOf(292_799))).toBe(2);
    expect(await outcome(path, list, itemOf(292_800))).toBe(400);
    const members = (count: number): string =>
      Array.from({ length: count }, (_, at) => `,"m${at}":1`).join('');
    expect(await outcome(path, list, '"HN"', members(63))).toBe(2);
    expect(await outcome(path, list, '"HN"', members(64))).toBe(400);
  }
});
