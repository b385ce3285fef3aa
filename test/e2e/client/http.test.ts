// The client's HTTP calls: against the real service, and against one that fails in every way.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { HexcodesClient } from '#dist/client/node.js';
import { HexcodesClient as WebClient } from '#dist/client/web.js';
import { Hexcodes } from '#dist/library/hexcodes.js';
import { openKernel } from '../../support/open-world.js';
import { startServer, type TestServer } from '../../support/server.js';

const library = new Hexcodes(openKernel());
let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

let broken: Server | undefined;
afterEach(async () => {
  broken?.closeAllConnections();
  await new Promise<void>((resolve) => (broken ? broken.close(() => resolve()) : resolve()));
  broken = undefined;
});

async function against(listener: RequestListener): Promise<string> {
  broken = createServer(listener);
  await new Promise<void>((resolve) => broken!.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(broken.address() as AddressInfo).port}/v1`;
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
    code: 'NOT_FOUND',
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
  const nowhere = new HexcodesClient({ baseUrl: 'http://127.0.0.1:9/v1', retries: 0 });
  await expect(nowhere.decode('x')).rejects.toMatchObject({
    code: 'NETWORK',
    message: 'the service cannot be reached',
  });
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
