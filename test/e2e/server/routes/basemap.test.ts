// The operator's archive over HTTP, by byte ranges under the version of the archive; and the page, whose policy lets in
// no other host for it.
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { CliFolder } from '../../../support/cli.js';
import { getBytes } from '../../../support/http-calls.js';
import { startServer } from '../../../support/server.js';
import { sharedServer } from '../../../support/shared.js';

const ARCHIVE = 'test/fixtures/basemap/vector.pmtiles';

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

test('the policy of the page lets in no other host; without an archive there are no tiles', async () => {
  const { headers } = await getBytes(server, '/');
  const policy = headers['content-security-policy'] as string;
  expect(policy).toContain("img-src 'self' data: blob:; connect-src 'self';");
  const other = await startServer();
  try {
    expect((await getBytes(other, path, { Range: 'bytes=0-99' })).status).toBe(404);
  } finally {
    await other.stop();
  }
});

test('the operator may say who made the map', async () => {
  const other = await startServer({
    basemap: 'test/fixtures/basemap/raster.pmtiles',
    tilesAttribution: 'Our own survey',
  });
  try {
    expect((await getBytes(other, '/')).body.toString()).toContain('Our own survey');
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
  expect(missing.code).not.toBe(0);
  const wrong = await run('text.pmtiles');
  expect(wrong.code).not.toBe(0);
  folder.remove();
});
