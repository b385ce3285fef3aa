// Tiles of the operator's archive over HTTP: packed for who unpacks them, kept under the version of the archive,
// 204 where there is none; and the page, whose policy lets in no other host for them.
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CliFolder } from '../../../support/cli.js';
import { startServer, type TestServer } from '../../../support/server.js';

const ARCHIVE = 'test/fixtures/basemap/vector.pmtiles';

let server: TestServer;
let path: string;
beforeAll(async () => {
  server = await startServer({ basemap: ARCHIVE });
  const settings = /content="(\{&quot;.*?)">/.exec((await get('/')).body.toString())?.[1] ?? '';
  const { basemap } = JSON.parse(settings.replaceAll('&quot;', '"')) as {
    basemap: { url: string; attribution: string; archive: object };
  };
  expect(basemap).toMatchObject({
    attribution: '© OpenStreetMap',
    archive: { isVector: true, minZoom: 5, maxZoom: 13, bounds: [105.5, 20.8, 106.1, 21.3] },
  });
  expect(basemap.url).toMatch(/^\/basemap\/[0-9a-f]{12}\/\{z\}\/\{x\}\/\{y\}$/);
  path = basemap.url.replace('/{z}/{x}/{y}', '');
});
afterAll(() => server.stop());

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

function get(at: string, headers: Record<string, string> = {}, port = server.port): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: at, headers }, (answer) => {
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

test('a tile without a key, packed or not, and kept', async () => {
  const packed = await get(`${path}/13/6504/3606`, { 'Accept-Encoding': 'gzip, br' });
  const plain = await get(`${path}/13/6504/3606`);
  expect([packed.status, plain.status]).toEqual([200, 200]);
  expect([packed.headers['content-encoding'], plain.headers['content-encoding']]).toEqual([
    'gzip',
    undefined,
  ]);
  expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
  expect(plain.headers).toMatchObject({
    'content-type': 'application/vnd.mapbox-vector-tile',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
    'x-content-type-options': 'nosniff',
  });
  expect(readFileSync(ARCHIVE).includes(packed.body)).toBe(true);
});

test('where the archive has nothing the answer is empty; what is no tile of it is not found', async () => {
  const empty = await get(`${path}/13/0/0`);
  expect([empty.status, empty.body.length]).toEqual([204, 0]);
  expect((await get(`${path}/3/6/3`)).status).toBe(204);
  for (const wrong of [
    '/basemap/000000000000/13/6504/3606',
    `${path}/13/8192/3606`,
    `${path}/13/6504/-1`,
    `${path}/25/0/0`,
    `${path}/a/b/c`,
    `${path}/13/6504/1e3`,
    `${path}/13/6504/..%2f..%2fetc`,
  ])
    expect((await get(wrong)).status, wrong).toBe(404);
});

test('the policy of the page lets in no other host; without an archive there are no tiles', async () => {
  const { headers } = await get('/');
  const policy = headers['content-security-policy'] as string;
  expect(policy).toContain("img-src 'self' data: blob:; connect-src 'self';");
  const other = await startServer();
  try {
    expect((await get(`${path}/13/6504/3606`, {}, other.port)).status).toBe(404);
  } finally {
    await other.stop();
  }
});

test('pictures leave as they are, and the operator may say who made them', async () => {
  const other = await startServer({
    basemap: 'test/fixtures/basemap/raster.pmtiles',
    tilesAttribution: 'Our own survey',
  });
  try {
    const html = (await get('/', {}, other.port)).body.toString();
    expect(html).toContain('Our own survey');
    const version = /\/basemap\/\w+/.exec(html)?.[0] ?? '';
    const { headers, body } = await get(`${version}/13/6504/3606`, { 'Accept-Encoding': 'gzip' }, other.port);
    expect(headers['content-type']).toBe('image/png');
    expect(headers['content-encoding']).toBeUndefined();
    expect(body.subarray(1, 4).toString()).toBe('PNG');
  } finally {
    await other.stop();
  }
});

test.each([
  ['the start', []],
  ['--check-config', ['--check-config']],
])('%s says in one sentence what is wrong with the file', async (_, more) => {
  const folder = new CliFolder();
  folder.write('text.pmtiles', 'no archive');
  const run = (basemap: string) => folder.run(['serve', '--port', '0', '--basemap', basemap, ...more]);
  const missing = await run('no-such.pmtiles');
  expect(missing.stderr).toBe('hexcodes: --basemap names a file that cannot be read: no-such.pmtiles\n');
  expect(missing.code).not.toBe(0);
  const wrong = await run('text.pmtiles');
  expect(wrong.stderr).toBe('hexcodes: the basemap text.pmtiles is no PMTiles archive\n');
  expect(wrong.code).not.toBe(0);
  folder.remove();
});
