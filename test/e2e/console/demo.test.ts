// The page without a service: `npm run demo` makes a folder that any plain file server serves, at any path. Here one is
// a server of a few lines that knows neither headers nor types of ours, and the folder lies two levels down.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, MAP_MS, mapState, openBrowser, openConsole } from '../../support/console-page.js';

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

describe.skipIf(!hasChromium)('needs Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  test('codes, map, files and links work, and all of it without a network after the first visit', async () => {
    const { page, faults, close } = await openConsole(
      browser,
      port(),
      { serviceWorkers: 'allow' },
      `${BELOW.slice(1)}#${CODE}`,
    );
    await expect.poll(() => page.locator('#place-code').textContent(), { timeout: MAP_MS }).toBe(CODE);
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
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready;
    });
    isUp = false;
    await page.goto('about:blank');
    await page.goto(`http://127.0.0.1:${port()}${BELOW}#${CODE}`);
    await expect.poll(() => page.locator('#place-code').textContent(), { timeout: MAP_MS }).toBe(CODE);
    isUp = true;
    expect(missing.filter((url) => !url.endsWith('/favicon.ico'))).toEqual([]);
    expect(faults.filter((fault) => !/ERR_(?:EMPTY_RESPONSE|CONNECTION)/.test(fault))).toEqual([]);
    await close();
  });
});
