// The client's HTTP calls: against the real service, and against one that fails in every way.
import type { RequestListener } from 'node:http';
import { WebSocket as UndiciWebSocket } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { HexcodesClient } from '#hexcodes/client';
import { HexcodesClient as WebClient } from '#hexcodes/client/web';
import { listening } from '../../support/network.js';
import { openKernel } from '../../support/open-world.js';
import { sharedServer } from '../../support/shared.js';

const library = new Hexcodes(openKernel());
const server = sharedServer();

async function against(listener: RequestListener): Promise<string> {
  const { base, close } = await listening(listener);
  onTestFinished(close);
  return `${base}/v1`;
}

test.each([
  ['Node', HexcodesClient],
  ['the web', WebClient],
])('encode, decode and batches answer as the library does, in the build for %s', async (_, Client) => {
  // The base address with and without its last slash.
  const client = new Client({ baseUrl: `${server.base}/v1/`, apiKey: server.key });
  const { hexcodes, admin_code } = library.encode(21.0288, 105.8525, 13);
  const due = { hexcodes, lat: 21.0288, lng: 105.8525, resolution: 13, admin_code, status: 'OK' };
  expect(await client.encode(21.0288, 105.8525)).toEqual(due);
  expect((await client.encode(21.0288, 105.8525, { resolution: 3 })).resolution).toBe(3);
  const centre = library.decode(hexcodes)!;
  expect(await client.decode(hexcodes)).toMatchObject({ lat: centre.lat, lng: centre.lng, status: 'OK' });
  expect(await client.decode('nothing')).toEqual({
    lat: null,
    lng: null,
    resolution: null,
    hexcodes: 'nothing',
    status: 'INVALID_HEXCODES',
  });
});

test('a batch longer than the service takes goes as several, its results in one list', async () => {
  const client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
  const failed = [7, 10_003, 20_000];
  const failing = await client.encodeBatch(
    Array.from({ length: 20_001 }, (_, i) => (failed.includes(i) ? [0, 0] : [21.0288, 105.8525])),
  );
  expect(failing.results.flatMap((result) => ('index' in result ? [result.index] : []))).toEqual(failed);
  const points = Array.from({ length: 20_001 }, (_, i) => ({ lat: 8 + i / 2000, lng: 105, id: i }));
  const encoded = await client.encodeBatch(points, { resolution: 8 });
  expect(encoded.results.map((result) => result.id)).toEqual(points.map((point) => point.id));
  expect(encoded.summary).toEqual({ total: 20_001, ok: 20_001, failed: 0 });
  expect(encoded.results[20_000]?.hexcodes).toBe(library.encode(points[20_000]!.lat, 105, 8).hexcodes);
  const decoded = await client.decodeBatch(['nothing', { hexcodes: encoded.results[0]!.hexcodes!, id: 'x' }]);
  expect(decoded.summary).toEqual({ total: 2, ok: 1, failed: 1 });
  expect((await client.encodeBatch([])).results).toEqual([]);
});

test('errors carry what the service said', async () => {
  const client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
  await expect(client.encode(0, 0)).rejects.toMatchObject({
    name: 'HexcodesClientError',
    code: 'OUTSIDE_COVERAGE',
    httpStatus: 404,
  });
  const fault = client.encode(91, 0, { resolution: 99 });
  await expect(fault).rejects.toMatchObject({ code: 'INVALID_REQUEST', httpStatus: 400 });
  const { details, requestId } = (await fault.catch((error: unknown) => error)) as {
    details: { parameter: string }[];
    requestId: string;
  };
  expect(details.map((detail) => detail.parameter).sort()).toEqual(['lat', 'resolution']);
  expect(requestId).toMatch(/^[A-Za-z0-9._-]+$/);
  const nobody = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: 'nobody' });
  await expect(nobody.decode('HN')).rejects.toMatchObject({ code: 'REQUEST_DENIED', httpStatus: 401 });
});

