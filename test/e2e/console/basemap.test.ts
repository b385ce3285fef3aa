// The map under the hexagons: tiles of an address, and the operator's archive.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  axeOf,
  hasChromium,
  mapState,
  openBrowser,
  openConsole,
  pixelsOf,
} from '../../support/console-page.js';
import { startServer } from '../../support/server.js';
import { shippedFiles } from '../../support/shipped.js';

/** One pixel. */
const TILE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe.skipIf(!hasChromium)('needs Chromium: tiles', () => {
  let browser: Browser;
  let tiles: Server;
  let host: string;
  const asked: string[] = [];
  beforeAll(async () => {
    browser = await openBrowser();
    tiles = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.setHeader('Access-Control-Allow-Origin', '*');
      if (request.url === '/style.json') {
        const source = { type: 'raster', tiles: [`${host}/styled/{z}/{x}/{y}.png`], tileSize: 256 };
        const layer = { id: 'theirs', type: 'raster', source: 'theirs' };
        response.end(JSON.stringify({ version: 8, sources: { theirs: source }, layers: [layer] }));
      } else {
        response.setHeader('Content-Type', 'image/png');
        response.end(TILE);
      }
    });
    await new Promise<void>((done) => tiles.listen(0, '127.0.0.1', done));
    host = `http://127.0.0.1:${(tiles.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser?.close();
    tiles?.close();
  });

  test.each([
    ['raster tiles', '/{z}/{x}/{y}.png', /^\/\d+\/\d+\/\d+\.png$/],
    ['a style', '/style.json', /^\/styled\/\d+\/\d+\/\d+\.png$/],
  ])('%s', async (_, path, tile) => {
    asked.length = 0;
    const server = await startServer({ tilesUrl: host + path, tilesAttribution: 'Their map' });
    onTestFinished(() => server.stop());

    const { page, faults, close } = await openConsole(browser, server.port);
    expect(await mapState(page)).toBe('webgl');
    await expect.poll(() => asked.some((url) => tile.test(url))).toBe(true);
    expect(await page.locator('#credit').textContent()).toMatch(/^Their map · /);
    // Its requests are the only ones to another host; an error of the policy would be a fault of another form.
    expect(faults.filter((fault) => !fault.startsWith(`${host}/`))).toEqual([]);
    expect(faults.length).toBeGreaterThan(0);
    await close();
  });
});

/** Beside Hồ Gươm. */
const CODE = '#HN-6GHP4-7QQ';

const LIGHT_WATER = [188, 214, 230];

const DARK_WATER = [19, 37, 47];

describe.skipIf(!hasChromium)('needs Chromium: an archive', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  test('vector tiles, dark, and light after a switch', async () => {
    const server = await startServer({ basemap: 'test/fixtures/basemap/vector.pmtiles' }, shippedFiles());
    onTestFinished(() => server.stop());

    const { page, faults, close } = await openConsole(browser, server.port, { colorScheme: 'dark' }, CODE);
    const asked: string[] = [];
    page.on('response', (answer) => asked.push(`${answer.status()} ${new URL(answer.url()).pathname}`));
    expect(await mapState(page)).toBe('webgl');
    await expect.poll(() => pixelsOf(page, DARK_WATER)).toBeGreaterThan(300);
    expect(await pixelsOf(page, LIGHT_WATER)).toBe(0);
    expect(await page.locator('#credit').textContent()).toMatch(/^© OpenStreetMap · /);
    expect(asked.filter((each) => /^206 \/basemap\/\w+$/.test(each)).length).toBeGreaterThan(0);
    expect((await axeOf(page)).violations).toEqual([]);
    await page.click('#switches button:last-child');
    await expect.poll(() => pixelsOf(page, LIGHT_WATER)).toBeGreaterThan(300);
    // Errors, and requests to other hosts: none.
    expect(faults).toEqual([]);
    await close();
  });

  test('pictures, and our own names of towns not over them', async () => {
    const server = await startServer({ basemap: 'test/fixtures/basemap/raster.pmtiles' }, shippedFiles());
    onTestFinished(() => server.stop());

    const { page, faults, close } = await openConsole(browser, server.port, {}, CODE);
    const asked: string[] = [];
    page.on('response', (answer) => asked.push(`${answer.status()} ${new URL(answer.url()).pathname}`));
    expect(await mapState(page)).toBe('webgl');
    await expect
      .poll(() => asked.filter((each) => /^206 \/basemap\/\w+$/.test(each)).length)
      .toBeGreaterThan(2);
    expect(await page.locator('.label.is-town').count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });
});
