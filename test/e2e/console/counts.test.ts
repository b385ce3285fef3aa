// Points of files and fleets as hexagons coloured by their number, and the switch of layers.

import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeOf, dropFile, hasChromium, mapState } from '../../support/console-page.js';
import { ServedConsole } from '../../support/served-console.js';

/** 64 shops in one street, one at each corner of a box around it, and one abroad. */
const SHOPS = [
  ...Array.from({ length: 64 }, (_, i) => `"Phở ${i}, Hà Nội",${21.0288 + i / 1e6},${105.8525 + i / 1e6}`),
  'west,21.0288,105.8',
  'east,21.0288,105.905',
  'north,21.06,105.8525',
  'south,20.9976,105.8525',
  'Paris,48.8584,2.2945',
].join('\n');
const CSV = `name,lat,lng\n${SHOPS}\n`;

const LAYERS = ['counts', 'points', 'grid', 'codes'];

const chosenLayers = (page: Page): Promise<string[]> =>
  page
    .locator('.layers input')
    .evaluateAll((boxes) =>
      boxes
        .filter((box) => (box as HTMLInputElement).checked && box.closest('[hidden]') === null)
        .map(({ id }) => id.replace('layer-', '')),
    );

const numberOf = async (page: Page, name: string): Promise<number> =>
  Number(await page.getAttribute('#map', `data-${name}`));

/** Enter on the map takes what is in its middle. */
async function pressMiddle(page: Page): Promise<void> {
  await page.locator('#map canvas[tabindex]').focus();
  await page.keyboard.press('Enter');
}

describe.skipIf(!hasChromium)('needs Chromium', () => {
  describe.each([false, true])('WebGL: %s', (hasWebgl) => {
    const served = new ServedConsole(hasWebgl);

    test('hexagons with a legend; one lists its rows, and a row is a place; cleared, all is as before', async () => {
      const { page, faults, close } = await served.open();
      expect(await mapState(page)).toBe(hasWebgl ? 'webgl' : 'flat');
      await page.click('.layers summary');
      await page.waitForSelector('#layer-grid');
      expect(await chosenLayers(page)).toEqual(['grid', 'codes']);
      await dropFile(page, 'shops.csv', CSV);
      await expect.poll(() => numberOf(page, 'counts')).toBeGreaterThan(3);
      expect(await chosenLayers(page)).toEqual(['counts']);
      expect(await numberOf(page, 'codes')).toBe(0);
      // Where the view has come to rest, the middle has all of the street.
      await expect
        .poll(
          async () => {
            await pressMiddle(page);
            return page.locator('#cell-rows h2').allTextContents();
          },
          { interval: 1500 },
        )
        .toEqual([expect.stringMatching(/^64 points in HN-/)]);
      expect(await page.locator('#legend .levels li').first().textContent()).toMatch(/^1\+?$/);
      expect(await page.locator('#legend p').textContent()).toBe('Not counted, as they have no code: 1.');
      const rows = page.locator('#cell-rows li button');
      expect(await rows.count()).toBe(64);
      expect(await rows.nth(6).textContent()).toMatch(
        /^Row 7: Phở 6, Hà Nội · 21\.028806 · 105\.852506 · HN-6GHP4-\w+ · 13 · HN · OK$/,
      );
      expect((await axeOf(page)).violations).toEqual([]);
      const code = /HN-6GHP4-\w+/.exec((await rows.nth(6).textContent())!)![0];
      await rows.nth(6).click();
      expect(await page.locator('#place-code').textContent()).toBe(code);
      await page.press('#cell-rows [data-label="closeRows"]', 'Enter');
      expect(await page.locator('#cell-rows').isVisible()).toBe(false);
      expect(await page.locator('#map canvas:focus').count()).toBe(1);
      // The grid lies over them where somebody wants both.
      await page.click('#layer-grid');
      expect(await chosenLayers(page)).toEqual(['counts', 'grid']);
      await page.click('#layer-counts');
      await page.click('#layer-points');
      await expect.poll(() => numberOf(page, 'counts')).toBe(0);
      expect(await numberOf(page, 'points')).toBe(69);
      expect(await page.locator('#legend .levels').isVisible()).toBe(false);
      await page.press('#clear-points', 'Enter');
      expect(await page.locator('#legend').isVisible()).toBe(false);
      expect(await page.locator('#map canvas:focus').count()).toBe(1);
      expect(await chosenLayers(page)).toEqual(['grid', 'codes']);
      expect(await page.locator('.layers input').count()).toBe(LAYERS.length);
      expect(faults).toEqual([]);
      await close();
    });
  });
});
