// The map of an operator under the hexagons: its host alone is asked, and the policy lets it in.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, MAP_MS, mapState, openBrowser, openConsole } from '../../support/console-page.js';
import { startServer } from '../../support/server.js';

/** One pixel. */
const TILE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe.skipIf(!hasChromium)('needs Chromium', () => {
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
    try {
      const { page, faults, close } = await openConsole(browser, server.port);
      expect(await mapState(page)).toBe('webgl');
      await expect.poll(() => asked.some((url) => tile.test(url)), { timeout: MAP_MS }).toBe(true);
      expect(await page.locator('#credit').textContent()).toMatch(/^Their map · /);
      // Its requests are the only ones to another host; an error of the policy would be a fault of another form.
      expect(faults.filter((fault) => !fault.startsWith(`${host}/`))).toEqual([]);
      expect(faults.length).toBeGreaterThan(0);
      await close();
    } finally {
      await server.stop();
    }
  });
});
