// The documents of docs/ as pages below /docs: each is there, each of its links within the service has its target, and
// in Debian's Chromium they fit a phone, ask no other host, and axe-core finds nothing.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { brotliDecompressSync } from 'node:zlib';
import type { AxeResults } from 'axe-core';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../support/server.js';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const NAMES = ['', 'reference/', 'sql/'].flatMap((folder) =>
  readdirSync(`docs/${folder}`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}${name}`.replace(/(\/README)?\.md$/, '')),
);

let server: TestServer;
let base: string;
const texts = new Map<string, string>();
beforeAll(async () => {
  server = await startServer();
  base = `http://127.0.0.1:${server.port}`;
  for (const name of NAMES) texts.set(`/docs/${name}`, await (await fetch(`${base}/docs/${name}`)).text());
  texts.set('/docs', await (await fetch(`${base}/docs`)).text());
});
afterAll(() => server.stop());

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

test('a page has the guards of /docs, no script, and leaves as its reader accepts it', async () => {
  const headers = { 'Accept-Encoding': 'br' };
  for (const name of ['http', 'reference/settings']) {
    const plain = await fetch(`${base}/docs/${name}`, { headers: { 'Accept-Encoding': 'identity' } });
    expect(plain.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^;']*'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(plain.headers.get('x-content-type-options')).toBe('nosniff');
    const text = await plain.text();
    expect(text).not.toMatch(/<script|<iframe| on\w+=|<img src="(?!\/docs\/)/);
    const { request } = await import('node:http');
    const packed = await new Promise<Buffer>((resolve, reject) => {
      request(`${base}/docs/${name}`, { headers }, (answer) => {
        expect(answer.headers['content-encoding']).toBe('br');
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () => resolve(Buffer.concat(parts)));
      })
        .on('error', reject)
        .end();
    });
    expect(packed.length).toBeLessThan(text.length / 2);
    expect(brotliDecompressSync(packed).toString()).toBe(text);
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

test.skipIf(!existsSync(CHROMIUM))(
  'needs Chromium: pages fit a phone and lead back',
  { timeout: 120_000 },
  async () => {
    const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-background-networking'],
    });
    try {
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
    } finally {
      await browser.close();
    }
  },
);
