// The contract of docs/http.md but for bulk, on the real server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#dist/library/hexcodes.js';
import { loadUws } from '#dist/server/transport/load-uws.js';
import { openWorld } from '../../support/open-world.js';
import { parseAnswers, sendRaw, startServer, type TestServer } from '../../support/server.js';

let server: TestServer;
const library = Hexcodes.from(openWorld());
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const ENCODE = '/v1/hexcodes/encode';
const DECODE = '/v1/hexcodes/decode';
const GOOD = 'lat=21.0288&lng=105.8525';

interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every endpoint
  body: any;
}

async function call(path: string, init: RequestInit = {}, key = server.key): Promise<Answer> {
  const headers = new Headers(init.headers);
  if (key !== '') headers.set('X-API-Key', key);
  const response = await fetch(server.base + path, { ...init, headers });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json';
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
}
const post = (type: string, body: string | Uint8Array<ArrayBuffer>): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': type },
  body,
});
const json = (text: string) => post('application/json', text);

/** The raw answer to one request written by hand. */
async function raw(head: string, body: string | Uint8Array = ''): Promise<ReturnType<typeof parseAnswers>> {
  return parseAnswers(await sendRaw(server.port, [head.replaceAll('\n', '\r\n'), body]));
}

function expectError(answer: Answer, status: number, word: string, parameters?: string[]): void {
  expect(answer.status, answer.text.slice(0, 500)).toBe(status);
  expect(answer.body.status).toBe(word);
  expect(typeof answer.body.message).toBe('string');
  expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'));
  const named = answer.body.details?.map((d: { parameter: string }) => d.parameter);
  expect(named).toEqual(parameters);
}