test('every point and text of a batch has its own status, in the words of the library', async () => {
  const client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
  const { results, summary } = await client.encodeBatch([
    [21.0288, 105.8525],
    { lat: 0, lng: 0, id: 'b', resolution: 5 },
    { lat: 'x', lng: 105 } as never,
  ]);
  expect(summary).toEqual({ total: 3, ok: 1, failed: 2 });
  const [good, outside, odd] = results;
  expect(good).toEqual({ ...library.encode(21.0288, 105.8525), status: 'OK' });
  expect(outside).toEqual({
    hexcodes: null,
    lat: 0,
    lng: 0,
    resolution: 5,
    admin_code: null,
    status: 'OUTSIDE_COVERAGE',
    message: expect.stringContaining('no province'),
    id: 'b',
    code: 'outside_coverage',
    index: 1,
  });
  expect(odd).toMatchObject({ hexcodes: null, lat: null, lng: 105, status: 'INVALID_REQUEST' });
  if (odd?.status === 'INVALID_REQUEST') expect(odd.details[0]?.parameter).toBe('lat');
  if (good?.status === 'OK') {
    const decoded = await client.decodeBatch([good.hexcodes, { hexcodes: 'nope', id: 7 }, '']);
    expect(decoded.results).toEqual([
      expect.objectContaining({ status: 'OK', resolution: 13, hexcodes: good.hexcodes }),
      {
        lat: null,
        lng: null,
        resolution: null,
        hexcodes: 'nope',
        status: 'INVALID_HEXCODES',
        id: 7,
        code: 'hexcode_invalid',
        index: 1,
      },
      {
        lat: null,
        lng: null,
        resolution: null,
        hexcodes: null,
        status: 'INVALID_REQUEST',
        message: 'hexcodes is required, and given without a value',
        details: [{ parameter: 'hexcodes', message: 'is required, and given without a value' }],
        code: 'parameter_missing',
        index: 2,
      },
    ]);
  }
});

test("batches take all that the library's batches take", async () => {
  const client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
  const positions = Float64Array.of(21.0288, 105.8525, 0, 0);
  const encoded = await client.encodeBatch(positions, { resolution: 10 });
  const codes = [library.encode(21.0288, 105.8525, { resolution: 10 }).hexcodes, null];
  expect(encoded.results.map((result) => result.hexcodes)).toEqual(codes);
  const records = library.encodeBatch(positions, { resolution: 10 });
  records.set([0xc3, 0x48], 20);
  const decoded = await client.decodeBatch(records);
  expect(decoded.results.map(({ status }) => status)).toEqual(['OK', 'INVALID_HEXCODES']);
  await expect(client.encodeBatch(Float64Array.of(1))).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  await expect(client.decodeBatch(new Uint8Array(19))).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  await expect(client.decodeBatch('HN-6GHP4-83RFR' as never)).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
});

test('a number where options are wanted is refused', async () => {
  const client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
  const calls = [
    client.encode(21.0288, 105.8525, 9 as never),
    client.decode('HN-6GHP4-83RFR', 9 as never),
    client.encodeBatch([], 9 as never),
    client.decodeBatch([], null as never),
    client.read('HN-6GHP4-83RFR', 'x' as never),
    client.suggest('HN-6GHP4-83RFR', 9 as never),
    client.adminUnits(9 as never),
    client.adminUnit('HN', 9 as never),
    client.meta(9 as never),
    client.bulk(9 as never),
  ];
  const others = [
    client.encode(21n as never, 105),
    client.encodeBatch([{ lat: 21, lng: 105, id: 1n as never }]),
    client.decode('x', { signal: {} as never }),
    client.meta({ signal: null as never }),
    client.bulk({ operation: 'encode', format: 5n as never, source: [] }),
    client.bulk({ operation: 'encode', format: 'csv', prefix: null as never, source: [] }),
  ];
  for (const call of others)
    await expect(call).rejects.toMatchObject({ name: 'HexcodesClientError', code: 'BAD_ARGUMENT' });
  for (const call of calls)
    await expect(call).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
      message: expect.stringMatching(/^the options of \w+ are an object, not (9|null|x)$/),
    });
  expect(() => new HexcodesClient('http://127.0.0.1:8080/v1' as never)).toThrow(
    expect.objectContaining({ code: 'BAD_ARGUMENT' }),
  );
});

test.each([
  [undefined, /undefined cannot be used, it is not text/],
  ['127.0.0.1:8080/v1', /"127.0.0.1:8080\/v1" cannot be used, it is not an address/],
  ['localhost:8080/v1', /it does not begin with http/],
  ['ws://127.0.0.1:8080/v1', /it does not begin with http/],
  ['', /there is no page/],
  ['/v1', /there is no page/],
  ['http://user:secret@127.0.0.1/v1', /^(?!.*secret).*user name/],
])('baseUrl %j is BAD_ARGUMENT', (baseUrl, message) => {
  expect(() => new HexcodesClient({ baseUrl: baseUrl as string })).toThrow(
    expect.objectContaining({
      name: 'HexcodesClientError',
      code: 'BAD_ARGUMENT',
      message: expect.stringMatching(message),
    }),
  );
});

