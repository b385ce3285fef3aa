// Encode and decode on the real server: query, JSON and form; where parameters may be, and which values they may have.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import {
  call,
  callRaw,
  DECODE,
  ENCODE,
  expectError,
  GOOD,
  post,
  postJson,
} from '../../../support/http-calls.js';
import { openWorld } from '../../../support/open-world.js';
import { sharedServer } from '../../../support/shared.js';

const server = sharedServer();

const library = Hexcodes.from(openWorld());

describe('one point', () => {
  const LAT = 21.0288;

  const LNG = 105.8525;

  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${server.base}/v1/hexcodes/${path}`, {
      ...init,
      headers: { 'X-API-Key': server.key, ...(init.headers as Record<string, string>) },
    });

  const jsonInit = (value: unknown): RequestInit => ({
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(value),
  });

  const formInit = (body: string): RequestInit => ({
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body,
  });

  test('POST with everything in the query, as the contract has it', async () => {
    const url = `${server.base}/v1/hexcodes/encode?lat=${LAT}&lng=${LNG}&resolution=9&apikey=${server.key}`;
    const answer = await fetch(url, { method: 'POST' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    const body = await answer.json();
    expect(body).toEqual({ ...library.encode(LAT, LNG, 9), status: 'OK' });
    expect(Object.keys(body)).toEqual(['hexcodes', 'lat', 'lng', 'resolution', 'admin_code', 'status']);

    const back = await fetch(
      `${server.base}/v1/hexcodes/decode?hexcodes=${body.hexcodes}&apikey=${server.key}`,
      { method: 'POST' },
    );
    const { lat, lng, resolution } = library.decode(body.hexcodes)!;
    const decoded = await back.json();
    expect(decoded).toEqual({ lat, lng, resolution, hexcodes: body.hexcodes, status: 'OK' });
    expect(Object.keys(decoded)).toEqual(['lat', 'lng', 'resolution', 'hexcodes', 'status']);
  });

  test('query, JSON body and form body give one answer, with GET and POST', async () => {
    const wanted = { ...library.encode(LAT, LNG, 7), status: 'OK' };
    const query = `lat=${LAT}&lng=${LNG}&resolution=7`;
    for (const answer of await Promise.all([
      call(`encode?${query}`),
      call(`encode?${query}`, { method: 'POST' }),
      call('encode', jsonInit({ lat: LAT, lng: LNG, resolution: 7 })),
      call('encode', formInit(query)),
      call(`encode?lat=${LAT}`, jsonInit({ lng: LNG, resolution: 7 })),
    ])) {
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual(wanted);
    }
    const code = wanted.hexcodes;
    for (const answer of await Promise.all([
      call(`decode?hexcodes=${code}`),
      call(`decode?hexcodes=${code}`, { method: 'POST' }),
      call('decode', jsonInit({ hexcodes: code })),
      call('decode', formInit(`hexcodes=${code}`)),
    ])) {
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ hexcodes: code, resolution: 7, status: 'OK' });
    }
  });
});

describe('query and bodies', () => {
  test('equal duplicates are accepted, different ones are 400', async () => {
    expect((await call(server, `${ENCODE}?${GOOD}&lat=21.0288`)).status).toBe(200);
    expect(
      (await call(server, `${ENCODE}?lat=21.0288`, postJson('{"lat": 21.0288, "lng": 105.8525}'))).status,
    ).toBe(200);
    expectError(await call(server, `${ENCODE}?${GOOD}&lat=21.03&lng=1`), 400, 'INVALID_REQUEST', [
      'lat',
      'lng',
    ]);
    const twice = postJson('{"lat": 21, "lng": 105, "lat": 22}');
    expectError(await call(server, ENCODE, twice), 400, 'INVALID_REQUEST', ['lat']);
    expectError(await call(server, `${DECODE}?hexcodes=HN-2J&hexcodes=HN2J`), 400, 'INVALID_REQUEST', [
      'hexcodes',
    ]);
    expect((await call(server, `${DECODE}?hexcodes=HN-2J&hexcodes=HN-2J`)).status).toBe(200);
  });

  test('unknown parameters are ignored', async () => {
    expect((await call(server, `${ENCODE}?${GOOD}&utm_source=x&lat2=%zz&%zz=1`)).status).toBe(200);
    expect((await call(server, ENCODE, postJson('{"lat":21,"lng":105,"x":{"lat":[1]}}'))).status).toBe(200);
  });

  test('a plus in a query is a space', async () => {
    expect((await call(server, `${DECODE}?hexcodes=HN+6GHMK+53FMF`)).body.hexcodes).toBe('HN 6GHMK 53FMF');
    expectError(await call(server, `${ENCODE}?lat=+21&lng=105`), 400, 'INVALID_REQUEST', ['lat']);
    expect((await call(server, `${DECODE}?hexcodes=%2B`)).body).toMatchObject({
      hexcodes: '+',
      status: 'INVALID_HEXCODES',
    });
  });

  test('broken escapes and invalid UTF-8 in a parameter are 400', async () => {
    for (const value of ['%zz', '%', '%F', '%C4', '%C4%', '%ED%A0%80', '%C0%AF', '%FF']) {
      expectError(await call(server, `${DECODE}?hexcodes=${value}`), 400, 'INVALID_REQUEST', ['hexcodes']);
      expectError(await call(server, `${ENCODE}?lat=${value}&lng=105`), 400, 'INVALID_REQUEST', ['lat']);
    }
    const head = `GET ${DECODE}?hexcodes=\xff\xfe HTTP/1.1\nHost: a\nX-API-Key: ${server.key}\n\n`;
    expect((await callRaw(server, head))[0]?.status).toBe(400);
    const bytes = Uint8Array.from([...Buffer.from('{"hexcodes":"'), 0xff, ...Buffer.from('"}')]);
    expectError(await call(server, DECODE, post('application/json', bytes)), 400, 'INVALID_REQUEST', [
      'body',
    ]);
  });

  test('escaped and raw UTF-8 are read', async () => {
    for (const value of ['%C4%90', '\u0110']) {
      expect((await call(server, `${DECODE}?hexcodes=${value}`)).body.hexcodes).toBe('Đ');
    }
    const head = `GET ${DECODE}?hexcodes=\xc4\x90 HTTP/1.1\nHost: a\nX-API-Key: ${server.key}\n\n`;
    const body = Buffer.from((await callRaw(server, head))[0]?.body ?? '', 'latin1').toString();
    expect(JSON.parse(body).hexcodes).toBe('Đ');
  });

  test('a body that is not one JSON object is 400', async () => {
    for (const body of ['', ' ', '[]', '[1', '{"lat":1,}', 'null', '"x"', '{}{}']) {
      const answer = await call(server, ENCODE, postJson(body));
      expectError(answer, 400, 'INVALID_REQUEST', body === '' ? ['lat', 'lng'] : ['body']);
    }
  });
});

describe('encode', () => {
  test('lat and lng: grammar, range, and an equal number in the answer', async () => {
    for (const [lat, lng] of [
      ['21.0288', '105.8525'],
      ['2.10288e1', '1058525E-4'],
      ['21.', '105.'],
      ['021.50', '105.10'],
      ['21.028800000000000001', '105.85250000000001'],
      ['10', '107'],
    ] as const) {
      const answer = await call(server, `${ENCODE}?lat=${lat}&lng=${lng}`);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body).toEqual({ ...library.encode(Number(lat), Number(lng)), status: 'OK' });
      expect(answer.text).toContain(`"lat":${Number(lat)},"lng":${Number(lng)},`);
    }
    for (const bad of [
      ...['', 'abc', '1,5', '0x15', 'NaN', 'Infinity', '1e400', '%2B21', '21%20', '1e', '91'],
      ...['-90.1'],
    ]) {
      expectError(await call(server, `${ENCODE}?lat=${bad}&lng=105`), 400, 'INVALID_REQUEST', ['lat']);
    }
    for (const bad of ['180.1', '-181', '1e3']) {
      expectError(await call(server, `${ENCODE}?lat=21&lng=${bad}`), 400, 'INVALID_REQUEST', ['lng']);
    }
    for (const edge of ['lat=90&lng=180', 'lat=-90&lng=-180', 'lat=-0&lng=0', 'lat=.5&lng=-.5e-3']) {
      expectError(await call(server, `${ENCODE}?${edge}`), 404, 'NOT_FOUND');
    }
  });

  test('any text is read as Number reads it where it is of the grammar, and echoed as String writes it', async () => {
    const digits = (maxLength: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength, size: 'max' });
    const parts = fc.tuple(fc.constantFrom('', '-'), digits(2), fc.option(digits(25)), fc.option(digits(3)));
    const decimal = parts.map(
      ([sign, whole, fraction, power]) =>
        `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${power === null ? '' : `e-${power}`}`,
    );
    const short = fc.string({ unit: fc.constantFrom(...'-+.eE0159'), maxLength: 8 });
    const edges =
      '0 -0 00 1. .5 -.5 . - +1 1e 1e+ 1e1 1e01 1e-09 1E-5 1.e1 .e2 1e400 -1e400 1e-400 0x10 1_0 NaN Infinity 1..2 --1 ' +
      '1- 1e5. 1e/ 1e: 1e1/ 1e1: / : 1/ 1: \u0661 0.1 0.000001 0.0000001 1.10 9.999999999999999 12.34567890123456 90 ' +
      '1234567890123456e-15 123456789012345e-14 89.99999999999997 0.30000000000000004 5e-324 2.2250738585072011e-308';
    const texts = [...edges.split(' '), '', ' 1', '1 ', ...fc.sample(fc.oneof(decimal, short), 1200)];
    for (let from = 0; from < texts.length; from += 50)
      await Promise.all(
        texts.slice(from, from + 50).map(async (text) => {
          const isNumber = /^-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(text);
          const value = isNumber ? Number(text) : Number.NaN;
          const answer = await call(server, `${ENCODE}?lat=${encodeURIComponent(text)}&lng=105`);
          if (Math.abs(value) <= 90) expect(answer.text, text).toContain(`"lat":${value},"lng":105,`);
          else expectError(answer, 400, 'INVALID_REQUEST', ['lat']);
        }),
      );
  });

  test('in JSON lat, lng and resolution must be numbers', async () => {
    const answer = await call(server, ENCODE, postJson('{"lat":"21","lng":true,"resolution":"13"}'));
    expectError(answer, 400, 'INVALID_REQUEST', ['lat', 'lng', 'resolution']);
  });

  test('resolution: 0 to 15, 13 if absent, nothing else', async () => {
    for (let resolution = 0; resolution <= 15; resolution++) {
      const answer = await call(server, `${ENCODE}?${GOOD}&resolution=${resolution}`);
      expect(answer.body).toEqual({ ...library.encode(21.0288, 105.8525, resolution), status: 'OK' });
    }
    expect((await call(server, `${ENCODE}?${GOOD}`)).body.resolution).toBe(13);
    const bad = [
      '13.0',
      '%2B13',
      '+13',
      '',
      '16',
      '-1',
      '1e1',
      'x',
      '013',
      '%201',
      '1%20',
      '99',
      '1a',
      '100',
      '1:',
    ];
    for (const text of [...bad, '/', ':', '1/', '\u0663']) {
      const answer = await call(server, `${ENCODE}?${GOOD}&resolution=${text}`);
      expectError(answer, 400, 'INVALID_REQUEST', ['resolution']);
    }
    const real = postJson('{"lat":21,"lng":105,"resolution":13.5}');
    expectError(await call(server, ENCODE, real), 400, 'INVALID_REQUEST', ['resolution']);
  });

  test('a valid point in no province is 404', async () => {
    const answer = await call(server, `${ENCODE}?lat=0&lng=0&resolution=5`);
    expectError(answer, 404, 'NOT_FOUND');
    expect(answer.body).toMatchObject({ hexcodes: null, lat: 0, lng: 0, resolution: 5, admin_code: null });
  });

  test('an error body begins with nulls and names every fault', async () => {
    const answer = await call(server, `${ENCODE}?lat=x&lng=181&resolution=99&admin_v2=maybe`);
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
    expectError(await call(server, ENCODE), 400, 'INVALID_REQUEST', ['lat', 'lng']);
    const denied = await call(server, `${ENCODE}?${GOOD}`, {}, '');
    expect(Object.keys(denied.body).slice(0, 5)).toEqual([
      'hexcodes',
      'lat',
      'lng',
      'resolution',
      'admin_code',
    ]);
  });

  test('admin_v2 is accepted, must be a boolean, has no effect', async () => {
    const plain = await call(server, `${ENCODE}?${GOOD}`);
    for (const value of ['true', 'false']) {
      expect((await call(server, `${ENCODE}?${GOOD}&admin_v2=${value}`)).text).toBe(plain.text);
      const body = postJson(`{"lat":21.0288,"lng":105.8525,"admin_v2":${value}}`);
      expect((await call(server, ENCODE, body)).text).toBe(plain.text);
      expect((await call(server, `${DECODE}?hexcodes=HN-2J&admin_v2=${value}`)).status).toBe(200);
    }
    for (const value of ['', '1', 'TRUE', 'yes']) {
      expectError(await call(server, `${ENCODE}?${GOOD}&admin_v2=${value}`), 400, 'INVALID_REQUEST', [
        'admin_v2',
      ]);
      const decoded = await call(server, `${DECODE}?hexcodes=HN-2J&admin_v2=${value}`);
      expectError(decoded, 400, 'INVALID_REQUEST', ['admin_v2']);
    }
  });
});

describe('decode', () => {
  test('an invalid code is 200 with three nulls and the text as sent', async () => {
    for (const text of ['nonsense', 'HN-6GHMK-53FMG', ' ', '"\\\u0007', 'x'.repeat(5000), '東京']) {
      const answer = await call(server, `${DECODE}?hexcodes=${encodeURIComponent(text)}`);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        lat: null,
        lng: null,
        resolution: null,
        hexcodes: text,
        status: 'INVALID_HEXCODES',
      });
      expect((await call(server, DECODE, postJson(JSON.stringify({ hexcodes: text })))).body).toEqual(
        answer.body,
      );
    }
  });

  test('a missing or empty code is 400', async () => {
    for (const query of ['', '?hexcodes', '?hexcodes=', '?hexcode=HN-2J']) {
      expectError(await call(server, DECODE + query), 400, 'INVALID_REQUEST', ['hexcodes']);
    }
    for (const body of ['{}', '{"hexcodes":""}', '{"hexcodes":null}', '{"hexcodes":["HN-2J"]}']) {
      expectError(await call(server, DECODE, postJson(body)), 400, 'INVALID_REQUEST', ['hexcodes']);
    }
  });
});
