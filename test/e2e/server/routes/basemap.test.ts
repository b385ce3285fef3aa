// The operator's archive over HTTP, by byte ranges under the version of the archive; and the page, whose policy lets in
// no other host for it.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { getBytes } from '../../../support/http-calls.js';
import { randomFrom } from '../../../support/open-world.js';
import { startServer } from '../../../support/server.js';
import { ownFolder, sharedCommand, sharedServer } from '../../../support/shared.js';

const ARCHIVE = resolve('test/fixtures/basemap/vector.pmtiles');

const folder = ownFolder('basemap');
const command = sharedCommand();

const server = sharedServer({ basemap: ARCHIVE });
let path: string;
beforeAll(async () => {
  const settings = /content="(\{&quot;.*?)">/.exec((await getBytes(server, '/')).body.toString())?.[1] ?? '';
  const { basemap } = JSON.parse(settings.replaceAll('&quot;', '"')) as {
    basemap: { url: string; attribution: string; archive: object };
  };
  expect(basemap).toMatchObject({
    attribution: '© OpenStreetMap',
    archive: { isVector: true, minZoom: 5, maxZoom: 13, bounds: [105.5, 20.8, 106.1, 21.3] },
  });
  expect(basemap.url).toMatch(/^\/basemap\/[0-9a-f]{12}$/);
  path = basemap.url;
});

test('ranges without a key, to the end of the file', async () => {
  const whole = readFileSync(ARCHIVE);
  const size = whole.length;
  for (const [range, start, end] of [
    ['bytes=0-16383', 0, 16_383],
    ['bytes=7-7', 7, 7],
    [`bytes=${size - 10}-999999999`, size - 10, size - 1],
  ] as const) {
    const { status, headers, body } = await getBytes(server, path, { Range: range });
    expect([status, headers['content-range']]).toEqual([206, `bytes ${start}-${end}/${size}`]);
    expect(body.equals(whole.subarray(start, end + 1))).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    });
  }
});

test('another map is not found, and the answer to no range, many, or one beyond the file names the rule', async () => {
  for (const wrong of ['/basemap/000000000000', `${path}/13/6504/3606`, `${path}..%2f..%2fetc`])
    expect((await getBytes(server, wrong, { Range: 'bytes=0-99' })).status, wrong).toBe(404);
  const { length } = readFileSync(ARCHIVE);
  for (const range of [
    ...['', 'bytes=0-', 'bytes=-5', 'bytes=0-1,3-4', 'bytes=9-2', `bytes=${length}-${length}`, 'x'],
  ]) {
    const { status, headers } = await getBytes(server, path, range === '' ? {} : { Range: range });
    expect([status, headers['content-range']], range).toEqual([416, `bytes */${length}`]);
  }
});

test('of 24 large ranges at once some are refused: at most 64 MiB are read', async () => {
  const basemap = join(folder, 'large.pmtiles');
  writeFileSync(basemap, Buffer.concat([readFileSync(ARCHIVE), Buffer.alloc(2 ** 22)]));
  const other = await startServer({ basemap });
  const range = { Range: `bytes=0-${2 ** 22 - 1}` };
  const answers = await Promise.all(Array.from({ length: 24 }, () => getBytes(other, path, range)));
  const statuses = answers.map(({ status }) => status);
  await other.stop();
  expect(new Set(statuses)).toEqual(new Set([206, 503]));
});

test("the page's policy allows no other host; without an archive there are no tiles", async () => {
  const { headers } = await getBytes(server, '/');
  const policy = headers['content-security-policy'] as string;
  expect(policy).toContain("img-src 'self' data: blob:; connect-src 'self';");
  const other = await startServer();
  onTestFinished(() => other.stop());

  expect((await getBytes(other, path, { Range: 'bytes=0-99' })).status).toBe(404);
});

test('the operator may say who made the map', async () => {
  const other = await startServer({
    basemap: 'test/fixtures/basemap/raster.pmtiles',
    tilesAttribution: 'Our own survey',
  });
  onTestFinished(() => other.stop());

  expect((await getBytes(other, '/')).body.toString()).toContain('Our own survey');
});

test.each([
  ['the start', []],
  ['--check-config', ['--check-config']],
])('%s says in one sentence what is wrong with the file', async (_, more) => {
  command.write('text.pmtiles', 'no archive');
  const run = (basemap: string) => command.run(['serve', '--port', '0', '--basemap', basemap, ...more]);
  const missing = await run('no-such.pmtiles');
  expect(missing.code).not.toBe(0);
  const wrong = await run('text.pmtiles');
  expect(wrong.code).not.toBe(0);
});

