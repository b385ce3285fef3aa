// The client's bulk calls: files and streams in, streams out, against the real service and against broken ones.
import { createReadStream, openAsBlob, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { BulkOptions, BulkSource } from '#dist/hexcodes/client/public.js';
import { Hexcodes } from '#hexcodes';
import { HexcodesClient } from '#hexcodes/client';
import { HexcodesClient as WebClient } from '#hexcodes/client/web';
import { openKernel } from '../../support/open-world.js';
import { startServer, type TestServer } from '../../support/server.js';

const library = new Hexcodes(openKernel());
const ROWS = 50_000;
const points = Array.from({ length: ROWS }, (_, i) => [8 + i / 5000, 105 + (i % 100) / 100] as const);
const CSV = `id,lat,lng\n${points.map(([lat, lng], i) => `${i},${lat},${lng}\n`).join('')}`;
const EXPECTED = `id,lat,lng,hexcodes,resolution,admin_code,status\n${points
  .map(([lat, lng], i) => {
    const { hexcodes, admin_code } = library.encode(lat, lng, 9);
    return `${i},${lat},${lng},${hexcodes},9,${admin_code},OK\n`;
  })
  .join('')}`;

let server: TestServer;
let client: HexcodesClient;
beforeAll(async () => {
  server = await startServer();
  client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
});
afterAll(() => server.stop());

let broken: Server | undefined;
afterEach(async () => {
  broken?.closeAllConnections();
  await new Promise<void>((resolve) => (broken ? broken.close(() => resolve()) : resolve()));
  broken = undefined;
});

async function against(listener: RequestListener): Promise<HexcodesClient> {
  broken = createServer(listener);
  await new Promise<void>((resolve) => broken!.listen(0, '127.0.0.1', resolve));
  return new HexcodesClient({ baseUrl: `http://127.0.0.1:${(broken.address() as AddressInfo).port}/v1` });
}

async function textOf(answer: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of answer) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** The text in pieces that end anywhere. */
function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += 65_521) yield text.slice(at, at + 65_521);
}

const encode = { operation: 'encode', format: 'csv', resolution: 9 } as const;

test('a file, bytes and streams of every kind give the same answer, in Node and in the build for the web', async () => {
  const file = `${server.dataDir}/points.csv`;
  writeFileSync(file, CSV);
  const sources: (() => Promise<BulkSource>)[] = [
    () => openAsBlob(file),
    async () => createReadStream(file),
    async () => new TextEncoder().encode(CSV),
    async () => piecesOf(CSV),
    async () => new Blob([CSV]).stream(),
  ];
  const web = new WebClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
  for (const source of sources)
    for (const each of [client, web]) {
      const answer = await each.bulk({ ...encode, source: await source() });
      expect(answer.format).toBe('csv');
      expect((await textOf(answer)) === EXPECTED).toBe(true);
    }
});

test('the answer begins while the source is still giving', async () => {
  let wasRead = (): void => {};
  const read = new Promise<void>((resolve) => {
    wasRead = resolve;
  });
  async function* source(): AsyncGenerator<string> {
    const half = CSV.indexOf('\n', CSV.length / 2) + 1;
    yield CSV.slice(0, half);
    await read;
    yield CSV.slice(half);
  }
  const answer = await client.bulk({ ...encode, source: source() });
  const reader = answer.readable.getReader();
  let text = Buffer.from((await reader.read()).value!).toString();
  wasRead();
  for (let next = await reader.read(); !next.done; next = await reader.read())
    text += Buffer.from(next.value);
  expect(text === EXPECTED).toBe(true);
});

test('gzip, another format of the answer, a prefix, and decode', async () => {
  const gzipped = await client.bulk({ ...encode, source: gzipSync(CSV), isGzipped: true });
  expect((await textOf(gzipped)) === EXPECTED).toBe(true);
  const lines = await client.bulk({
    ...encode,
    source: ['id,lat,lng\n1,0,0\n'],
    answerFormat: 'ndjson',
  });
  // The rows are the service's, in the words of HTTP.
  expect(JSON.parse(await textOf(lines))).toMatchObject({ lat: 0, lng: 0, status: 'NOT_FOUND' });
  const { hexcodes, lat, lng } = {
    ...library.encode(21.0288, 105.8525),
    ...library.decode('HN-6GHP4-83RFR'),
  };
  const source = [`status,hexcodes\nnew,${hexcodes}\n`];
  const decoded = await client.bulk({ operation: 'decode', format: 'csv', source, prefix: 'hx_' });
  const centre = library.decode(hexcodes) ?? { lat, lng };
  expect(await textOf(decoded)).toBe(
    `status,hexcodes,hx_lat,hx_lng,hx_resolution,hx_status\nnew,${hexcodes},${centre.lat},${centre.lng},13,OK\n`,
  );
});

