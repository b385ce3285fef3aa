// The files of the console as the service sends them: encodings, caching, policy, weight, and the boundaries of the
// service.
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorld } from '../../support/open-world.js';
import { startServer, type TestServer } from '../../support/server.js';

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

let server: TestServer;
let page: Answer;
beforeAll(async () => {
  server = await startServer();
  page = await get('/');
});
afterAll(() => server.stop());

function get(path: string, headers: Record<string, string> = {}, port = server.port): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
      );
    })
      .on('error', reject)
      .end();
  });
}

const namesIn = (html: string): string[] => [...new Set(html.match(/\/assets\/[\w.-]+/g))];
const fileOf = (html: string, stem: string, ending: string): string =>
  namesIn(html).find((name) => name.startsWith(`/assets/${stem}-`) && name.endsWith(ending)) ?? '';

test('the page needs no key, is asked for again, and may load from its own origin only', async () => {
  const { status, headers } = page;
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'content-security-policy':
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; " +
      "img-src 'self' data: blob:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  });
  expect((await get('/', { 'If-None-Match': headers.etag as string })).status).toBe(304);
  expect(page.body.toString()).not.toMatch(/\{\{|https?:\/\//);
});

test.each(['/', '/service-worker.js', '/docs'])(
  '%s leaves as its reader accepts it, with a tag each',
  async (path) => {
    const plain = await get(path);
    const gzip = await get(path, { 'Accept-Encoding': 'gzip, deflate' });
    const br = await get(path, { 'Accept-Encoding': 'gzip, deflate, br, zstd' });
    const all = [plain, gzip, br];
    expect(all.map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'gzip', 'br']);
    expect(all.map(({ headers }) => headers.vary)).toEqual(Array(3).fill('Accept-Encoding'));
    expect(all.map(({ headers }) => headers['cache-control'])).toEqual(Array(3).fill('no-cache'));
    expect(all.map(({ headers }) => headers['content-security-policy'])).toEqual(
      Array(3).fill(plain.headers['content-security-policy']),
    );
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
    expect(br.body.length).toBeLessThan(gzip.body.length);
    expect(gzip.body.length).toBeLessThan(plain.body.length / 1.5);
    expect(new Set(all.map(({ headers }) => headers.etag)).size).toBe(3);
    const ask = { 'Accept-Encoding': 'br', 'If-None-Match': br.headers.etag as string };
    const again = await get(path, ask);
    expect([again.status, again.body.length]).toEqual([304, 0]);
    // A tag of another encoding is another answer.
    expect((await get(path, { ...ask, 'Accept-Encoding': 'gzip' })).status).toBe(200);
  },
);

test('every file that the page names is there, typed, kept for ever, and the same in each encoding', async () => {
  const names = namesIn(page.body.toString());
  expect(names.length).toBeGreaterThan(8);
  for (const name of names) {
    const plain = await get(name);
    const gzip = await get(name, { 'Accept-Encoding': 'gzip, deflate' });
    const br = await get(name, { 'Accept-Encoding': 'gzip, deflate, br, zstd' });
    expect([plain.status, gzip.status, br.status], name).toEqual([200, 200, 200]);
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.headers.vary).toBe('Accept-Encoding');
    expect(plain.headers['content-type']).toMatch(/^(?:text\/(?:javascript|css)|image\/svg|application\/)/);
    expect(gunzipSync(gzip.body).equals(plain.body), name).toBe(true);
    expect(brotliDecompressSync(br.body).equals(plain.body), name).toBe(true);
    expect(new Set([plain.headers.etag, gzip.headers.etag, br.headers.etag]).size).toBe(3);
    const again = await get(name, { 'Accept-Encoding': 'br', 'If-None-Match': br.headers.etag as string });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  }
});

test.each([
  ['br;q=0, gzip', 'gzip'],
  ['*', 'br'],
  ['identity', undefined],
  ['*;q=0', undefined],
])('Accept-Encoding: %s', async (accepted, encoding) => {
  const name = fileOf(page.body.toString(), 'console', '.css');
  const { headers } = await get(name, { 'Accept-Encoding': accepted });
  expect(headers['content-encoding']).toBe(encoding);
});

test('names of other versions and names that lead elsewhere are not found', async () => {
  for (const path of [
    '/assets/',
    '/assets/page-00000000.js',
    '/assets/..%2Ffiles.json',
    '/assets/files.json',
  ])
    expect((await get(path)).status, path).toBe(404);
});

test('the page uses the boundaries of its service', async () => {
  const world = openWorld();
  const index = await get(fileOf(page.body.toString(), 'index', '.bin'));
  expect(index.body.equals(world.index)).toBe(true);
  const shipped = readdirSync('dist/console/assets').find((name) => /^index-\w+\.bin$/.test(name))!;
  expect(index.body.equals(readFileSync(`dist/console/assets/${shipped}`))).toBe(false);
  const worker = (await get('/service-worker.js')).body.toString();
  expect(worker).toContain(fileOf(page.body.toString(), 'index', '.bin'));
  expect(worker).not.toContain(shipped);
});

test('the policy lets in the host of the map of the operator, and no other', async () => {
  const tilesUrl = 'https://tiles.example/{z}/{x}/{y}.png';
  const other = await startServer({ tilesUrl, tilesAttribution: 'A & B "C" <d>' });
  try {
    const { headers, body } = await get('/', {}, other.port);
    const policy = headers['content-security-policy'] as string;
    expect(policy).toContain("img-src 'self' data: blob: https://tiles.example;");
    expect(policy).toContain("connect-src 'self' https://tiles.example;");
    expect(policy.match(/https:/g)).toHaveLength(2);
    expect(body.toString()).toContain('A &amp; B \\&quot;C\\&quot; &lt;d>');
  } finally {
    await other.stop();
  }
});
