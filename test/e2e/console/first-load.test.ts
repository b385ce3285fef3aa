// The bytes that Chromium loads until the first map stands, and those of the parts that come when they are used, as the
// sizes of bench/results.json say. Every file of the page belongs to one part.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, mapState, openBrowser } from '../../support/console-page.js';
import { startServer, type TestServer } from '../../support/server.js';
import { shippedFiles } from '../../support/shipped.js';

const FOLDER = 'dist/console/assets';
const MAX_FIRST_BYTES = 500_000;
const MAX_WITHOUT_MAP_BYTES = 250_000;
/** Files by which a part begins, without hash and ending. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  files: ['file-desk', 'fileWorker', 'workbook', 'workbook-writer', 'gpx', 'kml', 'geopackage'],
  'to take away': ['open-take-away'],
  'a code spelt': ['spell'],
  zones: ['open-zones', 'zoneWorker', 'zone-finder'],
  fleet: ['open-fleet', 'fleetWorker'],
  "streets of the operator's archive": ['archive-style'],
  'map without WebGL': ['flat-map'],
};

const files = readdirSync(FOLDER).filter((name) => existsSync(`${FOLDER}/${name}.br`));
const bytesOf = (names: Iterable<string>): number =>
  [...names].reduce((sum, name) => sum + statSync(`${FOLDER}/${name}.br`).size, 0);
const isOfMapLibrary = (name: string): boolean =>
  name.startsWith('maplibre-gl') ||
  (name.endsWith('.js') &&
    readFileSync(`${FOLDER}/${name}`, 'utf8').startsWith('/*! Contains MapLibre GL JS'));

/** A file and all that it imports at once. */
function closureOf(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const text = readFileSync(`${FOLDER}/${name}`, 'utf8');
  for (const [, to] of text.matchAll(/(?:\bfrom|\bimport)\s*["'`]\.\/([\w.-]+\.js)["'`]/g))
    closureOf(to!, found);
  return found;
}

/** Kilobytes by part. */
const { page: SIZES } = JSON.parse(readFileSync('bench/results.json', 'utf8')) as {
  page: Record<string, number>;
};

/** A figure that is rounded up, and was made of this build or one much like it. */
function expectAbout(part: string, bytes: number): void {
  const said = SIZES[part];
  expect(said, part).toBeDefined();
  expect(bytes / 1000, part).toBeLessThanOrEqual(said!);
  expect(bytes / 1000, part).toBeGreaterThan(said! * 0.9 - 1);
}

describe.skipIf(!hasChromium)('needs Chromium', () => {
  let server: TestServer;
  const first = new Set<string>();
  let pageBytes = 0;
  beforeAll(async () => {
    server = await startServer({}, shippedFiles());
    const browser = await openBrowser();
    try {
      const page = await browser.newPage({ serviceWorkers: 'block' });
      page.on('request', (request) => {
        const name = /\/assets\/([^/]+)$/.exec(request.url())?.[1];
        if (name !== undefined) first.add(name);
      });
      await page.goto(`http://127.0.0.1:${server.port}/`);
      expect(await mapState(page)).toBe('webgl');
      pageBytes = await new Promise<number>((resolve, reject) => {
        const headers = { 'accept-encoding': 'br' };
        request({ host: '127.0.0.1', port: server.port, path: '/', headers }, async (answer) => {
          expect(answer.headers['content-encoding']).toBe('br');
          resolve((await answer.toArray()).reduce((sum, chunk: Buffer) => sum + chunk.length, 0));
        })
          .on('error', reject)
          .end();
      });
    } finally {
      await browser.close();
    }
  });
  afterAll(() => server.stop());

  test('the first map stands after 500 KB, 250 KB of them without its library', () => {
    const library = [...first].filter(isOfMapLibrary);
    expect(library.length).toBe(4);
    const all = bytesOf(first) + pageBytes;
    expect(all).toBeLessThanOrEqual(MAX_FIRST_BYTES);
    expect(all - bytesOf(library)).toBeLessThanOrEqual(MAX_WITHOUT_MAP_BYTES);
    expectAbout('before the library of the map', all - bytesOf(library));
    expectAbout('library of the map', bytesOf(library));
    expectAbout('until the first map stands', all);
  });

  test.each(Object.entries(PARTS))('%s: comes when it is used', (part, stems) => {
    const entries = stems.map((stem) => files.find((name) => name.startsWith(`${stem}-`))!);
    expect(entries).not.toContain(undefined);
    expect(entries.filter((name) => first.has(name))).toEqual([]);
    const all = new Set(entries.flatMap((name) => [...closureOf(name)]));
    const own = [...all].filter((name) => !first.has(name));
    expectAbout(part, bytesOf(own));
  });

  test('every file of the page belongs to a part', () => {
    const known = new Set(first);
    for (const stem of Object.values(PARTS).flat())
      for (const name of closureOf(files.find((each) => each.startsWith(`${stem}-`))!)) known.add(name);
    // The manifest comes when the page is installed.
    expect(files.filter((name) => !known.has(name) && !name.endsWith('.webmanifest'))).toEqual([]);
  });
});
