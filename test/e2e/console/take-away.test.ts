// Things that the page gives away: drawings of a place, the grid for other programs, and the page as plain files.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import {
  axeOf,
  type ConsolePage,
  downloaded,
  hasChromium,
  mapState,
  openBrowser,
  openConsole,
} from '../../support/console-page.js';
import { blocksOf } from '../../support/page-blocks.js';
import { startServer, type TestServer } from '../../support/server.js';
import { ServerProcess } from '../../support/server-process.js';
import { shippedFiles } from '../../support/shipped.js';

const CODE = 'HN-6GHP4-83RFR';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

const BELOW = '/maps/codes/';

const root = mkdtempSync(join(tmpdir(), 'hexcodes-demo-'));

const folder = join(root, 'made');

const make = (to: string): string =>
  execFileSync(process.execPath, ['tools/packages/demo.mjs', to], { encoding: 'utf8', stdio: 'pipe' });

let server: Server;

let isUp = true;

const missing: string[] = [];

beforeAll(async () => {
  make(folder);
  server = createServer(({ url = '' }, answer) => {
    if (!isUp) {
      answer.destroy();
      return;
    }
    const path = new URL(url, 'http://a').pathname.replace(BELOW, '');
    const file = join(folder, path === '' ? 'index.html' : path);
    try {
      const body = readFileSync(file);
      answer.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' }).end(body);
    } catch {
      missing.push(url);
      answer.writeHead(404).end();
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});

afterAll(() => {
  server?.close();
  server?.closeAllConnections();
  rmSync(root, { recursive: true });
});

const port = (): number => (server.address() as AddressInfo).port;

test('the page of the folder names no path outside of it, no host and no API', () => {
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  expect(html).not.toMatch(/\{\{|https?:|="\/|\/docs|service-->/);
  for (const name of html.match(/\.\/assets\/[\w.-]+/g) as string[])
    expect(statSync(join(folder, name)).size, name).toBeGreaterThan(0);
});

test('it is made again over itself, and over nothing else', () => {
  make(folder);
  const other = mkdtempSync(join(root, 'other-'));
  writeFileSync(join(other, 'index.html'), 'somebody else');
  expect(() => make(other)).toThrow(/holds something else; name an empty folder/);
  expect(readFileSync(join(other, 'index.html'), 'utf8')).toBe('somebody else');
});

describe.skipIf(!hasChromium)('needs Chromium: plain files', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  test('codes, map, files and links work, and all of it without a network after the first visit', async () => {
    isUp = true;
    missing.length = 0;
    const { page, faults, close } = await openConsole(
      browser,
      port(),
      { serviceWorkers: 'allow' },
      `${BELOW.slice(1)}#${CODE}`,
    );
    await expect.poll(() => page.locator('#place-code').textContent()).toBe(CODE);
    expect(await mapState(page)).toBe('webgl');
    expect(await page.locator('.top-links').count()).toBe(0);
    await page.fill('#code', '10.7769, 106.7009');
    await page.press('#code', 'Enter');
    await expect.poll(() => page.locator('#place-code').textContent()).toMatch(/^HCM-/);
    expect(new URL(page.url()).pathname).toBe(BELOW);
    await page.click('#tab-file');
    await page.fill('#file-text', 'lat,lng\n21.0288,105.8525\n');
    await page.click('#file-convert');
    await page.waitForSelector('#file-download');
    // A fleet without a service: the kernel answers in a worker, which the page says.
    await page.click('#tab-fleet');
    await page.waitForSelector('#fleet-start');
    expect(await page.locator('#fleet-key').count()).toBe(0);
    expect(await page.locator('#panel-fleet p').first().textContent()).toMatch(/^This page has no service/);
    await page.selectOption('#fleet-vehicles', '1000');
    await page.selectOption('#fleet-seconds', '60');
    await page.click('#fleet-start');
    await expect.poll(() => page.locator('#fleet-codes code').first().textContent()).toMatch(/^HN-/);
    await expect.poll(() => page.getAttribute('#map', 'data-points')).toBe('1000');
    await page.press('#fleet-stop', 'Enter');
    await expect.poll(() => page.locator('#fleet-status').textContent()).toMatch(/^Stopped\. [1-9]/);
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready;
    });
    isUp = false;
    await page.goto('about:blank');
    await page.goto(`http://127.0.0.1:${port()}${BELOW}#${CODE}`);
    await expect.poll(() => page.locator('#place-code').textContent()).toBe(CODE);
    isUp = true;
    expect(missing.filter((url) => !url.endsWith('/favicon.ico'))).toEqual([]);
    expect(faults.filter((fault) => !/ERR_(?:EMPTY_RESPONSE|CONNECTION)/.test(fault))).toEqual([]);
    await close();
  });
});

const library = await Hexcodes.load();

describe('drawings', () => {
  let server: ServerProcess;

  let browser: Browser;

  let ofWebgl: Browser;

  beforeAll(async () => {
    server = await ServerProcess.start({ isQuiet: true });

    // Drawings and files are the same with each map.
    if (hasChromium) [browser, ofWebgl] = await Promise.all([openBrowser(false), openBrowser()]);
  });

  afterAll(async () => {
    await browser?.close();
    await ofWebgl?.close();
    await server.kill();
  });

  async function withPlace(work: (shown: ConsolePage) => Promise<void>): Promise<void> {
    const shown = await openConsole(browser, server.port, {}, `#${CODE}`);
    try {
      await shown.page.waitForSelector('#place-code');
      await shown.page.click('#tab-take-away');
      await work(shown);
      expect(shown.faults).toEqual([]);
    } finally {
      await shown.close();
    }
  }

  describe.skipIf(!hasChromium)('needs Chromium: drawings', () => {
    test('the sheet has the hexagons of five rings, each with the end of its code, and prints on one page of A4', async () => {
      await withPlace(async ({ page }) => {
        await page.click('#print-sheet');
        const sheet = page.locator('dialog .sheet');
        expect(await sheet.locator('.sheet-code').textContent()).toBe(CODE);
        const said = (await sheet.locator('text').allTextContents()).join('\n');
        const shared = /begins with (\S+-) /.exec(said)![1]!;
        const labels = await sheet.locator('polygon + text').allTextContents();
        expect(labels).toHaveLength(91);
        const codes = labels.map((label) => library.read(shared + label)?.hexcodes);
        expect(codes).toEqual(labels.map((label) => shared + label));
        expect(new Set(codes).size).toBe(91);
        expect(await sheet.locator('.qr').getAttribute('aria-label')).toBe(
          `http://127.0.0.1:${server.port}/#${CODE}`,
        );
        const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
        expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
        const [, width, height] = /\/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)/.exec(pdf)!;
        expect([Math.round(Number(width)), Math.round(Number(height))]).toEqual([595, 842]);
        expect((await axeOf(page)).violations).toEqual([]);
        await page.keyboard.press('Escape');
        await expect.poll(() => page.locator('dialog').count()).toBe(0);
      });
    });

    test('the doorplate has the code, the line of its owner and a QR code, and can be saved', async () => {
      await withPlace(async ({ page }) => {
        await page.fill('#doorplate-line', 'Nhà <Lan> & Minh');
        await page.selectOption('#grid-resolution', '9');
        // Another place, and back: what was typed and chosen stays.
        for (const code of ['HUE-6HQ64-HH9J6', CODE]) {
          await page.fill('#code', code);
          await page.press('#code', 'Enter');
        }
        expect(await page.inputValue('#grid-resolution')).toBe('9');
        await page.click('#print-doorplate');
        const texts = await page.locator('dialog .doorplate text').allTextContents();
        expect(texts).toEqual(expect.arrayContaining([CODE, 'Nhà <Lan> & Minh', 'Hà Nội']));
        // Who has no scanner types the code at the address of the page, which is there in letters.
        expect(texts).toContain('Scan the QR code, or type this code at');
        expect(await page.locator('dialog .doorplate-address').textContent()).toBe(new URL(page.url()).host);
        const { name, bytes } = await downloaded(page, 'dialog [data-text="save"]');
        expect(name).toBe(`${CODE}-doorplate.svg`);
        expect(bytes.toString()).toMatch(
          /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg".*Nhà &lt;Lan&gt; &amp; Minh/s,
        );
      });
    });

    test('paper, with a page that is dark: nothing but the card on A6, nothing but the sheet on A4', async () => {
      const { page, faults, close } = await openConsole(
        ofWebgl,
        server.port,
        { colorScheme: 'dark' },
        `#${CODE}`,
      );
      const printed = async (): Promise<[pages: number, width: number, height: number]> => {
        const pdf = (await page.pdf({ preferCSSPageSize: true, printBackground: true })).toString('latin1');
        const [, width, height] = /\/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)/.exec(pdf)!;
        const mm = (points: string | undefined): number => Math.round((Number(points) / 72) * 25.4);
        return [pdf.match(/\/Type\s*\/Page\b/g)!.length, mm(width), mm(height)];
      };
      /** Elements on paper beside the picture; their background would be printed. */
      const others = async (): Promise<string[]> => {
        await page.emulateMedia({ media: 'print' });
        const found = await page.evaluate(() =>
          [...document.body.children]
            .filter((node) => !node.matches('.paper') && node.checkVisibility())
            .map((node) => node.outerHTML.slice(0, 60)),
        );
        await page.emulateMedia({ media: null });
        return found;
      };
      await page.waitForSelector('#place-code');
      await mapState(page);
      // The page itself: the sheet of its place.
      expect(await printed()).toEqual([1, 210, 297]);
      expect(await page.locator('.paper').count()).toBe(0);
      await page.click('#tab-take-away');
      await page.fill('#doorplate-line', 'Nhà Lan');
      await page.click('#print-doorplate');
      expect(await printed()).toEqual([1, 148, 105]);
      expect(await others()).toEqual([]);
      await page.keyboard.press('Escape');
      await page.click('#print-sheet');
      expect(await printed()).toEqual([1, 210, 297]);
      expect(await others()).toEqual([]);
      await page.keyboard.press('Escape');
      await expect.poll(() => page.locator('.paper').count()).toBe(0);
      // The line that is typed for the card outlives another place and another language.
      await page.fill('#code', 'HCM-GXC6M-QHR2P');
      await page.click('#language');
      expect(await page.inputValue('#doorplate-line')).toBe('Nhà Lan');
      expect(faults).toEqual([]);
      await close();
    });

    test('the grid of the view is GeoJSON of codes that lie in it; too large a view is refused with the reason', async () => {
      await withPlace(async ({ page }) => {
        await expect.poll(() => page.locator('#grid-download').isEnabled()).toBe(true);
        await mapState(page);
        const { name, bytes } = await downloaded(page, '#grid-download');
        const grid = JSON.parse(bytes.toString()) as {
          features: { id: string; properties: { resolution: number } }[];
        };
        expect(grid.features.length).toBeGreaterThan(5);
        expect(await page.locator('#grid-status').textContent()).toContain(
          `${grid.features.length.toLocaleString('en')} hexagons`,
        );
        const { resolution } = grid.features[0]!.properties;
        expect(name).toBe(`hexcodes-grid-${resolution}.geojson`);
        for (const { id, properties } of grid.features) {
          expect(library.read(id)).toMatchObject({ hexcodes: id, resolution });
          expect(properties.resolution).toBe(resolution);
        }
        await page.click('[data-label="wholeCountry"]');
        await expect.poll(() => page.getAttribute('#map', 'data-grid')).toMatch(/^[0-6]$/);
        await page.selectOption('#grid-resolution', '15');
        await page.click('#grid-download');
        await expect
          .poll(() => page.locator('#grid-status').textContent())
          .toMatch(/about [\d,]{7,} hexagons of resolution 15; 50,000 is the most/);
      });
    });
  });
});

describe.skipIf(!hasChromium)('needs Chromium: the grid', () => {
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
    await expect.poll(() => page.title()).toBe('idle');
    expect(new Set(tiles.filter((each) => each.endsWith('GET')))).toEqual(new Set(['200 GET']));
    await page.mouse.click(8 + 300, 8 + 200);
    const [recipe] = blocksOf('docs/recipes.md', 'js maplibre');
    const [, promised] = /\/\/ (.*)$/m.exec(recipe!.text) ?? [];
    await expect.poll(() => said).toEqual([promised]);
    expect(faults.filter((fault) => !/WebGL|GL Driver|swiftshader/i.test(fault))).toEqual([]);
  });
});
