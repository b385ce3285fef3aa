// /v1/traccar on the real server, with a real HTTP server as its sink, which may be away, refuse or hang.

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { type Answer, call, expectError, post, postJson } from '../../../support/http-calls.js';
import { startServer, type TestServer } from '../../../support/server.js';
import { sharedOf } from '../../../support/shared.js';
import { shippedFiles } from '../../../support/shipped.js';
import { forwarded, forwardedBody, HttpSinkServer } from '../../../support/traccar.js';

const KEY = 'PlainSecret0123456789abcdef';

const files = shippedFiles();

const settings = { apiKeys: [{ name: 'own', secret: KEY }], traccarBatchMs: 5 };

describe('the route', () => {
  const library = Hexcodes.from(files);

  const sink = sharedOf(() => HttpSinkServer.start());
  const server = sharedOf(() =>
    startServer(
      { ...settings, traccarSink: { kind: 'http', url: sink.url }, traccarSinkHeader: ['X-Token', 'abc'] },
      files,
    ),
  );
  const plain = sharedOf(() => startServer(settings, files));

  afterAll(async () => {
    await Promise.all([server.stop(), plain.stop()]);
    await sink.down();
  });

  const forward = (to: TestServer, body: unknown, query = ''): Promise<Answer> =>
    forwarded(to, KEY, body, query);

  test('a position is answered with its code and forwarded whole, under its id', async () => {
    const before = sink.rows.length;
    const answer = await forward(server, forwardedBody(0));
    const { id } = answer.body;
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      hexcodes: 'HN-6GHP4-83RFR',
      resolution: 13,
      admin_code: 'HN',
      forwarded: true,
      status: 'OK',
    });
    await sink.received(before + 1);
    expect(sink.rows[before]).toEqual({
      ...{ id, unique_id: '860123456789012', name: '51C-123.45, "Trường"' },
      ...{ fix_time: '2026-11-22T08:00:00.000Z', device_time: '2026-11-22T08:00:00.000Z' },
      ...{ server_time: '2026-11-22T08:00:02.000Z', lat: 21.0288, lng: 105.8525 },
      ...{ hexcodes: 'HN-6GHP4-83RFR', resolution: 13, admin_code: 'HN', status: 'OK' },
      ...{ speed_kn: 16.2, course: 3, altitude_m: 14, accuracy_m: 0, valid: true },
      ...{ protocol: 'teltonika', attributes: forwardedBody(0).position.attributes },
    });
    expect(sink.headers.at(-1)).toMatchObject({
      method: 'POST',
      'content-type': 'application/x-ndjson',
      'x-token': 'abc',
    });
    // Sent again, as after an answer that was lost: the same id.
    expect((await forward(server, forwardedBody(0))).body.id).toBe(id);
    await sink.received(before + 2);
  });

  test('attributes keep the digits and the spelling of their numbers, by body and by URL', async () => {
    const before = sink.rows.length;
    const attributes = '{"io78":12345678901234567890,\r\n "x":1e999, "y":-0,"s":"\\n","__proto__":[1.50]}';
    const { position, ...others } = forwardedBody(0);
    const body = JSON.stringify({ ...others, position: { ...position, attributes: 0 } });
    const sent = postJson(body.replace('"attributes":0', `"attributes": ${attributes}`));
    expect((await call(server, '/v1/traccar', sent, KEY)).status).toBe(200);
    const query = `uniqueId=86&latitude=21&longitude=105&attributes=${encodeURIComponent(attributes)}`;
    expect((await call(server, `/v1/traccar?${query}`, {}, KEY)).status).toBe(200);
    await sink.received(before + 2);
    for (const line of sink.batches.flat().slice(before))
      expect(line).toContain(`,"attributes":${attributes.replace('\r\n', ' ')}}`);
  });

  test('many at once arrive once each, in batches, with the codes of the library', async () => {
    const before = sink.rows.length;
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, n) => forward(server, forwardedBody(n), '?resolution=11')),
    );
    const wanted = answers.map((answer, n) => {
      expect(answer.body.hexcodes).toBe(
        library.encode(Number((21.0288 + n / 1000).toFixed(4)), 105.8525, 11).hexcodes,
      );
      return answer.body.id;
    });
    await sink.received(before + 300);
    expect(
      sink.rows
        .slice(before)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(wanted.sort());
    expect(sink.batches.length).toBeLessThan(300);
  });

  test('a position outside Viet Nam is answered 200, so that Traccar does not repeat it, and is forwarded', async () => {
    const before = sink.rows.length;
    const body = forwardedBody(0);
    Object.assign(body.position, { latitude: 0, longitude: 0, valid: false });
    const answer = await forward(server, body);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      hexcodes: null,
      admin_code: null,
      forwarded: true,
      status: 'NOT_FOUND',
    });
    await sink.received(before + 1);
    expect(sink.rows.at(-1)).toMatchObject({ hexcodes: null, status: 'NOT_FOUND' });
  });

  test('a body of version 4: other times, members that are missing', async () => {
    const before = sink.rows.length;
    const position = {
      ...{ id: 18336, attributes: {}, deviceId: 7, type: null, protocol: 'owntracks', serverTime: null },
      ...{ deviceTime: '2018-09-14T15:34:17.000+0000', fixTime: '2018-09-14T22:34:17.000+0700' },
      ...{ latitude: 20.9, longitude: 105.8 },
    };
    await forward(server, { position, device: { id: 7, name: 'a', uniqueId: 'abc' } });
    await sink.received(before + 1);
    expect(sink.rows[before]).toMatchObject({
      ...{ fix_time: '2018-09-14T15:34:17.000Z', device_time: '2018-09-14T15:34:17.000Z' },
      ...{ server_time: null, speed_kn: null, valid: null },
    });
  });

  const changed = (position: object, device: object = {}): unknown => {
    const body = forwardedBody(0);
    return { position: { ...body.position, ...position }, device: { ...body.device, ...device } };
  };

  test('a position sent again, with members that Traccar has added since, keeps its id, and no other has it', async () => {
    const idOf = async (body: unknown): Promise<unknown> => (await forward(plain, body)).body.id;
    const id = await idOf(forwardedBody(0));
    const later = changed({ id: 99, address: 'Hà Nội' }, { status: 'offline', positionId: 99 });
    expect(await idOf(later)).toBe(id);
    for (const position of [
      { latitude: 21.0289 },
      { longitude: 105.85 },
      { fixTime: '2026-11-22T08:00:00.001+00:00' },
      { deviceTime: '2026-11-22T08:00:00.001+00:00' },
      { serverTime: '2026-11-22T08:00:03.000+00:00' },
    ])
      expect(await idOf(changed(position))).not.toBe(id);
    expect(await idOf(changed({}, { uniqueId: 'b' }))).not.toBe(id);
    const timeless = changed({ fixTime: null, deviceTime: null, serverTime: null });
    expect(await idOf(timeless)).not.toBe(await idOf(timeless));
  });

  test.each([
    ['2026-02-31T08:00:00.000+00:00', false],
    ['2026-02-29T08:00:00Z', false],
    ['2026-04-31T08:00:00Z', false],
    ['2026-00-10T08:00:00Z', false],
    ['2026-13-45T08:00:00Z', false],
    ['9999-12-31T23:59:59-00:01', false],
    ['0000-01-01T00:00:00+00:01', false],
    [253_402_300_800_000, false],
    [-8.64e15, false],
    ['9999-12-31T23:59:59Z', true],
    ['2028-02-29T23:30:00.000-0700', true],
    ['2026-12-31T23:59:59.999+07:00', true],
  ])(
    'a time on a day that the calendar of years 0 to 9999 does not have is a fault: %s',
    async (fixTime, isTime) => {
      for (const name of ['fixTime', 'deviceTime', 'serverTime']) {
        const { status, body } = await forward(plain, changed({ [name]: fixTime }));
        expect([status, body.details?.[0]?.parameter]).toEqual(
          isTime ? [200, undefined] : [400, `position.${name}`],
        );
      }
    },
  );

  test('the forward type url', async () => {
    const before = sink.rows.length;
    const query =
      'uniqueId=86&latitude=21.0288&longitude=105.8525&fixTime=1795334400000&valid=true&altitude=null&speed=16.2&name=51C+%22a%22&attributes=%7B%22ignition%22%3Atrue%7D&other=%zz';
    const answer = await call(server, `/v1/traccar?${query}&key=${KEY}`, {}, '');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
    await sink.received(before + 1);
    expect(sink.rows.at(-1)).toMatchObject({
      ...{ fix_time: '2026-11-22T08:00:00.000Z', hexcodes: 'HN-6GHP4-83RFR', valid: true, altitude_m: null },
      ...{ speed_kn: 16.2, name: '51C "a"', attributes: { ignition: true } },
    });
    const head = await call(server, `/v1/traccar?${query}`, { method: 'HEAD' }, KEY);
    expect(head.status).toBe(200);
    const deep = encodeURIComponent(`{"a":${'['.repeat(100)}${']'.repeat(100)}}`);
    for (const [wrong, parameters] of [
      ['', ['uniqueId', 'latitude', 'longitude']],
      [
        'latitude=x&longitude=181&fixTime=now&valid=1&attributes=%7B',
        ['uniqueId', 'fixTime', 'latitude', 'longitude', 'valid', 'attributes'],
      ],
      ['latitude=1&latitude=2&longitude=%zz&uniqueId=a', ['latitude', 'longitude']],
      [`uniqueId=a&latitude=1&longitude=1&attributes=${deep}`, ['attributes']],
    ] as const)
      expectError(await call(server, `/v1/traccar?${wrong}`, {}, KEY), 400, 'INVALID_REQUEST', [
        ...parameters,
      ]);
    await sleep(50);
    expect(sink.rows).toHaveLength(before + 1);
  });

  test('a disk that takes no position is an error of the request alone', async () => {
    const away = await startServer({ ...settings, traccarSink: { kind: 'http', url: sink.url } }, files);
    const folder = join(away.dataDir, 'traccar');
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    for (const status of [503, 503]) expect((await forward(away, forwardedBody(0))).status).toBe(status);
    rmSync(folder);
    expect((await forward(away, forwardedBody(0))).status).toBe(200);
    await away.stop();
  });

  test('without a sink the answer has the code, and says that nothing is forwarded', async () => {
    const answer = await forward(plain, forwardedBody(0));
    expect(answer.body).toMatchObject({ hexcodes: 'HN-6GHP4-83RFR', forwarded: false, status: 'OK' });
    expect(readdirSync(plain.dataDir)).not.toContain('traccar');
  });

  test('bad input is 400 and names the member, its value and the rule', async () => {
    const body = forwardedBody(0);
    Object.assign(body.position, { latitude: 95, fixTime: 'now' });
    const answer = await forward(server, body, '?resolution=x');
    expectError(answer, 400, 'INVALID_REQUEST', ['position.fixTime', 'position.latitude', 'resolution']);
    expectError(await forward(server, {}), 400, 'INVALID_REQUEST', ['position', 'device']);
    for (const text of ['{"position":', 'x', '\xff'])
      expectError(await call(server, '/v1/traccar', postJson(text), KEY), 400, 'INVALID_REQUEST', ['body']);
    const twice = JSON.stringify(forwardedBody(0)).replace('"latitude":', '"latitude":10,"latitude":');
    expectError(await call(server, '/v1/traccar', postJson(twice), KEY), 400, 'INVALID_REQUEST', [
      'latitude',
    ]);
    expectError(await call(server, '/v1/traccar', postJson(''), KEY), 400, 'INVALID_REQUEST', ['body']);
    expectError(
      await call(server, '/v1/traccar', post('application/json', Buffer.from([0x22, 0xff, 0x22])), KEY),
      400,
      'INVALID_REQUEST',
      ['body'],
    );
    expectError(await call(server, '/v1/traccar', post('text/plain', '{}'), KEY), 415, 'INVALID_REQUEST');
    expectError(
      await call(server, '/v1/traccar', postJson(`"${'x'.repeat(131_072)}"`), KEY),
      413,
      'INVALID_REQUEST',
    );
    expectError(await call(server, '/v1/traccar', { method: 'DELETE' }, KEY), 405, 'INVALID_REQUEST');
    const packed = {
      ...postJson('{}'),
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
    };
    expectError(await call(server, '/v1/traccar', packed, KEY), 400, 'INVALID_REQUEST', ['body']);
  });

  test('attributes that are nested deeply are 400', async () => {
    const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
    const text = JSON.stringify(forwardedBody(0)).replace('"batteryLevel":87', `"batteryLevel":${deep}`);
    for (const to of [server, plain]) {
      const answer = await call(to, '/v1/traccar', postJson(text), KEY);
      expectError(answer, 400, 'INVALID_REQUEST', ['position.attributes']);
    }
  });

  test('a key is needed, in the header or the query, and is in no line of the log', async () => {
    const text = JSON.stringify(forwardedBody(0));
    expectError(await call(server, '/v1/traccar', postJson(text), ''), 401, 'REQUEST_DENIED');
    for (const name of ['key', 'apikey'])
      expect((await call(server, `/v1/traccar?${name}=${KEY}`, postJson(text), '')).status).toBe(200);
    const named = forwardedBody(0);
    named.position.latitude = KEY;
    const answer = await forward(server, named);
    expectError(answer, 400, 'INVALID_REQUEST', ['position.latitude']);
    expect(answer.text + server.log()).not.toContain(KEY);
  });

  test('each position is one point of the key; beyond its limit 429, and nothing goes on', async () => {
    const own = await startServer({ ...settings, defaultPointsPerDay: 2 }, files);
    onTestFinished(() => own.stop());

    expect((await forward(own, {})).status).toBe(400);
    for (let n = 0; n < 2; n++) expect((await forward(own, forwardedBody(n))).status).toBe(200);
    const refused = await forward(own, forwardedBody(2));
    expectError(refused, 429, 'OVER_QUERY_LIMIT');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await call(own, '/v1/usage', {}, KEY)).body.day.points).toBe(2);
  });
});

