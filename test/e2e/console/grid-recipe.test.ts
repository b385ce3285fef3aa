// The recipe of docs/recipes.md for a map with the grid, run as it stands in Chromium: MapLibre reads the vector tiles,
// and a click gives the code of the cell.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, MAP_MS, openBrowser } from '../../support/console-page.js';
import { blocksOf } from '../../support/page-blocks.js';
import { startServer, type TestServer } from '../../support/server.js';
import { shippedFiles } from '../../support/shipped.js';

describe.skipIf(!hasChromium)('needs Chromium', () => {
  let browser: Browser;
  let server: TestServer;
  let pages: Server;
  beforeAll(async () => {
    browser = await openBrowser();
    server = await startServer({}, shippedFiles());
    const [recipe] = blocksOf('docs/recipes.md', 'js maplibre');
    const page = `<!doctype html><title>grid</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/maplibre-gl.css">
      <div id="map" style="width:600px;height:400px"></div>
      <script type="importmap">{"imports":{"maplibre-gl":"/maplibre-gl.mjs"}}</script>
      <script type="module">const BASE = 'http://127.0.0.1:${server.port}/v1', KEY = '${server.key}';\n${recipe!.text}
      map.once('idle', () => (document.title = 'idle'));</script>`;
    pages = createServer((request, response) => {
      if (request.url === '/') {
        response.setHeader('Content-Type', 'text/html; charset=utf-8');
        response.end(page);
        return;
      }
      const { pathname } = new URL(request.url!, 'http://127.0.0.1');
      response.setHeader('Content-Type', pathname.endsWith('.css') ? 'text/css' : 'text/javascript');
      response.end(readFileSync(`node_modules/maplibre-gl/dist${pathname}`));
    });
    await new Promise<void>((done) => pages.listen(0, '127.0.0.1', done));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    pages?.close();
  });

  test('MapLibre shows the grid, and a click says the code', async () => {
    const page = await browser.newPage();
    const said: string[] = [];
    const faults: string[] = [];
    const tiles: string[] = [];
    page.on('console', (message) => (message.type() === 'log' ? said : faults).push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('response', (answer) => {
      if (answer.url().includes('/v1/grid/')) tiles.push(`${answer.status()} ${answer.request().method()}`);
    });
    await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
    await expect.poll(() => page.title(), { timeout: MAP_MS }).toBe('idle');
    expect(new Set(tiles.filter((each) => each.endsWith('GET')))).toEqual(new Set(['200 GET']));
    await page.mouse.click(8 + 300, 8 + 200);
    const [recipe] = blocksOf('docs/recipes.md', 'js maplibre');
    const [, promised] = /\/\/ (.*)$/m.exec(recipe!.text) ?? [];
    await expect.poll(() => said, { timeout: MAP_MS }).toEqual([promised]);
    expect(faults.filter((fault) => !/WebGL|GL Driver|swiftshader/i.test(fault))).toEqual([]);
  });
});