// A file that is not an archive, a damaged one and one of another schema are refused in one sentence that names it.
describe('archives', () => {
  let files = 0;
  /** The path of a file with these bytes. */
  function fileOf(bytes: Uint8Array): string {
    const path = join(folder, `${files++}.pmtiles`);
    writeFileSync(path, bytes);
    return path;
  }
  const changed = (change: (bytes: Buffer) => void, path = ARCHIVE): string => {
    const bytes = readFileSync(path);
    change(bytes);
    return fileOf(bytes);
  };

  /** The archive with other metadata, after all the rest. */
  function withMetadata(metadata: object): Buffer {
    const bytes = readFileSync(ARCHIVE);
    const text = gzipSync(JSON.stringify(metadata));
    bytes.writeBigUInt64LE(BigInt(bytes.length), 24);
    bytes.writeBigUInt64LE(BigInt(text.length), 32);
    return Buffer.concat([bytes, text]);
  }

  /** The archive with metadata that are not a gzip. */
  function noisyMetadata(): Buffer {
    const bytes = readFileSync(ARCHIVE);
    const at = Number(bytes.readBigUInt64LE(24));
    return bytes.fill(0xa5, at, at + Number(bytes.readBigUInt64LE(32)));
  }

  /** The sentence with which `--check-config`, and so a start, refuses the file; empty where it is served. */
  async function refusalOf(basemap: string): Promise<string> {
    const { code, stderr } = await command.run(['serve', '--check-config', '--basemap', basemap]);
    if (code === 0) return '';
    expect(stderr.startsWith(`hexcodes: the basemap ${basemap} `), stderr).toBe(true);
    expect(stderr.trimEnd()).not.toContain('\n');
    return stderr.trimEnd();
  }

  test.each([
    ['nothing', () => fileOf(new Uint8Array()), 'is not a PMTiles archive'],
    ['a picture', () => resolve('docs/pictures/console-counts.png'), 'is not a PMTiles archive'],
    ['a gzipped archive', () => fileOf(gzipSync(readFileSync(ARCHIVE))), 'is not a PMTiles archive'],
    [
      'a header that ends',
      () => fileOf(readFileSync(ARCHIVE).subarray(0, 60)),
      'is cut off: it should have 127 bytes and has 60',
    ],
    ['another version', () => changed((bytes) => bytes.writeUInt8(2, 7)), 'version 2, where 3 is read'],
    [
      'a download that ended early',
      () => fileOf(readFileSync(ARCHIVE).subarray(0, 20_000)),
      /is cut off: it should have \d+ bytes and has 20000$/,
    ],
    [
      'tiles of an unknown kind',
      () => changed((bytes) => bytes.writeUInt8(9, 99)),
      'tiles of an unknown kind',
    ],
    [
      'tiles in Brotli, which browsers cannot unpack',
      () => changed((bytes) => bytes.writeUInt8(3, 98)),
      'tiles of another compression than none and gzip',
    ],
    ['zooms upside down', () => changed((bytes) => bytes.writeUInt8(20, 100)), 'its zooms are 20 to 13'],
    ['metadata of noise', () => fileOf(noisyMetadata()), 'is damaged: '],
    [
      'a directory outside of the file',
      () => changed((bytes) => bytes.writeBigUInt64LE(2n ** 60n, 8)),
      /is (?:cut off|damaged)/,
    ],
    [
      'layers of another schema',
      () => fileOf(withMetadata({ vector_layers: [{ id: 'transportation' }, { id: 'poi' }] })),
      "has the layers transportation, poi: the page draws those of Protomaps' basemap, earth, water, roads",
    ],
    ['no layers', () => fileOf(withMetadata({})), 'names no layers'],
  ])('%s is refused', async (_, path, reason) => {
    expect(await refusalOf(path())).toMatch(reason);
  });

  test('two maps are one too many', async () => {
    const tilesUrl = 'https://tiles.example/{z}/{x}/{y}.png';
    await expect(startServer({ basemap: ARCHIVE, tilesUrl, dataDir: folder })).rejects.toThrow('two maps');
  });

  test('bytes that are changed anywhere end in one sentence, or an open archive', async () => {
    const random = randomFrom(11);
    const whole = readFileSync(ARCHIVE);
    let refused = 0;
    for (let round = 0; round < 20; round++) {
      const bytes = Buffer.from(whole);
      for (let i = 0; i < 2; i++) {
        // Most of them in the header and the metadata.
        const at = Math.floor(random() * (random() < 0.8 ? 1500 : bytes.length));
        bytes[at] = Math.floor(random() * 256);
      }
      if ((await refusalOf(fileOf(bytes))) !== '') refused++;
    }
    expect(refused).toBeGreaterThan(5);
    expect(refused).toBeLessThan(20);
  });

  test('a file that is made shorter while it is served fails by the range', async () => {
    const basemap = changed(() => {});
    const other = await startServer({ basemap });
    onTestFinished(() => other.stop());

    truncateSync(basemap, 1000);
    const answer = await getBytes(other, path, { Range: 'bytes=2000-2009' });
    expect(answer.status).toBe(500);
  });
});