test.each([
  ...[0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '9', null].map((timeoutMs) => ({
    timeoutMs,
  })),
  ...[-1, 0.5, Number.NaN, '2'].map((retries) => ({ retries })),
  ...[7, null, 'two\nlines', 'mã'].map((apiKey) => ({ apiKey })),
])('the option of %o is BAD_ARGUMENT, without the text of a key', (option) => {
  const make = (): unknown => new HexcodesClient({ baseUrl: 'http://127.0.0.1:9/v1', ...option } as never);
  expect(make).toThrow(expect.objectContaining({ name: 'HexcodesClientError', code: 'BAD_ARGUMENT' }));
  expect(make).not.toThrow(/two|mã/);
});

test('a key with the line end of its file is the key, of calls and of streams', async () => {
  const client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: `${server.key}\n` });
  expect((await client.meta()).status).toBe('OK');
  const stream = client.stream({ operation: 'encode', source: [Float64Array.of(21, 105)] });
  expect((await stream.readable.getReader().read()).value?.count).toBe(1);
});

test("in a page a path is an address on the page's origin", async () => {
  vi.stubGlobal('location', new URL(`${server.base}/app/page.html?x#y`));
  onTestFinished(() => void vi.unstubAllGlobals());

  const client = new WebClient({ baseUrl: '/v1', apiKey: server.key });
  expect((await client.meta()).service.name).toBe('hexcodes');
  expect(() => new WebClient({ baseUrl: 'v1' })).toThrow(/it is not an address/);
});

test('another peer, or a path that is none, is PROTOCOL and never a position outside', async () => {
  // Without /v1 the service itself answers that there is nothing.
  for (const baseUrl of [server.base, `${server.base}/v1/v1`]) {
    const lost = new HexcodesClient({ baseUrl, apiKey: server.key });
    for (const call of [
      () => lost.encode(21, 105),
      () => lost.encode(0, 0),
      () => lost.decode('x'),
      () => lost.meta(),
      () => lost.adminUnit('HN'),
      () => lost.read('HN-6GHP4-83RFR'),
    ])
      await expect(call()).rejects.toMatchObject({
        code: 'PROTOCOL',
        httpStatus: 404,
        message: expect.stringContaining('does baseUrl end in /v1?'),
      });
    const stream = lost.stream({ operation: 'encode', source: [Float64Array.of(21, 105)] });
    await expect(stream.readable.getReader().read()).rejects.toMatchObject({ code: 'PROTOCOL' });
  }
  for (const [httpStatus, body] of [
    [404, '<html>not found</html>'],
    [404, '{"status":"NOT_FOUND","message":"no such page"}'],
    [404, '[]'],
    [405, ''],
    [418, '{"error":"teapot"}'],
    [501, 'Unsupported method'],
    [200, '{"ok":true}'],
    [200, 'null'],
    [200, Buffer.from('{"status":"OK"}\xe2', 'latin1')],
  ] as const) {
    const url = await against((_, res) => res.writeHead(httpStatus).end(body));
    const stranger = new HexcodesClient({ baseUrl: url, retries: 0 });
    await expect(stranger.encode(0, 0)).rejects.toMatchObject({ code: 'PROTOCOL' });
  }
  // Fewer rows, more, and a part of them are never taken for the whole.
  for (const results of ['', 'null', '[{}]', '[{},{},{}]', '[null,{}]']) {
    const rows = results && `,"results":${results},"suggestions":[1],"admin_units":{}`;
    const url = await against((_, res) => res.end(`{"status":"OK"${rows}}`));
    const client = new HexcodesClient({ baseUrl: url });
    const batch = () => client.encodeBatch([0, 1].map((lat) => [lat, 105] as const));
    for (const call of [batch, () => client.suggest('x'), () => client.adminUnits()])
      await expect(call()).rejects.toMatchObject({ code: 'PROTOCOL' });
  }
  const part = await against((_, res) => res.writeHead(206, { 'Content-Type': 'text/csv' }).end('lat,lng\n'));
  const bulk = { operation: 'encode', format: 'csv', source: new Uint8Array(1) } as const;
  await expect(new HexcodesClient({ baseUrl: part }).bulk(bulk)).rejects.toMatchObject({ httpStatus: 206 });
});

test('an answer that does not end is read to a bound', async () => {
  const piece = Buffer.alloc(1 << 20, '0');
  let sent = 0;
  const url = await against((_, res) => {
    const more = (): void => {
      while (!res.destroyed && sent < 1024 && res.write(piece)) sent++;
      if (sent >= 1024) res.end();
    };
    res.on('drain', more);
    more();
  });
  await expect(new HexcodesClient({ baseUrl: url }).meta()).rejects.toMatchObject({ code: 'PROTOCOL' });
  expect(sent).toBeLessThan(256);
});

