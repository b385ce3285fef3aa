// The sheet of A4 and the doorplate, in the page and on paper, and the grid of the view as a file.
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
import { ServerProcess } from '../../support/server-process.js';

const CODE = 'HN-6GHP4-83RFR';

let server: ServerProcess;
let browser: Browser;
let library: Hexcodes;
beforeAll(async () => {
  server = await ServerProcess.start({ isQuiet: true });
  library = await Hexcodes.load();
  if (hasChromium) browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
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

describe.skipIf(!hasChromium)('needs Chromium', () => {
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
      await page.click('#print-doorplate');
      const texts = await page.locator('dialog .doorplate text').allTextContents();
      expect(texts).toEqual(expect.arrayContaining([CODE, 'Nhà <Lan> & Minh', 'Hà Nội']));
      const { name, bytes } = await downloaded(page, 'dialog [data-text="save"]');
      expect(name).toBe(`${CODE}-doorplate.svg`);
      expect(bytes.toString()).toMatch(
        /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg".*Nhà &lt;Lan&gt; &amp; Minh/s,
      );
    });
  });

  test.each(['dark', 'light'] as const)(
    'paper, with a page that is %s: nothing but the card on A6, nothing but the sheet on A4',
    async (colorScheme) => {
      const { page, faults, close } = await openConsole(browser, server.port, { colorScheme }, `#${CODE}`);
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
    },
  );

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
