// The page /docs: its headers, and in Debian's Chromium its calls and its hosts; and the documents below it.

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { axeOf, hasChromium, openBrowser } from '../../support/console-page.js';
import { getBytes } from '../../support/http-calls.js';
import { ServerProcess } from '../../support/server-process.js';
import { sharedServer } from '../../support/shared.js';

let server: ServerProcess;
let address: string;
beforeAll(async () => {
  server = await ServerProcess.start({ isQuiet: true });
  address = `http://127.0.0.1:${server.port}/docs`;
});
afterAll(() => server.kill());

test('needs no key, and its policy lets it load, run and ask what is of the service alone', async () => {
  const answer = await fetch(address);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  expect(answer.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'unsafe-inline'; script-src 'self' 'sha256-[^;' ]*'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
  expect(await answer.text()).not.toMatch(/https?:/);
  const tag = answer.headers.get('etag')!;
  expect((await fetch(address, { headers: { 'If-None-Match': tag } })).status).toBe(304);
  const { headers, body } = await getBytes(server, '/docs/viewer.js', { 'Accept-Encoding': 'br' });
  expect(headers['content-encoding']).toBe('br');
  expect(body.length).toBeLessThan(1_000_000);
});

describe.skipIf(!hasChromium)('needs Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser(false);
  });
  afterAll(() => browser.close());

  test.each([
    ['light', 1200],
    ['dark', 1200],
    ['light', 360],
  ] as const)(
    'the typed key is in the calls that are shown and sent, and no other host is asked: %s, %i pixels',
    { timeout: 60_000 },
    async (colorScheme, width) => {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 } });
      onTestFinished(() => page.close());
      const faults: string[] = [];
      const asked: string[] = [];
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      page.on('pageerror', (error) => faults.push(error.message));
      page.on('request', (request) => {
        if (!request.url().startsWith(`http://127.0.0.1:${server.port}/`)) faults.push(request.url());
        asked.push(request.url());
      });
      await page.goto(address);
      await page.locator('input.scalar-password-input:visible').first().fill(server.key);
      const call = page.locator('pre', { hasText: `/v1/hexcodes/encode?lat=21.0288&lng=105.8525` }).first();
      await expect.poll(() => call.textContent()).toContain(`X-API-Key: ${server.key}`);
      expect(await call.textContent()).toContain(`curl 'http://127.0.0.1:${server.port}/v1/`);
      expect(await page.locator('body').getAttribute('class')).toContain(`${colorScheme}-mode`);
      expect(await page.getByRole('navigation', { name: 'Sidebar' }).isVisible()).toBe(width === 1200);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overflow).toBe(0);
      await page
        .getByRole('button', { name: /Test Request/ })
        .first()
        .click();
      await page.getByRole('button', { name: /^Send/ }).first().click();
      await page.getByText('"HN-6GHP4-83RFR"').last().waitFor();
      expect(asked.filter((url) => url.includes('/v1/'))).toHaveLength(1);
      await page.goto(address);
      if (width === 1200) {
        await page.getByRole('tab', { name: 'Python' }).click();
        await page.locator('pre', { hasText: 'import ' }).first().waitFor();
      }
      await page.locator('#back').click();
      await page.locator('#code').waitFor();
      expect(faults).toEqual([]);
    },
  );
});

// The documents of docs/ as pages below /docs: each is there, each of its links within the service has its target, and
// in Debian's Chromium they fit a phone, ask no other host, and axe-core finds nothing.

