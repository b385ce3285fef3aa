// The first load of the page: its bytes, over slow networks, and over those that fail.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consoleCases } from '../../support/console-module.js';
import { hasChromium, mapState, openBrowser, openConsole } from '../../support/console-page.js';
import { getBytes } from '../../support/http-calls.js';
import { listening } from '../../support/network.js';
import { ServedConsole } from '../../support/served-console.js';
import { sharedOf, sharedServer } from '../../support/shared.js';
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
  'zones of a file': ['import-zones'],
  fleet: ['open-fleet', 'fleetWorker'],
  "streets of the operator's archive": ['archive-style'],
  'where in the country': ['inset'],
  'counts by hexagon': ['open-counts', 'countWorker'],
  'switch of layers': ['layer-switch'],
  'what a text may be': ['explain'],
  'style of panels': ['later'],
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

describe.skipIf(!hasChromium)('needs Chromium: bytes', () => {
  const server = sharedServer({}, shippedFiles());
  const first = new Set<string>();
  let firstMap: string[] = [];
  let pageBytes = 0;
  beforeAll(async () => {
    const browser = await openBrowser();
    try {
      const page = await browser.newPage({ serviceWorkers: 'block' });
      page.on('request', (request) => {
        const name = /\/assets\/([^/]+)$/.exec(request.url())?.[1];
        if (name !== undefined) first.add(name);
      });
      let release = (): void => undefined;
      const released = new Promise<void>((done) => {
        release = done;
      });
      await page.route('**/*h3-*.js', async (route) => {
        first.delete(route.request().url().split('/').at(-1)!);
        await released;
        await route.continue();
      });
      await page.goto(`http://127.0.0.1:${server.port}/`);
      await page.locator('#map[data-first]').waitFor();
      firstMap = [...first];
      first.add(files.find((name) => /h3-.*js$/.test(name))!);
      release();
      expect(await mapState(page)).toBe('webgl');
      const sent = await getBytes(server, '/', { 'Accept-Encoding': 'br' });
      expect(sent.headers['content-encoding']).toBe('br');
      pageBytes = sent.body.length;
    } finally {
      await browser.close();
    }
  });

  test('the map of WebGL is there after 500 KB, 250 KB of them without its library', () => {
    const library = [...first].filter(isOfMapLibrary);
    expect(library.length).toBe(4);
    const all = bytesOf(first) + pageBytes;
    expect(all).toBeLessThanOrEqual(MAX_FIRST_BYTES);
    expect(all - bytesOf(library)).toBeLessThanOrEqual(MAX_WITHOUT_MAP_BYTES);
    expectAbout('before the library of the map', all - bytesOf(library));
    expectAbout('library of the map', bytesOf(library));
    expectAbout('until the map of WebGL stands', all);
  });

  test('a plain map stands while h3-js is held up, before the library of the other map is asked for', () => {
    expect(firstMap.filter(isOfMapLibrary)).toEqual([]);
    expectAbout('until the plain map stands', bytesOf(firstMap) + pageBytes);
  });

  test.each(Object.entries(PARTS))('%s: comes when it is used', (part, stems) => {
    const entries = stems.map((stem) => files.find((name) => name.startsWith(`${stem}-`))!);
    expect(entries).not.toContain(undefined);
    expect(entries.filter((name) => first.has(name))).toEqual([]);
    const all = new Set(entries.flatMap((name) => [...closureOf(name)]));
    const own = [...all].filter((name) => !first.has(name));
    expectAbout(part, bytesOf(own));
  });

  test('no worker imports a script that asks for a document', () => {
    for (const name of files.filter((each) => /Worker-.*js$/.test(each))) {
      const all = [...closureOf(name)];
      const later = all.flatMap((each) =>
        [...readFileSync(`${FOLDER}/${each}`, 'utf8').matchAll(/import\(["'`]\.\/([\w.-]+\.js)/g)].map(
          ([, to]) => to!,
        ),
      );
      const asked = new Set([...all, ...later.flatMap((each) => [...closureOf(each)])]);
      expect(
        [...asked].filter((each) => /^(?:page|shell|first-map)-[\w-]{8}\.js$/.test(each)),
        name,
      ).toEqual([]);
    }
  });

  test('every file of the page belongs to a part', () => {
    const known = new Set(first);
    for (const stem of Object.values(PARTS).flat())
      for (const name of closureOf(files.find((each) => each.startsWith(`${stem}-`))!)) known.add(name);
    // The manifest and pictures come when the page is installed, or a chat shows its link.
    expect(files.filter((name) => !known.has(name) && !/\.(?:webmanifest|png)$/.test(name))).toEqual([]);
  });
});

const CODE = 'HN-6GHP4-83RFR';

const SLOW = { latency: 400, bytesPerSecond: 400_000 / 8 };

const HANGING = { latency: 600_000, bytesPerSecond: 1 };

describe.skipIf(!hasChromium)('needs Chromium: slow networks', () => {
  const served = new ServedConsole();

  const flat = sharedOf(() => openBrowser(false));
  afterAll(async () => {
    await flat?.close();
  });

  const limit = async (session: CDPSession, { latency, bytesPerSecond }: typeof SLOW): Promise<void> => {
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond,
    });
  };
  const codeIn = (page: Page): Promise<string | null> => page.locator('#place-code').textContent();

  test('the first visit: a code before the map, then the map', async () => {
    const { page, faults, close } = await served.open();
    const session = await page.context().newCDPSession(page);
    await limit(session, SLOW);
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    await page.reload({ waitUntil: 'commit' });
    await page.fill('#code', CODE);
    expect(await codeIn(page)).toBe(CODE);
    expect(await page.locator('#map[data-state]').count()).toBe(0);
    expect(new URL(page.url()).hash).toBe(`#${CODE}`);
    expect(await mapState(page)).toBe('webgl');
    expect(await codeIn(page)).toBe(CODE);
    expect(faults).toEqual([]);
    await close();
  });

  test('a network that hangs after the first map', async () => {
    const { page, faults, close } = await openConsole(flat, served.port);
    expect(await mapState(page)).toBe('flat');
    await limit(await page.context().newCDPSession(page), HANGING);
    await page.click('#tab-file');
    expect(await page.locator('#panel-file [role=status]').textContent()).toBe('Loading…');
    expect(await page.locator('#file-input').count()).toBe(0);
    await page.fill('#code', CODE);
    expect(await codeIn(page)).toBe(CODE);
    expect(faults).toEqual([]);
    await close();
  });

  test('a panel that could not come comes with the network', async () => {
    const { page, close } = await openConsole(flat, served.port);
    await mapState(page);
    await page.context().setOffline(true);
    await page.click('#tab-file');
    await page.locator('.toast.is-shown').waitFor();
    expect(await page.locator('#panel-file').textContent()).toBe('');
    await page.context().setOffline(false);
    await page.click('#tab-place');
    await page.click('#tab-file');
    await page.locator('#file-input').waitFor({ state: 'attached' });
    expect(await page.locator('#panel-file [role=status]').first().textContent()).toBe('');
    await close();
  });
});

type Fault = 'none' | 'hangs' | '502' | 'portal' | 'page of a portal' | 'no index';

describe.skipIf(!hasChromium)('needs Chromium: networks that fail', () => {
  const served = new ServedConsole(false);
  let port: number;
  let fault: Fault = 'none';

  const forward = (from: IncomingMessage, to: ServerResponse): void => {
    const { method = 'GET', url = '/', headers } = from;
    const onward = request({ host: '127.0.0.1', port: served.port, method, path: url, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(to);
    });
    onward.on('error', () => to.destroy());
    from.pipe(onward);
  };
  const answer = (from: IncomingMessage, to: ServerResponse): void => {
    if (fault === 'hangs') return;
    if (fault === '502') to.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>');
    else if (fault === 'portal') to.writeHead(302, { location: '/login' }).end();
    else if (fault === 'page of a portal')
      to.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Mời đăng nhập Wi-Fi</h1>');
    else if (fault === 'no index' && /\/index-\w+\.bin/.test(from.url ?? '')) to.destroy();
    else forward(from, to);
  };

  beforeAll(async () => {
    const proxy = await listening(answer);
    ({ port } = proxy);
    return proxy.close;
  });

  test('with a copy kept it opens after each of them', async () => {
    fault = 'none';
    const { page } = await openConsole(served.browser, port, { serviceWorkers: 'allow' });
    await mapState(page);
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready;
    });
    const cases = consoleCases('network');
    expect(cases).toHaveLength(4);
    for (const [each, code] of cases) {
      fault = each as Fault;
      await page.goto('about:blank');
      await page.goto(`http://127.0.0.1:${port}/#${code}`);
      await expect.poll(() => page.locator('#place-code').textContent()).toBe(code);
      expect(await mapState(page)).toBe('flat');
    }
    fault = 'none';
    await page.context().close();
  });

  test('a service that is busy is asked again when it says; Enter before the page works sends nothing', async () => {
    const page = await (await served.browser.newContext({ serviceWorkers: 'block' })).newPage();
    const asked: string[] = [];
    let [first, isWaiting] = [0, true];
    await page.route(/index-/, (route) => {
      first ||= Date.now();
      const isBusy = isWaiting || Date.now() < first + 2900;
      return isBusy
        ? route.fulfill({ status: 503, headers: { 'Retry-After': '3' }, body: '' })
        : route.continue();
    });
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`http://127.0.0.1:${port}/`, { waitUntil: 'commit' });
    await page.fill('#code', 'HN-6GHP4-83RFR');
    await page.keyboard.press('Enter');
    isWaiting = false;
    await expect.poll(() => page.locator('#place-code').textContent()).toBe('HN-6GHP4-83RFR');
    expect(asked.filter((url) => url.includes('HN-6GHP4'))).toEqual([]);
    await page.context().close();
  });

  test('boundaries that do not come are asked for again, then there is a button', async () => {
    fault = 'no index';
    const { page } = await openConsole(served.browser, port);
    await page.locator('#retry').waitFor();
    fault = 'none';
    await page.locator('#retry').click();
    expect(await mapState(page)).toBe('flat');
    await page.context().close();
  });
});