describe('a sink that is away', () => {
  const forward = (to: TestServer, body: unknown): Promise<Answer> => forwarded(to, KEY, body);

  test('a sink that is down, refuses, hangs or is slow: nothing is lost, and what waits survives a restart', async () => {
    const away = await HttpSinkServer.start();
    const url = away.url;
    await away.down();
    const first = await startServer({ ...settings, traccarSink: { kind: 'http', url } }, files);
    const ready = async (of: TestServer): Promise<string> =>
      (await fetch(`http://127.0.0.1:${of.adminPort}/readyz`)).text();
    const ids: string[] = [];
    const send = async (to: TestServer, n: number): Promise<void> => {
      const answer = await forward(to, forwardedBody(n));
      expect(answer.status).toBe(200);
      ids.push(answer.body.id);
    };
    for (let n = 0; n < 20; n++) await send(first, n);
    while (!(await ready(first)).includes('takes no positions')) await sleep(5);
    expect(await ready(first)).toMatch(
      /^ready\nwarning: http:\S+ takes no positions \(.*ECONNREFUSED.*\): 20 wait on disk$/m,
    );
    await away.up();
    await away.received(20);
    expect(away.rows.map(({ id }) => id)).toEqual(ids);

    away.behaviour = 'refuses';
    for (let n = 20; n < 40; n++) await send(first, n);
    while (away.refused === 0) await sleep(5);
    away.behaviour = 'hangs';
    await first.stop();
    expect(first.log().match(/"msg":"the sink of positions takes none; they wait on disk"/g)).toHaveLength(2);
    expect(first.log()).toContain('"waiting":20,"msg":"positions wait on disk for the next start"');
    await away.down();
  });

  test('what waits is delivered after a restart, first', async () => {
    const away = await HttpSinkServer.start();
    const other = await startServer(settings, files);
    const folder = { dataDir: join(other.dataDir, 'own') };
    const own = { ...settings, ...folder, traccarSink: { kind: 'http', url: away.url } as const };
    const ids: string[] = [];
    away.behaviour = 'refuses';
    const first = await startServer(own, files);
    for (let n = 0; n < 5; n++) ids.push((await forward(first, forwardedBody(n))).body.id);
    await first.stop();
    away.behaviour = 'takes';
    away.delayMs = 30;
    const second = await startServer(own, files);
    for (let n = 5; n < 9; n++) ids.push((await forward(second, forwardedBody(n))).body.id);
    await away.received(9);
    expect(away.rows.map(({ id }) => id)).toEqual(ids);
    await second.stop();
    expect(readdirSync(join(folder.dataDir, 'traccar'))).toEqual([]);
    await Promise.all([away.down(), other.stop()]);
  });

  test('a NATS sink whose credentials cannot be read keeps the service from starting; another sink does not ask for them', async () => {
    const away = await HttpSinkServer.start();
    const credentials = { ...settings, traccarNatsCredsFile: '/no/such/file' };
    const nats = { kind: 'nats', server: 'nats://127.0.0.1:1', subject: 'a' } as const;
    await expect(startServer({ ...credentials, traccarSink: nats }, files)).rejects.toThrow(
      'HEXCODES_NATS_CREDS names a file that cannot be read: /no/such/file',
    );
    const other = await startServer({ ...credentials, traccarSink: { kind: 'http', url: away.url } }, files);
    expect((await forward(other, forwardedBody(0))).status).toBe(200);
    await other.stop();
    await away.down();
  });

  test('as much waits as may: 503 with Retry-After, which Traccar sends again; nothing that was taken is lost', async () => {
    const away = await HttpSinkServer.start();
    away.behaviour = 'refuses';
    const full = await startServer(
      { ...settings, traccarBacklogBytes: 65_536, traccarSink: { kind: 'http', url: away.url } },
      files,
    );
    const ids: string[] = [];
    let refused: Answer;
    for (let n = 0; ; n++) {
      refused = await forward(full, forwardedBody(n));
      if (refused.status !== 200) break;
      ids.push(refused.body.id);
    }
    expectError(refused, 503, 'UNAVAILABLE');
    expect(refused.headers.get('retry-after')).toBe('10');
    expect(ids.length).toBeGreaterThan(50);
    away.behaviour = 'takes';
    await away.received(ids.length);
    expect(away.rows.map(({ id }) => id)).toEqual(ids);
    while ((await forward(full, forwardedBody(0))).status !== 200) await sleep(5);
    expect(full.log().match(/"msg":"positions are refused"/g)).toHaveLength(1);
    await full.stop();
    await away.down();
  });
});
