// Habits of callers: names of coordinates, hints, numbers as some languages print them, headers of tracing scripts;
// keys in Authorization, one error object, gzip of every body, and files that crawlers and scanners ask for.

import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { askRaw, rawClient } from '../../../support/http-calls.js';
import { startServer } from '../../../support/server.js';
import { sharedServer } from '../../../support/shared.js';

const server = sharedServer({
  publicUrl: 'https://codes.example.com',
  securityContact: 'mailto:s@example.com',
});

describe('habits of callers', () => {
  const call = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${server.port}/v1/hexcodes/${path}`, {
      ...init,
      headers: { 'X-API-Key': server.key, ...init.headers },
    });

  const post = (path: string, body: string, type = 'application/json'): Promise<Response> =>
    call(path, { method: 'POST', body, headers: { 'Content-Type': type } });

  /** In the boundaries of the tests. */
  const CODE = 'QNH-6GHP4-83RF9';

  test.each([
    'latitude=21.0288&longitude=105.8525',
    'latitude=21.0288&lon=105.8525',
    'lat=21.0288&lon=105.8525',
  ])('%s', async (query) => {
    const answer = await call(`encode?${query}`);
    expect(await answer.text()).toBe(
      `{"hexcodes":"${CODE}","lat":21.0288,"lng":105.8525,"resolution":13,"admin_code":"QNH","status":"OK"}`,
    );
    expect(answer.headers.get('Hexcodes-Hint')).toBeNull();
  });

  test('two names of one axis may say one number, and a fault names the parameter as it was written', async () => {
    const both = 'encode?lat=21.0288&lng=105.8525&lon=105.85250&latitude=x';
    const { hexcodes } = (await (await call(both)).json()) as { hexcodes: string };
    expect(hexcodes).toBe(CODE);
    expect((await call('encode?lat=21.0288&lng=105.8525&lon=1')).status).toBe(400);
    const { details } = (await (await call('encode?latitude=x&lon=105')).json()) as { details: object[] };
    expect(details).toMatchObject([{ parameter: 'latitude' }]);
  });

  test.each([
    `decode?hexcodes=${CODE}&apikey=`,
    `decode?hexcodes=${CODE}&hx_0123456789abcdefghijklmnopqrstuvwxyz=1`,
    `decode?hexcodes=${CODE}&a%0d%0aX:y=1`,
  ])('%s has no hint: it may hold a key, or more than a name', async (path) => {
    const answer = await call(path);
    expect(answer.headers.get('Hexcodes-Hint')).toBeNull();
    await answer.arrayBuffer();
  });

  test('9.0 is the resolution 9 in JSON, alone, of a batch and of an item; 9.5 and a query with 9.0 are refused', async () => {
    const point = '"lat":21.0288,"lng":105.8525';
    const codeOf = async (answer: Promise<Response>): Promise<unknown> =>
      (await (await answer).json()) as unknown;
    expect(await codeOf(post('encode', `{${point},"resolution":9.0}`))).toMatchObject({ resolution: 9 });
    expect(await codeOf(post('encode', `{${point},"resolution":0.9e1}`))).toMatchObject({ resolution: 9 });
    expect(
      await codeOf(
        post('encode/batch', `{"resolution":9.0,"points":[{${point}},{${point},"resolution":7.0}]}`),
      ),
    ).toMatchObject({
      results: [{ resolution: 9 }, { resolution: 7 }],
    });
    for (const wrong of ['9.5', '-1.0', '16.0', '1e400', '"9.0"'])
      expect((await post('encode', `{${point},"resolution":${wrong}}`)).status, wrong).toBe(400);
    expect((await call('encode?lat=21&lng=105.8&resolution=9.0')).status).toBe(400);
  });

  test('every look-up names the parameters that it does not have, and reverse reads the names of encode', async () => {
    for (const path of [`${CODE}?x`, `${CODE}/suggestions?limit=3`, '../usage?days=1', '../places?q=ha&x=1'])
      expect((await call(path)).headers.get('hexcodes-hint'), path).toMatch(/^\w+ is not a parameter$/);
    const asked = [
      'lat=21.0288&lon=105.8525',
      'latitude=21.0288&lng=105.8525',
      'lat=21.0288&longitude=105.8525',
    ];
    const answers = await Promise.all(
      asked.map(async (query) => {
        const answer = await call(`../reverse?${query}`);
        return [answer.headers.get('hexcodes-hint'), await answer.text()];
      }),
    );
    expect(answers[0]?.[1]).toContain(CODE);
    expect(answers).toEqual([answers[0], answers[0], answers[0]]);
    expect(await (await call('../reverse?latitude=x&lng=1')).text()).toContain('"param":"latitude"');
  });

  test('JSON without a Content-Type, as curl -d sends it, is told which one to send', async () => {
    const body = '{"lat":21.0288,"lng":105.8525}';
    const answer = await post('encode', body, 'application/x-www-form-urlencoded');
    expect(answer.status).toBe(400);
    expect(
      (await post('encode', 'lat=21.0288&lng=105.8525', 'application/x-www-form-urlencoded')).status,
    ).toBe(200);
  });

  /** A name as senders write it: in another case, as a list, with a blank beside it. */
  const spelled = (name: string): fc.Arbitrary<string> => {
    const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    const slips = [name.toUpperCase(), title, `${name}[]`, `${title}[0]`, ` ${name}`, `${title} `];
    return fc.constantFrom(...slips);
  };

  test('a misspelt JSON member is named: in a call, a batch, its items and rows of NDJSON', async () => {
    const given = fc.record({ lat: spelled('lat'), lng: spelled('lng'), points: spelled('points') });
    // Members of the sender are in front, and are not what is named.
    const item = (lat: string, lng: string): string =>
      JSON.stringify({ fleet: 1, driver: 2, speed: 3, [lat]: 21.0288, [lng]: 105.8525 });
    await fc.assert(
      fc.asyncProperty(given, async ({ lat, lng, points }) => {
        const one = await (await post('encode', item(lat, lng))).text();
        const many = await (await post('encode/batch', `{"points":[${item(lat, lng)}]}`)).text();
        const rows = await (await post('encode/bulk', `${item(lat, lng)}\n`, 'application/x-ndjson')).text();
        for (const answer of [one, many, rows])
          expect(answer).toMatch(/is not a parameter; perhaps lat, .{3,12} is not a parameter; perhaps lng/);
        const batch = await post('encode/batch', JSON.stringify({ [points]: [[21.0288, 105.8525]] }));
        expect(await batch.text()).toMatch(/"points is required; .{6,14} is not a member; perhaps points"/);
      }),
      { numRuns: 40 },
    );
  });

  test('an array by any other name is probably the items; names that may be keys are not repeated', async () => {
    const name = fc
      .stringMatching(/^[a-z][a-z_]{0,15}$/)
      .filter((each) => !/^(?:points|hexcodes|id)$/.test(each));
    await fc.assert(
      fc.asyncProperty(name, async (each) => {
        for (const [path, items] of [
          ['encode', 'points'],
          ['decode', 'hexcodes'],
        ]) {
          const { status, message } = (await (
            await post(`${path}/batch`, JSON.stringify({ [each]: [CODE], meta: { page: 1 } }))
          ).json()) as { status: string; message: string };
          expect([status, message]).toEqual([
            'INVALID_REQUEST',
            `${items} is required; ${each} is not a member; perhaps ${items}`,
          ]);
        }
      }),
      { numRuns: 30 },
    );
    const secret = await post('encode/batch', `{"${server.key}":[1]}`);
    expect(await secret.text()).not.toContain(server.key);
  });

  test('a batch that is answered has a hint for members that it does not have, from the pool, too', async () => {
    for (const count of [1, 9000]) {
      const points = Array.from({ length: count }, () => [21.0288, 105.8525]);
      const answer = await post('encode/batch', JSON.stringify({ points, Resolution: 9 }));
      expect(answer.headers.get('Hexcodes-Hint')).toBe('Resolution is not a member; perhaps resolution');
      await answer.arrayBuffer();
    }
  });

  test('a preflight of an unknown path is let through, so that a page can read the 404; OPTIONS alone is not', async () => {
    for (const path of ['encode/bulks', '../nothing', `${CODE}/x/y`]) {
      const asked = { Origin: 'https://page.example', 'Access-Control-Request-Method': 'PUT' };
      const preflight = await call(path, { method: 'OPTIONS', headers: asked });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('Access-Control-Allow-Origin')).toBe('*');
      expect(preflight.headers.get('Access-Control-Allow-Methods')).toContain('PUT');
      expect((await call(path, { method: 'OPTIONS' })).status).toBe(404);
      const answer = await call(path, { method: 'PUT', headers: { Origin: 'https://page.example' } });
      expect([answer.status, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([404, '*']);
    }
  });

  test('columns of hemispheres are refused, characters of no width around numbers are read', async () => {
    const sides = await post('encode/bulk', 'lat,ns,lng,ew\n21.0288,S,105.8525,W\n', 'text/csv');
    expect(sides.status).toBe(400);
    expect((await post('encode/bulk', 'lat,lng,ns\n21.0288,105.8525,5\n', 'text/csv')).status).toBe(200);
    const marked =
      'lat,lng\n\u200e21.0288\u200e,\u200b105.8525\n\ufeff21.0288,105.8525\u202c\n21.0288,105.8525\u2060\n';
    const answer = await post('encode/bulk', marked, 'text/csv');
    expect((await answer.text()).match(/,OK$/gm)).toHaveLength(3);
  });

  test('a preflight allows the headers of tracing scripts and of caches', async () => {
    const { headers } = await call('encode', { method: 'OPTIONS' });
    const allowed = headers.get('Access-Control-Allow-Headers')?.toLowerCase().split(', ') ?? [];
    for (const name of [
      ...['*', 'authorization', 'baggage', 'sentry-trace', 'traceparent', 'if-none-match'],
      ...['x-api-key'],
    ])
      expect(allowed).toContain(name);
  });

  test('a body with an error ends with a line end, a success with none', async () => {
    expect(await (await call('encode?lat=x')).text()).toMatch(/\}\n$/);
    expect(await (await call('nothing')).text()).toMatch(/\}\n$/);
    expect(await (await call(`decode?hexcodes=${CODE}`)).text()).toMatch(/\}$/);
  });

  test.each(['text/json', 'application/vnd.fleet+json', 'Application/Problem+JSON; charset="utf-8"', ''])(
    'a body of JSON under the name “%s” is read by every endpoint that takes JSON',
    async (type) => {
      const send = (path: string, body: string): Promise<Response> =>
        call(path, {
          method: 'POST',
          // fetch gives texts a type of its own.
          body: new Blob([body]),
          headers: type === '' ? {} : { 'Content-Type': type },
        });
      const point = '{"lat":21.0288,"lng":105.8525}';
      expect(await (await send('encode', point)).text()).toContain(CODE);
      expect(await (await send('decode', `{"hexcodes":"${CODE}"}`)).text()).toContain('"status":"OK"');
      expect(await (await send('encode/batch', `{"points":[${point}]}`)).text()).toContain(CODE);
      expect(
        await (await send('../traccar', `{"position":{"latitude":21.0288,"longitude":105.8525}}`)).status,
      ).not.toBe(415);
    },
  );

  test.each([
    ['*', 200],
    ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', 200],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 200],
    ['garbage', 200],
    [',;', 200],
    ['application/*', 200],
    ['application/json;q=0.1', 200],
    ['text/csv', 406],
    ['application/json;q=0', 406],
    ['*;q=0', 406],
    ['application/json;q=0, */*', 406],
    ['image/*', 406],
    ['APPLICATION/JSON; q=1', 200],
    ['application/json;q=0.0, */*', 406],
    ['*/*, application/*;q=0', 406],
    ['application/jsonp, application', 406],
    ['text/html, */*;q=0.1', 200],
    [' , ', 200],
    ['application/json;q=high', 200],
    ['application/json;q=-1', 200],
    ['application/json;level=1', 200],
  ])('Accept: %s is answered %d by every endpoint of JSON', async (accept, status) => {
    for (const path of ['encode?lat=21.0288&lng=105.8525', `decode?hexcodes=${CODE}`, CODE, '../meta'])
      expect([path, (await call(path, { headers: { Accept: accept } })).status]).toEqual([path, status]);
  });
});

describe('habits of clients of public APIs', () => {
  const JSON_TYPE = { 'Content-Type': 'application/json' };

  const call = (path: string, options: RequestInit = {}): Promise<Response> =>
    fetch(`${server.base}${path}`, options);

  const post = (
    path: string,
    body: string | Uint8Array,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    call(path, {
      method: 'POST',
      body: body as BodyInit,
      headers: { 'X-API-Key': server.key, ...JSON_TYPE, ...headers },
    });

  test('the key may be in Authorization, by either scheme in any case; another scheme is not for us', async () => {
    for (const scheme of ['ApiKey', 'Bearer', 'bearer', 'APIKEY'])
      expect((await call('/v1/meta', { headers: { Authorization: `${scheme} ${server.key}` } })).status).toBe(
        200,
      );
    const basic = { Authorization: `Basic ${server.key}` };
    expect((await call('/v1/meta', { headers: basic })).status).toBe(401);
    expect((await call('/v1/meta', { headers: { ...basic, 'X-API-Key': server.key } })).status).toBe(200);
    const other = { Authorization: 'Bearer other', 'X-API-Key': server.key };
    expect((await call('/v1/meta', { headers: other })).status).toBe(400);
    expect((await call('/v1/meta', { headers: { Authorization: 'Bearer other' } })).status).toBe(401);
  });

  test('every scheme that a challenge names is taken', async () => {
    const challenge = (await call('/v1/meta')).headers.get('www-authenticate') ?? '';
    const schemes = [...challenge.matchAll(/(\w+) realm=/g)].map(([, scheme]) => scheme);
    expect(schemes.length).toBeGreaterThan(0);
    for (const scheme of schemes)
      expect((await call('/v1/meta', { headers: { Authorization: `${scheme} ${server.key}` } })).status).toBe(
        200,
      );
  });

  test('errors have one object; those of the two endpoints of the contract keep their members', async () => {
    const key = { 'X-API-Key': server.key };
    const cases: [path: string, options: RequestInit, status: number, code: string, param: string | null][] =
      [
        ['/v1/places', { headers: key }, 400, 'parameter_missing', 'q'],
        ['/v1/grid/23/0/0', { headers: key }, 400, 'parameter_invalid', 'z'],
        ['/v1/hexcodes/nope', { headers: key }, 404, 'hexcode_invalid', 'code'],
        ['/v1/admin-units/XX', { headers: key }, 404, 'not_found', null],
        ['/v1/nothing', {}, 404, 'not_found', null],
        ['/v1/meta', {}, 401, 'key_invalid', null],
        ['/v1/meta', { method: 'DELETE' }, 405, 'method_not_allowed', null],
        ['/v1/meta', { headers: { ...key, Accept: 'image/png' } }, 406, 'not_acceptable', null],
        [`/v1/meta?${'x'.repeat(8200)}`, { headers: key }, 414, 'target_too_long', null],
        ['/v1/hexcodes/stream', { headers: key }, 426, 'upgrade_required', null],
      ];
    for (const [path, options, status, code, param] of cases) {
      const answer = await call(path, options);
      const body = (await answer.json()) as { message: string; error: object };
      expect([path.slice(0, 30), answer.status, body.error]).toEqual([
        path.slice(0, 30),
        status,
        { code, message: body.message, param },
      ]);
    }
    for (const path of ['/v1/hexcodes/encode?lat=x&lng=1', '/v1/hexcodes/decode'])
      expect(await (await call(path, { headers: key })).json()).not.toHaveProperty('error');
  });

  test('failed items of a batch have a code and their index, whatever their texts', async () => {
    const item = fc.oneof(
      fc.constant({ lat: 21.0288, lng: 105.8525 }),
      fc.constant([10.7769, 106.7009]),
      fc.constant({ lat: 0, lng: 0 }),
      fc.record({ lat: fc.jsonValue(), lng: fc.constant(105) }),
      fc.record({ lat: fc.constant(0), lng: fc.constant(0), id: fc.string({ maxLength: 40 }) }),
      fc
        .constantFrom('"status":"NOT_FOUND"', '\\"status\\":\\"', '\\', '"')
        .map((id) => ({ lat: 0, lng: 1, id })),
      fc.jsonValue({ maxDepth: 2 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 40 }), async (points) => {
        // More than one step of the conversion.
        const many = Array.from({ length: 60 }, () => points).flat();
        const { results, summary } = (await (
          await post('/v1/hexcodes/encode/batch', JSON.stringify({ points: many }))
        ).json()) as { results: Record<string, unknown>[]; summary: { failed: number } };
        expect(results).toHaveLength(many.length);
        let failed = 0;
        for (const [i, { status, code, index, details }] of results.entries()) {
          if (status === 'OK') {
            expect([code, index]).toEqual([undefined, undefined]);
            continue;
          }
          failed++;
          const [fault] = (details ?? []) as { message: string }[];
          const ofFault = fault?.message.startsWith('is required')
            ? 'parameter_missing'
            : 'parameter_invalid';
          expect([code, index]).toEqual([status === 'NOT_FOUND' ? 'outside_coverage' : ofFault, i]);
        }
        expect(summary.failed).toBe(failed);
      }),
      { seed: 49, numRuns: 60 },
    );
  });

  test('gzip of every body: the same answer as plain, bounded by what it unpacks to', async () => {
    const gzip = { 'Content-Encoding': 'gzip' };
    for (const [path, body] of [
      ['/v1/hexcodes/encode', '{"lat":21.0288,"lng":105.8525}'],
      ['/v1/hexcodes/decode', '{"hexcodes":"HN-6GHP4-83RFR"}'],
      [
        '/v1/hexcodes/encode/batch',
        JSON.stringify({ points: Array.from({ length: 9000 }, (_, i) => [20 + i / 1e4, 106]) }),
      ],
      ['/v1/hexcodes/decode/batch', '{"hexcodes":["HN-6GHP4-83RFR"]}'],
      [
        '/v1/traccar?resolution=9',
        '{"position":{"latitude":21,"longitude":105.8,"fixTime":0},"device":{"uniqueId":"1"}}',
      ],
    ] as const) {
      const plain = await (await post(path, body)).text();
      const whole = gzipSync(body);
      const half = Math.floor(body.length / 2);
      const members = Buffer.concat([gzipSync(body.slice(0, half)), gzipSync(body.slice(half))]);
      expect(await (await post(path, whole, gzip)).text(), path).toBe(plain);
      expect(await (await post(path, members, { 'Content-Encoding': 'X-GZIP' })).text(), path).toBe(plain);
      for (const broken of [
        whole.subarray(0, -1),
        Buffer.concat([whole, Buffer.from([0, 1])]),
        whole.subarray(1),
      ])
        expect((await post(path, broken, gzip)).status, path).toBe(400);
      const bomb = await post(path, gzipSync(Buffer.alloc(64 << 20)), gzip);
      expect(bomb.status, path).toBe(413);
    }
    // The bound is that of the plain body, to the byte.
    const padded = (bytes: number): Buffer =>
      gzipSync(`{"lat":21.0288,"lng":105.8525${' '.repeat(bytes - 30)}}`);
    expect((await post('/v1/hexcodes/encode', padded(16_384), gzip)).status).toBe(200);
    expect((await post('/v1/hexcodes/encode', padded(16_385), gzip)).status).toBe(413);
  });

  test('a code as path leads to its place on the page, in any spelling, and tells chats where it is', async () => {
    const asked = async (path: string): Promise<{ status: number; html: string }> => {
      const answer = await call(path);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      return { status: answer.status, html: await answer.text() };
    };
    const spellings: readonly ((code: string) => string)[] = [
      (code) => code,
      (code) => code.toLowerCase(),
      (code) => code.replaceAll('-', ''),
      (code) => code.replace(/-(?=[^-]*$)/, ''),
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 20.9, max: 21.1, noNaN: true }),
        fc.double({ min: 105.7, max: 105.9, noNaN: true }),
        fc.integer({ min: 4, max: 15 }),
        fc.constantFrom(...spellings),
        async (lat, lng, resolution, spell) => {
          const query = `lat=${lat}&lng=${lng}&resolution=${resolution}`;
          const { hexcodes } = (await (
            await fetch(`http://127.0.0.1:${server.port}/v1/hexcodes/encode?${query}`, {
              headers: { 'X-API-Key': server.key },
            })
          ).json()) as { hexcodes: string };
          const { status, html } = await asked(`/${spell(hexcodes)}`);
          expect(status).toBe(200);
          expect(html).toContain(`content="0; url=/#${hexcodes}"`);
          expect(html).toContain(`property="og:title" content="${hexcodes} · gần `);
          expect(html).toMatch(/og:image" content="https:\/\/codes\.example\.com\/assets\/share-\w+\.png"/);
        },
      ),
      { seed: 55, numRuns: 60 },
    );
    // One with a slip leads to the page, too, which offers those that it may have been.
    const slip = await asked('/HN-6GHP4-83RFX');
    expect([slip.status, slip.html.includes('url=/#HN-6GHP4-83RFX')]).toEqual([404, true]);
    for (const path of ['/api-keys', '/HN-', '/XX-6GHP4-83RFR', '/HN-6GHP4-83RFR/', '/HN-6GHP4-<b>'])
      expect((await call(path)).headers.get('content-type'), path).toBe('application/json');
  });

  test('what crawlers, browsers and scanners ask for', async () => {
    expect(await (await call('/robots.txt')).text()).toBe('User-agent: *\nDisallow: /v1/\n');
    const icon = await call('/favicon.ico');
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    const contact = await call('/.well-known/security.txt');
    expect(contact.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const fields = Object.fromEntries(
      (await contact.text())
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/: (.*)/).slice(0, 2)),
    ) as Record<string, string>;
    expect(fields.Contact).toBe('mailto:s@example.com');
    expect(fields.Canonical).toBe('https://codes.example.com/.well-known/security.txt');
    const days = (Date.parse(fields.Expires!) - Date.now()) / 86_400_000;
    expect(days > 1 && days < 365).toBe(true);
  });

  test('/v1/openapi.json is /openapi.json, with the address that clients use', async () => {
    const [one, other] = await Promise.all(
      ['/openapi.json', '/v1/openapi.json'].map(async (path) => (await call(path)).text()),
    );
    expect(other).toBe(one);
    expect(JSON.parse(one!).servers).toEqual([{ url: 'https://codes.example.com' }]);
    const packed = await call('/v1/openapi.json', { headers: { 'Accept-Encoding': 'gzip' } });
    expect(packed.status).toBe(200);
  });

  test('/asyncapi.json has the address that clients use', async () => {
    const { here } = JSON.parse(await (await call('/asyncapi.json')).text()).servers;
    expect([here.protocol, here.host]).toEqual(['wss', 'codes.example.com']);
    const plain = await startServer({ port: 0 });
    const described = async (path: string) => (await fetch(plain.base + path)).json();
    const [http, stream] = await Promise.all(['/openapi.json', '/asyncapi.json'].map(described));
    await plain.stop();
    const { protocol, host } = stream.servers.here;
    expect(`${protocol}://${host}`).toBe(http.servers[0].url.replace('http', 'ws'));
  });

  test('an upgrade to HTTP/2 is not taken, and the call is answered, with its body', async () => {
    const body = '{"lat":21.0288,"lng":105.8525}';
    const client = await rawClient(server.port);
    const answer = await askRaw(client, [
      `POST /v1/hexcodes/encode HTTP/1.1\r\nHost: x\r\nX-API-Key: ${server.key}\r\nConnection: Upgrade, HTTP2-Settings\r\n` +
        `Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ]);
    client.socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain('"status":"OK"');
  });

  test('Accept: application/json, which generated clients send, does not refuse answers that are not JSON', async () => {
    const headers = { 'X-API-Key': server.key, Accept: 'application/json' };
    const csv = await call('/v1/hexcodes/encode/bulk', {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'text/csv' },
      body: 'lat,lng\n21.0288,105.8525\n',
    });
    expect([csv.status, csv.headers.get('content-type')?.split(';')[0]]).toEqual([200, 'text/csv']);
    const tile = await call('/v1/grid/12/3252/1803.mvt', { headers });
    expect([tile.status, tile.headers.get('content-type')]).toEqual([
      200,
      'application/vnd.mapbox-vector-tile',
    ]);
    const refused = await call('/v1/grid/12/3252/1803.mvt', { headers: { ...headers, Accept: 'image/png' } });
    expect(refused.status).toBe(406);
  });
});