describe('documents', () => {
  const NAMES = ['', 'reference/', 'sql/'].flatMap((folder) =>
    readdirSync(`docs/${folder}`)
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}${name}`.replace(/(\/README)?\.md$/, '')),
  );

  const server = sharedServer();
  let base: string;
  const texts = new Map<string, string>();
  beforeAll(async () => {
    base = `http://127.0.0.1:${server.port}`;
    for (const name of NAMES) texts.set(`/docs/${name}`, await (await fetch(`${base}/docs/${name}`)).text());
    for (const page of ['/docs', '/docs/documents']) texts.set(page, await (await fetch(base + page)).text());
  });

  const linksOf = (html: string): string[] =>
    [...html.matchAll(/<a href="([^"]+)"/g)].map((match) => match[1]!);
  const idsOf = (html: string): Set<string> =>
    new Set([...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]!));

  test('each document is a page with its heading, without a key', async () => {
    expect(NAMES.length).toBeGreaterThan(25);
    const overview = linksOf(texts.get('/docs/documents')!);
    for (const name of NAMES) {
      const path = name === 'sql' ? 'docs/sql/README.md' : `docs/${name}.md`;
      const heading = /^# (.*)$/m.exec(readFileSync(path, 'utf8'))![1]!;
      const html = texts.get(`/docs/${name}`)!;
      expect(html, path).toMatch(/^<!doctype html>/);
      const shown = html.replace(/<\/?code>/g, '').replaceAll('&#39;', "'");
      expect(shown, path).toContain(`>${heading.replaceAll('`', '')}</h1>`);
      expect(overview, path).toContain(`/docs/${name}`);
    }
  });

  test('every link within the service has its page and its anchor', () => {
    let anchors = 0;
    for (const [path, html] of texts) {
      for (const link of linksOf(html)) {
        if (!/^[/#]/.test(link) || link === '/' || link.endsWith('.json')) continue;
        const [page, anchor] = link.split('#');
        const target = texts.get(page === '' ? path : page!);
        expect(target, `${path}: ${link}`).toBeDefined();
        if (anchor === undefined) continue;
        expect(idsOf(target!).has(anchor), `${path}: ${link}`).toBe(true);
        anchors++;
      }
      expect(html, path).not.toMatch(/<a href="[^"]*\.md/);
    }
    expect(anchors).toBeGreaterThan(100);
  });

  test('a page has the guards of /docs, no script but its own, and leaves as its reader accepts it', async () => {
    for (const name of ['http', 'reference/settings']) {
      const plain = await fetch(`${base}/docs/${name}`, { headers: { 'Accept-Encoding': 'identity' } });
      expect(plain.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'sha256-[^;']*'; script-src 'sha256-[^;']*'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      );
      expect(plain.headers.get('x-content-type-options')).toBe('nosniff');
      const text = await plain.text();
      expect(text.match(/<script/g)).toHaveLength(1);
      expect(text).not.toMatch(/<script |<iframe| on\w+=|<img src="(?!\/docs\/)/);
      const packed = await getBytes(server, `/docs/${name}`, { 'Accept-Encoding': 'br' });
      expect(packed.headers['content-encoding']).toBe('br');
      expect(packed.body.length).toBeLessThan(text.length / 2);
      expect(brotliDecompressSync(packed.body).toString()).toBe(text);
      const tag = plain.headers.get('etag')!;
      const again = await fetch(`${base}/docs/${name}`, {
        headers: { 'If-None-Match': tag, 'Accept-Encoding': 'identity' },
      });
      expect(again.status).toBe(304);
    }
  });

  test('the picture of a page is there, other names are not', async () => {
    const picture = await fetch(`${base}/docs/capacity.svg`);
    expect(picture.headers.get('content-type')).toBe('image/svg+xml');
    expect(texts.get('/docs/reference/capacity')).toContain('<img src="/docs/capacity.svg"');
    for (const name of [
      'nothing',
      ['http', 'md'].join('.'),
      'reference/nothing',
      'constructor',
      'decisions/README',
      '..%2Fhttp',
    ])
      expect((await fetch(`${base}/docs/${name}`)).status, name).toBe(404);
  });

  test.skipIf(!hasChromium)(
    'needs Chromium: pages fit a phone and lead back',
    { timeout: 120_000 },
    async () => {
      const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
      const browser = await openBrowser(false);
      onTestFinished(() => browser.close());

      for (const [name, colorScheme, width] of [
        ['http', 'light', 360],
        ['reference/capacity', 'dark', 1200],
        ['console', 'dark', 320],
      ] as const) {
        const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 } });
        const faults: string[] = [];
        page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
        page.on('request', (request) => {
          if (!request.url().startsWith(`${base}/`)) faults.push(request.url());
        });
        await page.goto(`${base}/docs/${name}`);
        const session = await page.context().newCDPSession(page);
        await session.send('Runtime.evaluate', { expression: axe });
        const { result } = await session.send('Runtime.evaluate', {
          expression: 'axe.run().then((found) => JSON.stringify(found))',
          awaitPromise: true,
        });
        const { violations, passes } = JSON.parse(result.value as string) as AxeResults;
        expect(
          violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html)]),
          name,
        ).toEqual([]);
        expect(passes.length).toBeGreaterThan(10);
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect(overflow, name).toBe(0);
        expect(faults, name).toEqual([]);
        await page.locator('#back').click();
        await page.locator('#viewer').waitFor();
        await page.close();
      }
    },
  );

  interface SearchIndex {
    readonly pages: readonly (readonly [name: string, title: string])[];
    readonly sections: readonly (readonly [page: number, anchor: string, heading: string])[];
    readonly words: Readonly<Record<string, readonly number[]>>;
  }

  test('the index of the search is small, and each of its sections is there', async () => {
    const answer = await fetch(`${base}/docs/search.json`);
    expect(answer.headers.get('content-type')).toContain('application/json');
    const text = await answer.text();
    expect(gzipSync(text).length).toBeLessThan(60_000);
    const { pages, sections, words } = JSON.parse(text) as SearchIndex;
    expect(pages.map(([name]) => name)).toEqual(NAMES);
    for (const [page, anchor] of sections) {
      const [name] = pages[page]!;
      if (anchor !== '') expect(idsOf(texts.get(`/docs/${name}`)!)).toContain(anchor);
    }
    const headingsOf = (word: string): string[] => {
      let at = 0;
      return (words[word] ?? []).map((step) => {
        at += step;
        return sections[at]![2];
      });
    };
    expect(headingsOf('hexcodes_basemap')).toContain('A map under the hexagons');
    expect(headingsOf('basemap')).toContain('A map under the hexagons');
    expect(words.the).toBe(undefined);
    expect(Object.values(words).every((steps) => steps.slice(1).every((step) => step > 0))).toBe(true);
  });

  test.skipIf(!hasChromium)(
    'needs Chromium: the search finds sections, loads when used, and the frame speaks Vietnamese',
    { timeout: 120_000 },
    async () => {
      const browser = await openBrowser(false);
      const opened = async (locale: string, path: string) => {
        const context = await browser.newContext({ locale, viewport: { width: 390, height: 800 } });
        const page = await context.newPage();
        const faults: string[] = [];
        const asked: string[] = [];
        page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
        page.on('pageerror', (error) => faults.push(error.message));
        page.on('request', (request) => asked.push(request.url().replace(base, '')));
        await page.goto(`${base}${path}`);
        return { page, faults, asked };
      };
      const found = (page: Page): Promise<string[]> => page.locator('#search-found li').allTextContents();
      onTestFinished(() => browser.close());

      for (const path of ['/docs/documents', '/docs/keys']) {
        const { page, faults, asked } = await opened('en', path);
        expect(asked).not.toContain('/docs/search.json');
        expect(await page.locator('#english-only').isVisible()).toBe(false);
        await page.locator('#search').pressSequentially('hexcodes_base');
        await expect.poll(() => found(page)).toContainEqual('A map under the hexagons · The console');
        expect(asked).toContain('/docs/search.json');
        expect(asked.filter((url) => !url.startsWith('/'))).toEqual([]);
        await page.locator('#search').fill('constructor zzz');
        await expect.poll(() => page.locator('#search-count').textContent()).toBe('Nothing found.');
        await page.locator('#search').fill('HTTP rate limits');
        await expect.poll(async () => (await found(page)).length).toBeGreaterThan(0);
        expect((await found(page)).length).toBeLessThanOrEqual(12);
        await page.locator('#search').fill('hexcodes_basemap');
        await page.getByText('A map under the hexagons').click();
        await page.waitForURL(`${base}/docs/console#a-map-under-the-hexagons`);
        expect(faults).toEqual([]);
        await page.context().close();
      }
      const { page, faults } = await opened('vi-VN', '/docs/documents');
      expect(await page.locator('#english-only').isVisible()).toBe(true);
      expect(await page.locator('label[for=search]').textContent()).toBe('Tìm trong tài liệu');
      expect(await page.locator('nav summary').textContent()).toBe('Mọi tài liệu');
      expect(await page.locator('nav').getAttribute('aria-label')).toBe('Tài liệu');
      expect(await page.locator('main h1').textContent()).toBe('Documents');
      await page.locator('#search').fill('khóa');
      await expect.poll(async () => (await found(page)).join()).toContain('Keys');
      await page.locator('#search').fill('ngôn ngữ');
      await expect.poll(() => page.locator('#search-count').textContent()).toContain('tiếng Anh');
      expect((await axeOf(page)).violations).toEqual([]);
      await page.locator('#language').click();
      await expect.poll(() => page.locator('label[for=search]').textContent()).toBe('Search the documents');
      // The choice is that of the page at / too.
      await page.goto(`${base}/`);
      expect(await page.evaluate(() => document.documentElement.lang)).toBe('en');
      expect(faults).toEqual([]);
    },
  );
});
