// The page /docs: its headers, its links, and in Debian's Chromium its forms, its policy and what axe-core finds; and
// the documents below it.

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

test('needs no key, asks no other host, and every link within it has its target', async () => {
  const answer = await fetch(address);
  const html = await answer.text();
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  const policy = answer.headers.get('content-security-policy')!;
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'sha256-[^;]*; script-src 'sha256-[^;]*; connect-src 'self';/,
  );
  expect(policy).not.toContain('unsafe');
  expect(html).not.toMatch(/https?:\/\/(?!127\.0\.0\.1:8080)/);
  const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]));
  const links = [...html.matchAll(/href="#([^"]+)"/g)].map((match) => match[1]);
  expect(links.length).toBeGreaterThan(20);
  expect(links.filter((link) => !ids.has(link))).toEqual([]);
  expect((await fetch(address, { headers: { 'If-None-Match': answer.headers.get('etag')! } })).status).toBe(
    304,
  );
});

describe.skipIf(!hasChromium)('needs Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser(false);
  });
  afterAll(() => browser.close());

  async function open(
    colorScheme: 'light' | 'dark',
    width: number,
  ): Promise<{ page: Page; faults: string[] }> {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 } });
    const faults: string[] = [];
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(`http://127.0.0.1:${server.port}/`)) faults.push(request.url());
    });
    await page.goto(address);
    return { page, faults };
  }

  test('a form sends a call with the key of the page and shows its answer', async () => {
    const { page, faults } = await open('light', 1200);
    await page.locator('#key').fill(server.key);
    await page.getByText('Try encode', { exact: true }).click();
    const form = page.locator('form[data-path="/v1/hexcodes/encode"][data-method="GET"]');
    await form.getByRole('button').click();
    await expect.poll(() => form.locator('output').textContent()).toContain('"hexcodes":"HN-6GHP4-83RFR"');
    await page.getByText('Try encodeBulk', { exact: true }).click();
    const bulk = page.locator('form[data-path="/v1/hexcodes/encode/bulk"]');
    await bulk.getByRole('button').click();
    await expect
      .poll(() => bulk.locator('output').textContent())
      .toContain('1,21.0288,105.8525,HN-6GHP4-83RFR,13,HN,OK');
    // A first answer that comes after the second one is not shown for it.
    const late = new Promise<void>((resolve) => {
      void page.route(/encode\?lat=21\.0288/, async (route) => {
        await page.waitForResponse(/encode\?lat=10\.7769/);
        await route.continue().catch(() => undefined);
        resolve();
      });
    });
    await form.getByRole('button').click();
    await form.getByLabel('lat').fill('10.7769');
    await form.getByLabel('lng').fill('106.7009');
    await form.getByRole('button').click();
    await late;
    await page.evaluate(async () => (await fetch('/docs')).text());
    expect(await form.locator('output').textContent()).toContain('"hexcodes":"HCM-');
    expect(await page.locator('pre code').first().textContent()).toContain(`127.0.0.1:${server.port}`);
    expect(faults).toEqual([]);
    await page.close();
  });

  test('the examples take the key that is typed, and there is a way back to the map', async () => {
    const { page, faults } = await open('light', 1200);
    const example = page.locator('pre code').first();
    expect(await example.textContent()).toContain('YOUR_KEY');
    await page.locator('#key').fill(server.key);
    const texts = await page.locator('pre code').allTextContents();
    expect(texts.filter((text) => text.includes(server.key)).length).toBeGreaterThan(40);
    expect(texts.filter((text) => text.includes('YOUR_KEY'))).toEqual([]);
    await page.locator('#key').fill(`x'; rm -rf "$HOME`);
    expect(await example.textContent()).toContain('YOUR_KEY');
    await page.locator('#back').click();
    await page.locator('#code').waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    expect(faults).toEqual([]);
    await page.close();
  });

  test('axe-core finds nothing: dark and 1200 pixels wide, light and 360', async () => {
    const { page, faults } = await open('dark', 1200);
    /** Folds or unfolds every section; with `left` of 6, all but every sixth. */
    const press = (left = 0): Promise<void> =>
      page.locator('section summary').evaluateAll((nodes, every) => {
        for (const [at, node] of nodes.entries())
          if (every === 0 || at % every !== 0) (node as HTMLElement).click();
      }, left);
    await press();
    for (const [colorScheme, width] of [
      ['dark', 1200],
      ['light', 360],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overflow).toBe(0);
      // Sections are of one form: on the phone every sixth stays unfolded.
      if (width === 360) await press(6);
      expect(await page.locator('section details[open]').count()).toBeGreaterThan(width === 360 ? 5 : 30);
      const { violations, passes } = await axeOf(page);
      expect([width, violations]).toEqual([width, []]);
      expect(passes).toBeGreaterThan(15);
    }
    expect(faults).toEqual([]);
    await page.close();
  });
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
    texts.set('/docs', await (await fetch(`${base}/docs`)).text());
  });

  const linksOf = (html: string): string[] =>
    [...html.matchAll(/<a href="([^"]+)"/g)].map((match) => match[1]!);
  const idsOf = (html: string): Set<string> =>
    new Set([...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]!));

  test('each document is a page with its heading, without a key', async () => {
    expect(NAMES.length).toBeGreaterThan(25);
    const overview = linksOf(texts.get('/docs')!);
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
        await page.locator('#documents').waitFor();
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
    expect(pages.map(([name]) => name)).toEqual(['', ...NAMES]);
    for (const [page, anchor] of sections) {
      const [name] = pages[page]!;
      if (anchor !== '') expect(idsOf(texts.get(name === '' ? '/docs' : `/docs/${name}`)!)).toContain(anchor);
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

      for (const path of ['/docs', '/docs/keys']) {
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
      const { page, faults } = await opened('vi-VN', '/docs');
      expect(await page.locator('#english-only').isVisible()).toBe(true);
      expect(await page.locator('label[for=search]').textContent()).toBe('Tìm trong tài liệu');
      expect(await page.locator('#errors').textContent()).toBe('Lỗi');
      expect(await page.locator('caption').first().textContent()).toMatch(/^Tham số của \w+$/);
      expect(await page.locator('.wide').first().getAttribute('aria-label')).toMatch(/^Tham số của \w+$/);
      expect(await page.locator('#encode').textContent()).toBe('GET /v1/hexcodes/encode');
      expect((await page.locator('#encode-lat').locator('..').textContent())?.trim()).toBe('lat');
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