test.each([301, 302, 303, 307, 308])(
  'key and positions do not follow a redirect (%i)',
  async (httpStatus) => {
    const asked: (string | undefined)[] = [];
    const { base: target, close } = await listening((req, res) => {
      asked.push(req.url);
      res.end('{"status":"OK"}');
    });
    onTestFinished(close);
    const url = await against((req, res) => {
      req.resume();
      res.writeHead(httpStatus, { Location: `${target}${req.url}` }).end('{"status":"OK"}');
    });
    const due = { code: 'PROTOCOL', message: expect.stringMatching(`redirects to ${target} `) };
    const source = (): Uint8Array => new TextEncoder().encode('lat,lng\n21,105\n');
    for (const Client of [HexcodesClient, WebClient]) {
      const client = new Client({ baseUrl: url, apiKey: 'a key', WebSocket: UndiciWebSocket } as never);
      await expect(client.encode(21, 105)).rejects.toMatchObject(due);
      await expect(client.meta()).rejects.toMatchObject(due);
      await expect(client.encodeBatch([[21, 105]])).rejects.toMatchObject(due);
      await expect(
        client.bulk({ operation: 'encode', format: 'csv', source: source() }),
      ).rejects.toMatchObject(due);
      for (const each of [client, new HexcodesClient({ baseUrl: url, apiKey: 'a key' })]) {
        const stream = each.stream({ operation: 'encode', source: [Float64Array.of(21, 105)] });
        await expect(stream.readable.getReader().read()).rejects.toMatchObject(due);
      }
    }
    expect(asked).toEqual([]);
  },
);

test('an overloaded service is asked again, and then believed', async () => {
  let asked = 0;
  const url = await against((_, res) => {
    asked++;
    if (asked % 3 !== 0)
      res.writeHead(503, { 'Retry-After': '0' }).end('{"status":"UNAVAILABLE","message":"full"}');
    else res.end('{"status":"OK"}');
  });
  expect(await new HexcodesClient({ baseUrl: url }).decode('x')).toEqual({ status: 'OK' });
  expect(asked).toBe(3);
  const hasty = new HexcodesClient({ baseUrl: url, retries: 1 });
  await expect(hasty.decode('x')).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'full',
    retryAfterSec: 0,
  });
  expect(asked).toBe(5);
});

test('what cannot be reached, does not answer, is aborted or speaks otherwise', async () => {
  const { base: closed, close } = await listening(() => {});
  await close();
  const nowhere = new HexcodesClient({ baseUrl: `${closed}/v1`, apiKey: 'secret', retries: 0 });
  const message = `${closed} cannot be reached: connect ECONNREFUSED ${closed.slice('http://'.length)}`;
  await expect(nowhere.decode('x')).rejects.toMatchObject({ code: 'NETWORK', message });
  for (const WebSocket of [undefined, UndiciWebSocket]) {
    const options = { baseUrl: `${closed}/v1`, apiKey: 'secret', ...(WebSocket ? { WebSocket } : {}) };
    const stream = new HexcodesClient(options as never).stream({
      operation: 'encode',
      source: [Float64Array.of(1, 2)],
      maxAttempts: 1,
    });
    await expect(stream.readable.getReader().read()).rejects.toMatchObject({
      code: 'NETWORK',
      message: expect.stringMatching(/^(http|ws):.* cannot be reached: connect ECONNREFUSED 127.0.0.1:\d+$/),
    });
  }
  const url = await against((req, res) => {
    if (req.url === '/v1/hexcodes/encode') res.end('<h1>hello</h1>');
    // decode is never answered.
  });
  await expect(new HexcodesClient({ baseUrl: url }).encode(1, 2)).rejects.toMatchObject({ code: 'PROTOCOL' });
  const silent = new HexcodesClient({ baseUrl: url, timeoutMs: 100 });
  await expect(silent.decode('x')).rejects.toMatchObject({
    code: 'TIMEOUT',
    message: 'no answer within 100 ms',
  });
  const abort = new AbortController();
  const call = new HexcodesClient({ baseUrl: url }).decode('x', { signal: abort.signal });
  setTimeout(() => abort.abort(), 20);
  await expect(call).rejects.toMatchObject({ code: 'ABORTED' });
  const proxy = await against((_, res) => res.writeHead(502).end('<html>bad gateway</html>'));
  await expect(new HexcodesClient({ baseUrl: proxy, retries: 0 }).decode('x')).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    httpStatus: 502,
  });
});
