// The points of a file on the map: in the colours of the summary, with and without WebGL.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, MAP_MS, mapState, openBrowser, openConsole } from '../../support/console-page.js';
import { ServerProcess } from '../../support/server-process.js';

/** Around the lake of Hoàn Kiếm, half a kilometre wide. */
const ROWS = Array.from({ length: 400 }, (_, i) => `${21.026 + (i % 20) / 4000},${105.85 + i / 80_000}`);

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start({ isQuiet: true });
});
afterAll(() => server.kill());

/** How many pixels of a picture of the map are nearly of the colour that the summary has for its first province. */
async function pixelsOfFirstProvince(page: Page): Promise<number> {
  const png = (await page.locator('#map').screenshot()).toString('base64');
  return page.evaluate(async (data) => {
    const swatch = document.querySelector('.by-province .swatch') as HTMLElement;
    const wanted = (getComputedStyle(swatch).backgroundColor.match(/\d+/g) ?? []).map(Number);
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d')!;
    context.drawImage(image, 0, 0);
    const { data: bytes } = context.getImageData(0, 0, image.width, image.height);
    let found = 0;
    for (let at = 0; at < bytes.length; at += 4)
      if (wanted.every((part, i) => Math.abs(bytes[at + i]! - part) <= 3)) found++;
    return found;
  }, png);
}

describe.skipIf(!hasChromium)('needs Chromium', () => {
  test.each([
    ['webgl', true],
    ['flat', false],
  ] as const)('%s', async (state, hasWebgl) => {
    const browser: Browser = await openBrowser(hasWebgl);
    try {
      const { page, faults } = await openConsole(browser, server.port);
      expect(await mapState(page)).toBe(state);
      await page.click('#tab-file');
      await page.fill('#file-text', `lat,lng\n${ROWS.join('\n')}\n`);
      await page.click('#file-convert');
      await page.waitForSelector('#file-download');
      expect(await page.getAttribute('#map', 'data-points')).toBe('400');
      expect(await page.locator('.by-province tbody tr').allTextContents()).toEqual(['Hà NộiHN400']);
      // The map glides to the points.
      await expect.poll(() => pixelsOfFirstProvince(page), { timeout: MAP_MS }).toBeGreaterThan(1000);
      expect(faults).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