test('refusals carry what the service said', async () => {
  const source = ['a,b\n1,2\n'];
  await expect(client.bulk({ ...encode, source })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    httpStatus: 400,
    message: expect.stringContaining('lat'),
  });
  const nobody = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: 'nobody' });
  await expect(nobody.bulk({ ...encode, source })).rejects.toMatchObject({ code: 'REQUEST_DENIED' });
  const lost = new HexcodesClient({ baseUrl: server.base, apiKey: server.key });
  await expect(lost.bulk({ ...encode, source })).rejects.toMatchObject({ code: 'PROTOCOL' });
  const stranger = await against((req, res) => {
    req.resume();
    res.end('<html>hello</html>');
  });
  await expect(stranger.bulk({ ...encode, source })).rejects.toMatchObject({ code: 'PROTOCOL' });
});

test.each<[string, Partial<Record<keyof BulkOptions, unknown>>]>([
  ['a path as source', { source: 'points.csv' }],
  ['no source', { source: undefined }],
  ['numbers as source', { source: Float64Array.of(1, 2) }],
  ['another operation', { operation: 'x' }],
  ['no format', { format: undefined }],
  ['another format', { format: 'xlsx' }],
  ['another format of the answer', { answerFormat: 'toString' }],
])('%s is BAD_ARGUMENT before anything is sent', async (_, wrong) => {
  const unasked = await against(() => expect.fail('a request was sent'));
  await expect(unasked.bulk({ ...encode, source: [CSV], ...wrong } as never)).rejects.toMatchObject({
    code: 'BAD_ARGUMENT',
  });
});

test('a source that fails, an abort and an answer that is cut off end the answer with a reason', async () => {
  async function* failing(): AsyncGenerator<string> {
    yield CSV;
    throw new Error('the disk is gone');
  }
  await expect(client.bulk({ ...encode, source: failing() }).then(textOf)).rejects.toMatchObject({
    code: 'ABORTED',
    cause: new Error('the disk is gone'),
  });
  await expect(client.bulk({ ...encode, source: [7 as never] }).then(textOf)).rejects.toMatchObject({
    code: 'BAD_ARGUMENT',
  });
  const abort = new AbortController();
  async function* endless(): AsyncGenerator<string> {
    yield CSV;
    await new Promise(() => {});
  }
  const answer = await client.bulk({ ...encode, source: endless(), signal: abort.signal });
  const reading = textOf(answer);
  abort.abort();
  await expect(reading).rejects.toMatchObject({ code: 'ABORTED' });
  const cutting = await against((req, res) => {
    req.resume();
    res.writeHead(200, { 'Content-Type': 'text/csv' });
    res.write('id,lat\n', () => setImmediate(() => req.socket.destroy()));
  });
  await expect(cutting.bulk({ ...encode, source: [CSV] }).then(textOf)).rejects.toMatchObject({
    code: 'NETWORK',
    message: expect.stringContaining('127.0.0.1'),
  });
  // fetch refuses port 9 by itself.
  const nowhere = new HexcodesClient({ baseUrl: 'http://127.0.0.1:9/v1' });
  await expect(nowhere.bulk({ ...encode, source: [CSV] })).rejects.toMatchObject({ code: 'NETWORK' });
});

test('a loop that is left early ends the request', async () => {
  let ended = false;
  async function* source(): AsyncGenerator<string> {
    try {
      for (;;) yield CSV.slice(CSV.indexOf('\n') + 1);
    } finally {
      ended = true;
    }
  }
  async function* endless(): AsyncGenerator<string> {
    yield 'id,lat,lng\n';
    yield* source();
  }
  for await (const part of await client.bulk({ ...encode, source: endless() })) {
    expect(part.length).toBeGreaterThan(0);
    break;
  }
  await expect.poll(() => ended).toBe(true);
});
