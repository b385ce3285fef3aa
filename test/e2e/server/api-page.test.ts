// The page /docs: its headers, its links, and in Debian's Chromium its forms, its policy and what axe-core finds.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeOf, hasChromium, openBrowser } from '../../support/console-page.js';
import { ServerProcess } from '../../support/server-process.js';

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