describe('methods', () => {
  test.each([`${ENCODE}?${GOOD}`, `${DECODE}?hexcodes=HN-6GHMK-53FMF`])(
    'GET, HEAD, POST of %s',
    async (path) => {
      const [get, head, posted] = await Promise.all(
        ['GET', 'HEAD', 'POST'].map((method) => call(path, { method })),
      );
      expect(get?.status).toBe(200);
      expect(posted?.text).toBe(get?.text);
      expect(head?.status).toBe(200);
      expect(head?.text).toBe('');
      expect(head?.headers.get('content-length')).toBe(get?.headers.get('content-length'));
    },
  );

  test.each([ENCODE, DECODE])('OPTIONS of %s needs no key', async (path) => {
    const [answer] = await raw(`OPTIONS ${path} HTTP/1.1\nHost: a\nOrigin: http://b\n\n`);
    expect(answer?.status).toBe(204);
    expect(answer?.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer?.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, OPTIONS');
    expect(answer?.headers.get('access-control-allow-headers')).toContain('X-API-Key');
    expect(answer?.headers.has('content-length')).toBe(false);
  });

  test('answers carry CORS headers, refusals too', async () => {
    for (const answer of await Promise.all([call(`${ENCODE}?${GOOD}`), call(ENCODE), call(ENCODE, {}, '')])) {
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-expose-headers')).toBe('*');
    }
  });

  test.each(['PUT', 'DELETE', 'PATCH', 'BREW'])('%s is 405, before the key is looked at', async (method) => {
    const answer = await call(ENCODE, { method }, '');
    expectError(answer, 405, 'INVALID_REQUEST');
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
    const meta = await call('/v1/meta', { method: 'POST' }, '');
    expectError(meta, 405, 'INVALID_REQUEST');
    expect(meta.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  test('an unknown path is 404, before method and key', async () => {
    for (const path of [
      '/v1',
      '/v1/',
      '/v2/hexcodes/encode',
      `${ENCODE}/`,
      '/V1/hexcodes/encode',
      '/v1/encode',
    ]) {
      expectError(await call(path, { method: 'DELETE' }, ''), 404, 'NOT_FOUND');
    }
  });
});

describe('where inputs travel', () => {
  test('equal duplicates are fine, differing ones 400', async () => {
    expect((await call(`${ENCODE}?${GOOD}&lat=21.0288`)).status).toBe(200);
    expect((await call(`${ENCODE}?lat=21.0288`, json('{"lat": 21.0288, "lng": 105.8525}'))).status).toBe(200);
    expectError(await call(`${ENCODE}?${GOOD}&lat=21.03&lng=1`), 400, 'INVALID_REQUEST', ['lat', 'lng']);
    const twice = json('{"lat": 21, "lng": 105, "lat": 22}');
    expectError(await call(ENCODE, twice), 400, 'INVALID_REQUEST', ['lat']);
    expectError(await call(`${DECODE}?hexcodes=HN-2J&hexcodes=HN2J`), 400, 'INVALID_REQUEST', ['hexcodes']);
    expect((await call(`${DECODE}?hexcodes=HN-2J&hexcodes=HN-2J`)).status).toBe(200);
  });

  test('unknown parameters are ignored', async () => {
    expect((await call(`${ENCODE}?${GOOD}&utm_source=x&lat2=%zz&%zz=1`)).status).toBe(200);
    expect((await call(ENCODE, json('{"lat":21,"lng":105,"x":{"lat":[1]}}'))).status).toBe(200);
  });

  test('a plus in a query is a space', async () => {
    expect((await call(`${DECODE}?hexcodes=HN+6GHMK+53FMF`)).body.hexcodes).toBe('HN 6GHMK 53FMF');
    expectError(await call(`${ENCODE}?lat=+21&lng=105`), 400, 'INVALID_REQUEST', ['lat']);
    expect((await call(`${DECODE}?hexcodes=%2B`)).body).toMatchObject({
      hexcodes: '+',
      status: 'INVALID_HEXCODES',
    });
  });

  test('%zz and bad UTF-8 in a parameter are 400', async () => {
    for (const value of ['%zz', '%', '%F', '%C4', '%ED%A0%80', '%C0%AF']) {
      expectError(await call(`${DECODE}?hexcodes=${value}`), 400, 'INVALID_REQUEST', ['hexcodes']);
      expectError(await call(`${ENCODE}?lat=${value}&lng=105`), 400, 'INVALID_REQUEST', ['lat']);
    }
    const head = `GET ${DECODE}?hexcodes=\xff\xfe HTTP/1.1\nHost: a\nX-API-Key: ${server.key}\n\n`;
    expect((await raw(head))[0]?.status).toBe(400);
    const bytes = Uint8Array.from([...Buffer.from('{"hexcodes":"'), 0xff, ...Buffer.from('"}')]);
    expectError(await call(DECODE, post('application/json', bytes)), 400, 'INVALID_REQUEST', ['body']);
  });

  test('escaped and raw UTF-8 are read', async () => {
    for (const value of ['%C4%90', '\u0110']) {
      expect((await call(`${DECODE}?hexcodes=${value}`)).body.hexcodes).toBe('Đ');
    }
    const head = `GET ${DECODE}?hexcodes=\xc4\x90 HTTP/1.1\nHost: a\nX-API-Key: ${server.key}\n\n`;
    const body = Buffer.from((await raw(head))[0]?.body ?? '', 'latin1').toString();
    expect(JSON.parse(body).hexcodes).toBe('Đ');
  });

  test('bodies that are no JSON object are 400', async () => {
    for (const body of ['', ' ', '[]', '[1', '{"lat":1,}', 'null', '"x"', '{}{}']) {
      const answer = await call(ENCODE, json(body));
      expectError(answer, 400, 'INVALID_REQUEST', body === '' ? ['lat', 'lng'] : ['body']);
    }
  });
});

describe('encode', () => {
  test('lat and lng: the grammar, the range, echoed as the same number', async () => {
    for (const [lat, lng] of [
      ['21.0288', '105.8525'],
      ['2.10288e1', '1058525E-4'],
      ['21.', '105.'],
      ['021.50', '105.10'],
      ['21.028800000000000001', '105.85250000000001'],
      ['10', '107'],
    ] as const) {
      const answer = await call(`${ENCODE}?lat=${lat}&lng=${lng}`);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body).toEqual({ ...library.encode(Number(lat), Number(lng)), status: 'OK' });
      expect(answer.text).toContain(`"lat":${Number(lat)},"lng":${Number(lng)},`);
    }
    for (const bad of [
      '',
      'abc',
      '1,5',
      '0x15',
      'NaN',
      'Infinity',
      '1e400',
      '%2B21',
      '21%20',
      '1e',
      '91',
      '-90.1',
    ]) {
      expectError(await call(`${ENCODE}?lat=${bad}&lng=105`), 400, 'INVALID_REQUEST', ['lat']);
    }
    for (const bad of ['180.1', '-181', '1e3']) {
      expectError(await call(`${ENCODE}?lat=21&lng=${bad}`), 400, 'INVALID_REQUEST', ['lng']);
    }
    for (const edge of ['lat=90&lng=180', 'lat=-90&lng=-180', 'lat=-0&lng=0', 'lat=.5&lng=-.5e-3']) {
      expectError(await call(`${ENCODE}?${edge}`), 404, 'NOT_FOUND');
    }
  });

  test('in JSON they are numbers only', async () => {
    const answer = await call(ENCODE, json('{"lat":"21","lng":true,"resolution":"13"}'));
    expectError(answer, 400, 'INVALID_REQUEST', ['lat', 'lng', 'resolution']);
  });

  test('a swapped pair is told', async () => {
    const answer = await call(`${ENCODE}?lat=105.8525&lng=21.0288`);
    expectError(answer, 400, 'INVALID_REQUEST', ['lat']);
    expect(answer.body.message).toContain('swapped');
    expect((await call(`${ENCODE}?lat=150&lng=21`)).body.message).not.toContain('swapped');
  });

  test('resolution: 0 to 15, 13 if absent, nothing else', async () => {
    for (let resolution = 0; resolution <= 15; resolution++) {
      const answer = await call(`${ENCODE}?${GOOD}&resolution=${resolution}`);
      expect(answer.body).toEqual({ ...library.encode(21.0288, 105.8525, resolution), status: 'OK' });
    }
    expect((await call(`${ENCODE}?${GOOD}`)).body.resolution).toBe(13);
    for (const bad of ['13.0', '%2B13', '+13', '', '16', '-1', '1e1', 'x']) {
      const answer = await call(`${ENCODE}?${GOOD}&resolution=${bad}`);
      expectError(answer, 400, 'INVALID_REQUEST', ['resolution']);
    }
    const real = json('{"lat":21,"lng":105,"resolution":13.0}');
    expectError(await call(ENCODE, real), 400, 'INVALID_REQUEST', ['resolution']);
  });

  test('a valid point in no province is 404', async () => {
    const answer = await call(`${ENCODE}?lat=0&lng=0&resolution=5`);
    expectError(answer, 404, 'NOT_FOUND');
    expect(answer.body).toMatchObject({ hexcodes: null, lat: 0, lng: 0, resolution: 5, admin_code: null });
  });

  test('the error body: nulls first, every fault at once', async () => {
    const answer = await call(`${ENCODE}?lat=x&lng=181&resolution=99&admin_v2=maybe`);
    expectError(answer, 400, 'INVALID_REQUEST', ['lat', 'lng', 'resolution', 'admin_v2']);
    expect(Object.keys(answer.body)).toEqual([
      ...['hexcodes', 'lat', 'lng', 'resolution', 'admin_code', 'status', 'message', 'request_id', 'details'],
    ]);
    expect(answer.body).toMatchObject({
      hexcodes: null,
      lat: null,
      lng: 181,
      resolution: null,
      admin_code: null,
    });
    expectError(await call(ENCODE), 400, 'INVALID_REQUEST', ['lat', 'lng']);
    const denied = await call(`${ENCODE}?${GOOD}`, {}, '');
    expect(Object.keys(denied.body).slice(0, 5)).toEqual([
      'hexcodes',
      'lat',
      'lng',
      'resolution',
      'admin_code',
    ]);
  });

  test('admin_v2 is accepted, must be a boolean, has no effect', async () => {
    const plain = await call(`${ENCODE}?${GOOD}`);
    for (const value of ['true', 'false']) {
      expect((await call(`${ENCODE}?${GOOD}&admin_v2=${value}`)).text).toBe(plain.text);
      const body = json(`{"lat":21.0288,"lng":105.8525,"admin_v2":${value}}`);
      expect((await call(ENCODE, body)).text).toBe(plain.text);
      expect((await call(`${DECODE}?hexcodes=HN-2J&admin_v2=${value}`)).status).toBe(200);
    }
    for (const value of ['', '1', 'TRUE', 'yes']) {
      expectError(await call(`${ENCODE}?${GOOD}&admin_v2=${value}`), 400, 'INVALID_REQUEST', ['admin_v2']);
      const decoded = await call(`${DECODE}?hexcodes=HN-2J&admin_v2=${value}`);
      expectError(decoded, 400, 'INVALID_REQUEST', ['admin_v2']);
    }
  });
});

describe('decode', () => {
  test('an invalid code is 200 with three nulls and the text as sent', async () => {
    for (const text of ['nonsense', 'HN-6GHMK-53FMG', ' ', '"\\\u0007', 'x'.repeat(5000), '東京']) {
      const answer = await call(`${DECODE}?hexcodes=${encodeURIComponent(text)}`);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        lat: null,
        lng: null,
        resolution: null,
        hexcodes: text,
        status: 'INVALID_HEXCODES',
      });
      expect((await call(DECODE, json(JSON.stringify({ hexcodes: text })))).body).toEqual(answer.body);
    }
  });

  test('missing or empty is 400', async () => {
    for (const query of ['', '?hexcodes', '?hexcodes=', '?hexcode=HN-2J']) {
      expectError(await call(DECODE + query), 400, 'INVALID_REQUEST', ['hexcodes']);
    }
    for (const body of ['{}', '{"hexcodes":""}', '{"hexcodes":null}', '{"hexcodes":["HN-2J"]}']) {
      expectError(await call(DECODE, json(body)), 400, 'INVALID_REQUEST', ['hexcodes']);
    }
  });
});

describe('key', () => {
  test('everything under /v1 needs one', async () => {
    for (const path of [`${ENCODE}?${GOOD}`, `${DECODE}?hexcodes=HN-2J`, '/v1/meta', '/v1/admin-units']) {
      const answer = await call(path, {}, '');
      expectError(answer, 401, 'REQUEST_DENIED');
      expect(answer.headers.get('www-authenticate')).toBe('ApiKey realm="hexcodes"');
    }
    expectError(await call('/v1/admin-units/HN', {}, ''), 401, 'REQUEST_DENIED');
  });

  test('missing, empty and unknown get the same answer', async () => {
    const strip = ({ status, body }: Answer) => ({ status, body: { ...body, request_id: '' } });
    const answers = await Promise.all([
      call('/v1/meta', {}, ''),
      call('/v1/meta?apikey=', {}, ''),
      call('/v1/meta?apikey=nobody', {}, ''),
      call('/v1/meta', {}, `${server.key}x`),
      call('/v1/meta?apikey=%zz', {}, ''),
    ]);
    for (const answer of answers) expect(strip(answer)).toEqual(strip(answers[0] as Answer));
  });

  test('query or header; both and different is 400', async () => {
    const keyed = `${ENCODE}?${GOOD}&apikey=${server.key}`;
    expect((await call(keyed, {}, '')).status).toBe(200);
    expect((await call(keyed)).status).toBe(200);
    expectError(await call(keyed, {}, 'other'), 400, 'INVALID_REQUEST', ['apikey']);
    expectError(await call(`${keyed}&apikey=other`, {}, ''), 400, 'INVALID_REQUEST', ['apikey']);
    expect((await call(`${keyed}&apikey=${server.key}`, {}, '')).status).toBe(200);
    const head = `GET /v1/meta HTTP/1.1\nHost: a\nX-API-Key: ${server.key}\nx-api-key: b\n\n`;
    expect((await raw(head))[0]?.status).toBe(400);
  });

  test('the key is looked at before parameters and body', async () => {
    expectError(await call(`${ENCODE}?lat=x`, {}, 'nobody'), 401, 'REQUEST_DENIED');
    expectError(await call(ENCODE, post('text/plain', 'x'), 'nobody'), 401, 'REQUEST_DENIED');
  });

  test('where a key is in the URL nobody may keep the answer', async () => {
    for (const path of [
      `${ENCODE}?${GOOD}&apikey=${server.key}`,
      '/v1/meta?apikey=nobody',
      '/nowhere?apikey=x',
      '/nowhere?api%6bey=x',
      '/v1/hexcodes/encode/batch?a&%61pikey=x',
      // Not where a key belongs, but one all the same.
      '/nowhere?APIKEY=x',
      '/nowhere?%zz%41piKey=x',
      '/nowhere?a;api%6Bey=x',
      '/v1/meta&apikey=x',
      '/v1/meta%3Fapi%6bey=x',
      '/v1/meta?%zzapikey=x',
    ]) {
      expect((await call(path, {}, '')).headers.get('cache-control')).toBe('private, no-store');
    }
    const post = await call('/v1/meta?APIKEY=x', { method: 'POST' });
    expect([post.status, post.headers.get('cache-control')]).toEqual([405, 'private, no-store']);
    for (const path of [`${ENCODE}?${GOOD}`, ENCODE, '/nowhere', '/nowhere?x=%zz']) {
      expect((await call(path)).headers.get('cache-control')).toBeNull();
    }
  });
});

describe('sizes', () => {
  test('a target over 8 KiB is 414', async () => {
    const most = 8192 - `${DECODE}?hexcodes=`.length;
    expect((await call(`${DECODE}?hexcodes=${'x'.repeat(most)}`)).status).toBe(200);
    expectError(await call(`${DECODE}?hexcodes=${'x'.repeat(most + 1)}`), 414, 'INVALID_REQUEST');
    expectError(await call(`/${'x'.repeat(9000)}`), 414, 'INVALID_REQUEST');
  });

  test('a body over 16 KiB is 413, known or not before it is read', async () => {
    const fits = `{"hexcodes":"HN-2J","x":"${'y'.repeat(16_384 - 27)}"}`;
    expect(fits.length).toBe(16_384);
    expect((await call(DECODE, json(fits))).status).toBe(200);
    const head = `POST ${DECODE} HTTP/1.1\nHost: a\nX-API-Key: ${server.key}\nContent-Type: application/json\n`;
    // Refused before the body comes, and the connection ends.
    const [known] = await raw(`${head}Content-Length: 16385\n\n`);
    expect(known?.status).toBe(413);
    expect(known?.headers.get('connection')).toBe('close');
    const chunk = `1000\r\n${' '.repeat(4096)}\r\n`;
    const [chunked] = await raw(`${head}Transfer-Encoding: chunked\n\n`, `${chunk.repeat(4)}1\r\n`);
    expect(chunked).toBeUndefined();
    const [over] = await raw(`${head}Transfer-Encoding: chunked\n\n`, `${chunk.repeat(4)}1\r\n \r\n`);
    expect(over?.status).toBe(413);
    expect(JSON.parse(over?.body ?? '').status).toBe('INVALID_REQUEST');
  });

  test('headers over 16 KiB or 98 lines are the transport’s own 431', async () => {
    const status = async (more: string): Promise<string | undefined> => {
      const request = `GET /v1/meta HTTP/1.1\nHost: a\nX-API-Key: ${server.key}\n${more}\n`;
      const received = await sendRaw(server.port, request.replaceAll('\n', '\r\n'));
      return /^HTTP\/1.1 (\d+) /.exec(received)?.[1];
    };
    const lines = (count: number) => Array.from({ length: count }, (_, i) => `X-H${i}: 1\n`).join('');
    // Two lines are there already.
    expect([await status(lines(96)), await status(lines(97))]).toEqual(['200', '431']);
    const empty = `GET /v1/meta HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\nX-Big: \r\n\r\n`;
    const big = (sizeBytes: number) => `X-Big: ${'y'.repeat(sizeBytes - empty.length)}\n`;
    expect([await status(big(16_384)), await status(big(16_385))]).toEqual(['200', '431']);
    expect((await call('/v1/meta')).status).toBe(200);
  });
});

describe('media types', () => {
  test('406 where JSON is not accepted', async () => {
    for (const accept of ['text/html', 'application/json;q=0', 'application/json;q=0, */*', 'image/*']) {
      const answer = await call(`${ENCODE}?${GOOD}`, { headers: { Accept: accept } });
      expectError(answer, 406, 'INVALID_REQUEST');
    }
    for (const accept of ['*/*', 'application/*', 'text/html, */*;q=0.1', 'APPLICATION/JSON; q=1']) {
      expect((await call(`${ENCODE}?${GOOD}`, { headers: { Accept: accept } })).status).toBe(200);
    }
  });

  test('415 where a body is neither JSON nor a form', async () => {
    for (const type of [
      'text/plain',
      'application/xml',
      'application/json; charset=latin1',
      'multipart/form-data',
    ]) {
      expectError(await call(ENCODE, post(type, '{"lat":21,"lng":105}')), 415, 'INVALID_REQUEST');
    }
    for (const type of [
      'application/json; charset=UTF-8',
      'Application/JSON',
      'application/json;charset="utf-8"',
    ]) {
      expect((await call(ENCODE, post(type, '{"lat":21,"lng":105}'))).status).toBe(200);
    }
    const typeless = `POST ${ENCODE}?${GOOD} HTTP/1.1\nHost: a\nX-API-Key: ${server.key}\nContent-Length: 0\n\n`;
    expect((await raw(typeless))[0]?.status).toBe(200);
  });
});

describe('X-Request-Id', () => {
  test('is echoed if it is one, else made, on every answer and in the log', async () => {
    const good = ['a', 'A-Z_0.9', 'x'.repeat(128)];
    for (const id of good) {
      const answer = await call(`${ENCODE}?lat=x`, { headers: { 'X-Request-Id': id } });
      expect(answer.headers.get('x-request-id')).toBe(id);
      expect(answer.body.request_id).toBe(id);
      expect(server.log()).toContain(`"request_id":"${id}"`);
    }
    const made = new Set<string>();
    for (const id of ['', 'x'.repeat(129), 'a b', 'a"b', 'é']) {
      const answer = await call(`${ENCODE}?${GOOD}`, { headers: { 'X-Request-Id': id } });
      const own = answer.headers.get('x-request-id') ?? '';
      expect(own).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
      expect(own).not.toBe(id);
      made.add(own);
    }
    expect(made.size).toBe(5);
    for (const path of ['/nowhere', '/v1/meta', DECODE]) {
      expect((await call(path, {}, '')).headers.has('x-request-id')).toBe(true);
    }
    const [options] = await raw(`OPTIONS ${ENCODE} HTTP/1.1\nHost: a\nX-Request-Id: mine\n\n`);
    expect(options?.headers.get('x-request-id')).toBe('mine');
  });
});

describe('ours', () => {
  test('/v1/meta tells versions and the index’s own notice', async () => {
    const { body } = await call('/v1/meta');
    expect(body.transport).toEqual((await loadUws()).build);
    expect(body).toMatchObject({
      status: 'OK',
      service: { name: 'hexcodes' },
      code_format: 1,
      boundary_data: { source: 'made up', licence: 'none', notice: 'made up', date: '2026-01-01' },
    });
    expect(body.boundary_data.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test('/v1/admin-units has the 34 provinces; one of them comes with its boundary', async () => {
    const { body } = await call('/v1/admin-units');
    expect(body.admin_units).toHaveLength(34);
    expect(body.admin_units[11]).toEqual({ admin_code: 'HN', name: 'Hà Nội', merged_units: ['Hà Nội'] });
    const one = await call('/v1/admin-units/HN');
    expect(one.body).toMatchObject({ admin_code: 'HN', boundary: { type: 'Feature' } });
    expect(one.body.boundary.geometry.type).toBe('MultiPolygon');
    for (const code of ['XX', 'hn', '%48N', 'HN/']) {
      expect((await call(`/v1/admin-units/${code}`)).status).toBe(404);
    }
  });

  test('/livez and /readyz stand on the admin port, without a key', async () => {
    for (const path of ['/livez', '/readyz']) {
      expect((await fetch(`http://127.0.0.1:${server.adminPort}${path}`)).status).toBe(200);
      expect((await call(path)).status).toBe(404);
    }
    expect((await fetch(`http://127.0.0.1:${server.adminPort}/v1/meta`)).status).toBe(404);
  });
});
