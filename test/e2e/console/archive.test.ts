// The operator's archive under the hexagons: streets, water and names, light and dark, from no other host.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  axeOf,
  hasChromium,
  MAP_MS,
  mapState,
  openBrowser,
  openConsole,
} from '../../support/console-page.js';
import { startServer } from '../../support/server.js';
import { shippedFiles } from '../../support/shipped.js';

/** Beside Hồ Gươm. */
const CODE = '#HN-6GHP4-7QQ';
const LIGHT_WATER = [188, 214, 230];
const DARK_WATER = [19, 37, 47];

/** Pixels of the map that are nearly of a colour. */
async function pixelsOf(page: Page, wanted: readonly number[]): Promise<number> {
  const png = (await page.locator('#map').screenshot()).toString('base64');
  return page.evaluate(
    async ([data, color]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d')!;
      context.drawImage(image, 0, 0);
      const { data: bytes } = context.getImageData(0, 0, image.width, image.height);
      let found = 0;
      for (let at = 0; at < bytes.length; at += 4)
        if ((color as number[]).every((part, i) => Math.abs(bytes[at + i]! - part) <= 3)) found++;
      return found;
    },
    [png, wanted] as const,
  );
}

describe.skipIf(!hasChromium)('needs Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  test.each([
    ['light', LIGHT_WATER, DARK_WATER],
    ['dark', DARK_WATER, LIGHT_WATER],
  ] as const)(
    'vector tiles, %s, and the other theme after a switch',
    async (colorScheme, water, otherWater) => {
      const server = await startServer({ basemap: 'test/fixtures/basemap/vector.pmtiles' }, shippedFiles());
      try {
        const { page, faults, close } = await openConsole(browser, server.port, { colorScheme }, CODE);
        const asked: string[] = [];
        page.on('response', (answer) => asked.push(`${answer.status()} ${new URL(answer.url()).pathname}`));
        expect(await mapState(page)).toBe('webgl');
        await expect.poll(() => pixelsOf(page, water), { timeout: MAP_MS }).toBeGreaterThan(300);
        expect(await pixelsOf(page, otherWater)).toBe(0);
        expect(await page.locator('#credit').textContent()).toMatch(/^© OpenStreetMap · /);
        expect(asked.filter((each) => /^206 \/basemap\/\w+$/.test(each)).length).toBeGreaterThan(0);
        expect((await axeOf(page)).violations).toEqual([]);
        await page.click('#switches button:last-child');
        await expect.poll(() => pixelsOf(page, otherWater), { timeout: MAP_MS }).toBeGreaterThan(300);
        // Errors, and requests to other hosts: none.
        expect(faults).toEqual([]);
        await close();
      } finally {
        await server.stop();
      }
    },
  );

  test('pictures, and our own names of towns not over them', async () => {
    const server = await startServer({ basemap: 'test/fixtures/basemap/raster.pmtiles' }, shippedFiles());
    try {
      const { page, faults, close } = await openConsole(browser, server.port, {}, CODE);
      const asked: string[] = [];
      page.on('response', (answer) => asked.push(`${answer.status()} ${new URL(answer.url()).pathname}`));
      expect(await mapState(page)).toBe('webgl');
      await expect
        .poll(() => asked.filter((each) => /^206 \/basemap\/\w+$/.test(each)).length, { timeout: MAP_MS })
        .toBeGreaterThan(2);
      expect(await page.locator('.label.is-town').count()).toBe(0);
      expect(faults).toEqual([]);
      await close();
    } finally {
      await server.stop();
    }
  });
});
