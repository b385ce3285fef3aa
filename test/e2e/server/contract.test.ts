// Rules that hold for every endpoint, or for every endpoint with a body, on the real server (docs/http.md).
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  call,
  callRaw,
  DECODE,
  ENCODE,
  expectError,
  GOOD,
  post,
  postJson,
} from '../../support/http-calls.js';
import { sendRaw } from '../../support/server.js';
import { sharedServer } from '../../support/shared.js';

const server = sharedServer();

describe('methods', () => {
  test.each([`${ENCODE}?${GOOD}`, `${DECODE}?hexcodes=HN-6GHMK-53FMF`])(
    'GET, HEAD, POST of %s',
    async (path) => {
      const [get, head, posted] = await Promise.all(
        ['GET', 'HEAD', 'POST'].map((method) => call(server, path, { method })),
      );
      expect(get?.status).toBe(200);
      expect(posted?.text).toBe(get?.text);
      expect(head?.status).toBe(200);
      expect(head?.text).toBe('');
      expect(head?.headers.get('content-length')).toBe(get?.headers.get('content-length'));
    },
  );

  test.each([ENCODE, DECODE])('OPTIONS of %s needs no key', async (path) => {
    const [answer] = await callRaw(server, `OPTIONS ${path} HTTP/1.1\nHost: a\nOrigin: http://b\n\n`);
    expect(answer?.status).toBe(204);
    expect(answer?.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer?.headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST, OPTIONS');
    expect(answer?.headers.get('access-control-allow-headers')).toContain('X-API-Key');
    expect(answer?.headers.has('content-length')).toBe(false);
  });

  test('every answer has CORS headers, also an error', async () => {
    for (const answer of await Promise.all([
      call(server, `${ENCODE}?${GOOD}`),
      call(server, ENCODE),
      call(server, ENCODE, {}, ''),
    ])) {
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-expose-headers')).toBe('*');
    }
  });

  test.each(['PUT', 'DELETE', 'PATCH', 'BREW'])('%s is 405, whatever the key', async (method) => {
    const answer = await call(server, ENCODE, { method }, '');
    expectError(answer, 405, 'INVALID_REQUEST');
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
    const meta = await call(server, '/v1/meta', { method: 'POST' }, '');
    expectError(meta, 405, 'INVALID_REQUEST');
    expect(meta.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  test('an unknown path is 404, whatever method and key', async () => {
    for (const path of [
      ...['/v1', '/v1/', '/v2/hexcodes/encode', `${ENCODE}/`, '/V1/hexcodes/encode', '/v1/encode'],
    ]) {
      expectError(await call(server, path, { method: 'DELETE' }, ''), 404, 'NOT_FOUND');
    }
  });

  test('a path with extra slashes, another case or a wrong letter is answered with the path that was meant', async () => {
    const document = (await (await fetch(`http://127.0.0.1:${server.port}/openapi.json`)).json()) as {
      paths: object;
    };
    // That of a tile with its ending is the other with a longer last segment.
    const known = Object.keys(document.paths).filter((path) => !path.endsWith('.mvt'));
    const slips: fc.Arbitrary<(path: string) => string> = fc.oneof(
      fc.constant((path: string) => `${path}/`),
      fc.constant((path: string) => `/${path}`),
      fc.nat().map((n) => (path: string) => {
        const slashes = [...path.matchAll(/\//g)].map(({ index }) => index);
        const at = slashes[n % slashes.length] as number;
        return `${path.slice(0, at)}//${path.slice(at + 1)}`;
      }),
      fc.constant((path: string) => path.replace(/^\/v1/, '/V1')),
      fc.constant((path: string) => path.replace(/^\/v1/, '/v')),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...known), slips, async (path, slip) => {
        const { body } = await call(server, slip(path.replaceAll(/\{\w+\}/g, '7')), {}, '');
        // A route's own names for what varies in its path are not those of the document.
        const [, meant = ''] = /; perhaps (\S+)$/.exec(String(body.message)) ?? [];
        expect(meant.replaceAll(/\w+(?=\})/g, '')).toBe(path.replaceAll(/\w+(?=\})/g, ''));
      }),
      { numRuns: 200 },
    );
  });

  test('a body with a Content-Encoding that is not understood is 415, one that is not a gzip 400', async () => {
    for (const path of [ENCODE, `${ENCODE}/batch`]) {
      for (const [coding, status] of [
        ['br', 415],
        ['zstd', 415],
        ['gzip, gzip', 415],
        ['gzip', 400],
      ] as const) {
        const headers = { 'Content-Type': 'application/json', 'Content-Encoding': coding };
        const answer = await call(server, path, { method: 'POST', headers, body: 'packed' });
        expectError(answer, status, 'INVALID_REQUEST', ...(status === 400 ? [['body']] : []));
      }
    }
  });
});

describe('keys', () => {
  test('every endpoint under /v1 needs a key', async () => {
    for (const path of [`${ENCODE}?${GOOD}`, `${DECODE}?hexcodes=HN-2J`, '/v1/meta', '/v1/admin-units']) {
      const answer = await call(server, path, {}, '');
      expectError(answer, 401, 'REQUEST_DENIED');
      expect(answer.headers.get('www-authenticate')).toBe('ApiKey realm="hexcodes"');
    }
    expectError(await call(server, '/v1/admin-units/HN', {}, ''), 401, 'REQUEST_DENIED');
  });

  test('a missing, an empty and an unknown key get the same answer', async () => {
    const strip = ({ status, body }: Answer) => ({ status, body: { ...body, request_id: '' } });
    const answers = await Promise.all([
      call(server, '/v1/meta', {}, ''),
      call(server, '/v1/meta?apikey=', {}, ''),
      call(server, '/v1/meta?apikey=nobody', {}, ''),
      call(server, '/v1/meta', {}, `${server.key}x`),
      call(server, '/v1/meta?apikey=%zz', {}, ''),
    ]);
    for (const answer of answers) expect(strip(answer)).toEqual(strip(answers[0] as Answer));
  });

  test('a key may be in the query or in the header; two different ones are 400', async () => {
    const keyed = `${ENCODE}?${GOOD}&apikey=${server.key}`;
    expect((await call(server, keyed, {}, '')).status).toBe(200);
    expect((await call(server, keyed)).status).toBe(200);
    expectError(await call(server, keyed, {}, 'other'), 400, 'INVALID_REQUEST', ['apikey']);
    expectError(await call(server, `${keyed}&apikey=other`, {}, ''), 400, 'INVALID_REQUEST', ['apikey']);
    expect((await call(server, `${keyed}&apikey=${server.key}`, {}, '')).status).toBe(200);
    const head = `GET /v1/meta HTTP/1.1\nHost: a\nX-API-Key: ${server.key}\nx-api-key: b\n\n`;
    expect((await callRaw(server, head))[0]?.status).toBe(400);
  });

  test('the key is checked before parameters and body', async () => {
    expectError(await call(server, `${ENCODE}?lat=x`, {}, 'nobody'), 401, 'REQUEST_DENIED');
    expectError(await call(server, ENCODE, post('text/plain', 'x'), 'nobody'), 401, 'REQUEST_DENIED');
  });

  test('an answer is not to be stored if the URL contains a key', async () => {
    for (const path of [
      `${ENCODE}?${GOOD}&apikey=${server.key}`,
      '/v1/meta?apikey=nobody',
      '/nowhere?apikey=x',
      '/nowhere?api%6bey=x',
      '/v1/hexcodes/encode/batch?a&%61pikey=x',
      // A key in the wrong place, or misspelt, is a key.
      '/nowhere?APIKEY=x',
      '/nowhere?%zz%41piKey=x',
      '/nowhere?a;api%6Bey=x',
      '/v1/meta&apikey=x',
      '/v1/meta%3Fapi%6bey=x',
      '/v1/meta?%zzapikey=x',
    ]) {
      expect((await call(server, path, {}, '')).headers.get('cache-control')).toBe('private, no-store');
    }
    const post = await call(server, '/v1/meta?APIKEY=x', { method: 'POST' });
    expect([post.status, post.headers.get('cache-control')]).toEqual([405, 'private, no-store']);
    for (const path of [`${ENCODE}?${GOOD}`, ENCODE, '/nowhere', '/nowhere?x=%zz']) {
      expect((await call(server, path)).headers.get('cache-control')).toBeNull();
    }
  });
});

describe('sizes', () => {
  test('a target over 8 KiB is 414', async () => {
    const most = 8192 - `${DECODE}?hexcodes=`.length;
    expect((await call(server, `${DECODE}?hexcodes=${'x'.repeat(most)}`)).status).toBe(200);
    expectError(await call(server, `${DECODE}?hexcodes=${'x'.repeat(most + 1)}`), 414, 'INVALID_REQUEST');
    expectError(await call(server, `/${'x'.repeat(9000)}`), 414, 'INVALID_REQUEST');
  });

  test('a body over 16 KiB is 413, with or without a Content-Length', async () => {
    const fits = `{"hexcodes":"HN-2J","x":"${'y'.repeat(16_384 - 27)}"}`;
    expect(fits.length).toBe(16_384);
    expect((await call(server, DECODE, postJson(fits))).status).toBe(200);
    const head = `POST ${DECODE} HTTP/1.1\nHost: a\nX-API-Key: ${server.key}\nContent-Type: application/json\n`;
    // Refused before the body is sent, and the connection is closed.
    const [known] = await callRaw(server, `${head}Content-Length: 16385\n\n`);
    expect(known?.status).toBe(413);
    expect(known?.headers.get('connection')).toBe('close');
    const chunk = `1000\r\n${' '.repeat(4096)}\r\n`;
    const [chunked] = await callRaw(
      server,
      `${head}Transfer-Encoding: chunked\n\n`,
      `${chunk.repeat(4)}1\r\n`,
    );
    expect(chunked).toBeUndefined();
    const [over] = await callRaw(
      server,
      `${head}Transfer-Encoding: chunked\n\n`,
      `${chunk.repeat(4)}1\r\n \r\n`,
    );
    expect(over?.status).toBe(413);
    expect(JSON.parse(over?.body ?? '').status).toBe('INVALID_REQUEST');
  });

  test('uWS answers 431 to a head over 16 KiB or over 98 lines', async () => {
    const status = async (more: string): Promise<string | undefined> => {
      const request = `GET /v1/meta HTTP/1.1\nHost: a\nX-API-Key: ${server.key}\n${more}\n`;
      const received = await sendRaw(server.port, request.replaceAll('\n', '\r\n'));
      return /^HTTP\/1.1 (\d+) /.exec(received)?.[1];
    };
    const lines = (count: number) => Array.from({ length: count }, (_, i) => `X-H${i}: 1\n`).join('');
    // The request has two lines of its own.
    expect([await status(lines(96)), await status(lines(97))]).toEqual(['200', '431']);
    const empty = `GET /v1/meta HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\nX-Big: \r\n\r\n`;
    const big = (sizeBytes: number) => `X-Big: ${'y'.repeat(sizeBytes - empty.length)}\n`;
    expect([await status(big(16_384)), await status(big(16_385))]).toEqual(['200', '431']);
    expect((await call(server, '/v1/meta')).status).toBe(200);
  });
});

describe('media types', () => {
  test('several lines of Accept are one list', async () => {
    const statusOf = async (...accepts: string[]): Promise<number | undefined> => {
      const lines = accepts.map((accept) => `Accept: ${accept}\n`).join('');
      const head = `GET ${ENCODE}?${GOOD} HTTP/1.1\nHost: a\nX-API-Key: ${server.key}\n${lines}\n`;
      return (await callRaw(server, head))[0]?.status;
    };
    expect(await statusOf('application/json', 'text/html')).toBe(200);
    expect(await statusOf('text/html', 'application/json')).toBe(200);
    expect(await statusOf('text/html', 'image/*')).toBe(406);
  });

  test('415 if a body is neither JSON nor a form', async () => {
    for (const type of [
      'text/plain',
      'application/xml',
      'application/jsonx',
      'application/json; charset=latin1',
      'application/json; charset=',
      'application/json; charset=utf-8; charset=latin1',
      'multipart/form-data',
    ]) {
      expectError(await call(server, ENCODE, post(type, '{"lat":21,"lng":105}')), 415, 'INVALID_REQUEST');
    }
    for (const type of [
      'application/json; charset=UTF-8',
      'Application/JSON',
      'application/json;charset="utf-8"',
    ]) {
      expect((await call(server, ENCODE, post(type, '{"lat":21,"lng":105}'))).status).toBe(200);
    }
    const typeless = `POST ${ENCODE}?${GOOD} HTTP/1.1\nHost: a\nX-API-Key: ${server.key}\nContent-Length: 0\n\n`;
    expect((await callRaw(server, typeless))[0]?.status).toBe(200);
  });
});

describe('X-Request-Id', () => {
  test('is echoed if valid, else generated, in every answer and in the log', async () => {
    const good = ['a', 'A-Z_0.9', 'x'.repeat(128)];
    for (const id of good) {
      const answer = await call(server, `${ENCODE}?lat=x`, { headers: { 'X-Request-Id': id } });
      expect(answer.headers.get('x-request-id')).toBe(id);
      expect(answer.body.request_id).toBe(id);
      expect(server.log()).toContain(`"request_id":"${id}"`);
    }
    const made = new Set<string>();
    for (const id of ['', 'x'.repeat(129), 'a b', 'a"b', 'é']) {
      const answer = await call(server, `${ENCODE}?${GOOD}`, { headers: { 'X-Request-Id': id } });
      const own = answer.headers.get('x-request-id') ?? '';
      expect(own).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
      expect(own).not.toBe(id);
      made.add(own);
    }
    expect(made.size).toBe(5);
    for (const path of ['/nowhere', '/v1/meta', DECODE]) {
      expect((await call(server, path, {}, '')).headers.has('x-request-id')).toBe(true);
    }
    const [options] = await callRaw(server, `OPTIONS ${ENCODE} HTTP/1.1\nHost: a\nX-Request-Id: mine\n\n`);
    expect(options?.headers.get('x-request-id')).toBe('mine');
  });
});
