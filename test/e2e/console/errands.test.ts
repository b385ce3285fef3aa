// Six errands as people have them, each with the taps that it takes. Typing and the file dialog of the system are none.

import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasChromium, mapState } from '../../support/console-page.js';
import { workbookXml } from '../../support/files/workbook-xml.js';
import { randomFrom } from '../../support/open-world.js';
import { ServedConsole } from '../../support/served-console.js';

const CODE = 'HN-6GHP4-83RFR';
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true } as const;
const ROWS = 50_000;

describe.skipIf(!hasChromium)('needs Chromium', () => {
  const served = new ServedConsole(false);

  /** Opens the page for an errand; `tap` counts. */
  async function errand(
    options: Parameters<ServedConsole['open']>[0],
    hash = '',
  ): Promise<{ page: Page; tap: (selector: string) => Promise<void>; end: () => Promise<number> }> {
    const { page, faults, close } = await served.open({ locale: 'vi', ...options }, hash);
    await mapState(page);
    let taps = 0;
    return {
      page,
      tap: async (selector) => {
        taps++;
        // In sight, not below anything, and large enough for a finger: Playwright refuses to press anything else.
        await page.locator(selector).first().click();
      },
      end: async () => {
        expect(faults).toEqual([]);
        await close();
        return taps;
      },
    };
  }

  const codeShown = (page: Page): Promise<string | null> => page.locator('#place-code').textContent();

  const isInSight = (page: Page, selector: string): Promise<boolean> =>
    page
      .locator(selector)
      .first()
      .evaluate((node) => {
        const { left, right, top, bottom } = node.getBoundingClientRect();
        return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && right > left;
      });

  test('a dispatcher finds the code in a chat: 1 tap', async () => {
    const { page, tap, end } = await errand({ ...PHONE, permissions: ['clipboard-read', 'clipboard-write'] });
    await page.evaluate(
      (text) => navigator.clipboard.writeText(text),
      `Giao giúp chị đến ${CODE} nhé, gọi trước 5p`,
    );
    await tap('#paste');
    await expect.poll(() => codeShown(page)).toBe(CODE);
    expect(await page.locator('#place-near').textContent()).toContain('Hoàn Kiếm');
    expect(await end()).toBe(1);
  });

  test('a driver in the sun opens a link and gets directions: 2 taps', async () => {
    const { page, tap, end } = await errand({ ...PHONE, colorScheme: 'light' }, `#${CODE}`);
    await expect.poll(() => codeShown(page)).toBe(CODE);
    await tap('#directions summary');
    const app = page.locator('#directions-app');
    expect(await app.getAttribute('href')).toMatch(/^geo:21\.028798,105\.852465/);
    await app.evaluate((node) => node.addEventListener('click', (event) => event.preventDefault()));
    await tap('#directions-app');
    expect(await end()).toBe(2);
  });

  test('a shop owner prints her plate: 3 taps', async () => {
    const { page, tap, end } = await errand(PHONE, `#${CODE}`);
    await page.evaluate(() => {
      window.print = () => document.body.setAttribute('data-printed', '');
    });
    await tap('#tab-take-away');
    await tap('#print-doorplate');
    expect(await page.locator('.preview-page svg').textContent()).toContain(CODE);
    // All of it, also where the phone lies.
    for (const viewport of [{ width: 740, height: 360 }, PHONE.viewport]) {
      await page.setViewportSize(viewport);
      expect(await isInSight(page, '.preview-page svg')).toBe(true);
    }
    await tap('.preview-buttons .strong');
    expect(await page.locator('body[data-printed]').count()).toBe(1);
    expect(await page.locator('.paper-doorplate').count()).toBe(1);
    expect(await end()).toBe(3);
  });

  test('a clerk types what is read aloud, in any of these ways: 1 tap', async () => {
    const { page, tap, end } = await errand({});
    await tap('#code');
    for (const typed of ['ha noi 6ghp4 83rfr', 'hà nội 6GHP4 83RFR', 'hn 6ghp4 83rfr', 'hn6ghp483rfr']) {
      await page.locator('#code').fill('');
      await page.keyboard.type(typed);
      await page.keyboard.press('Enter');
      await expect.poll(() => codeShown(page), { message: typed }).toBe(CODE);
    }
    expect(await end()).toBe(1);
  });

  test(`an operator converts ${ROWS} rows of Excel, sees where they are, and takes the codes: 3 taps`, async () => {
    const random = randomFrom(50);
    const cell = (of: string): string => `<c t="inlineStr"><is><t>${of}</t></is></c>`;
    const rows = Array.from({ length: ROWS }, (_, i) => {
      const [lat, lng] = [20.9 + random() * 0.3, 105.7 + random() * 0.3];
      return `<row>${cell(`Số ${i}`)}<c><v>${lat}</v></c><c><v>${lng}</v></c></row>`;
    });
    const header = `<row>${['Cửa hàng', 'Vĩ độ', 'Kinh độ'].map(cell).join('')}</row>`;
    const buffer = Buffer.from(workbookXml({ sheets: { s: header + rows.join('') } }));
    const { page, tap, end } = await errand({ viewport: { width: 1280, height: 800 } });
    await tap('#tab-file');
    const chooser = page.waitForEvent('filechooser');
    await tap('.drop');
    await (await chooser).setFiles({ name: 'cua-hang.xlsx', mimeType: 'application/octet-stream', buffer });
    await page.waitForSelector('#file-workbook');
    expect(await page.locator('#file-result h2').allTextContents()).toContain('50.000 vị trí đã có mã');
    await expect
      .poll(async () => Number(await page.getAttribute('#map', 'data-counts')))
      .toBeGreaterThan(100);
    expect(await isInSight(page, '#legend .levels')).toBe(true);
    const download = page.waitForEvent('download');
    await tap('#file-workbook');
    expect((await download).suggestedFilename()).toBe('cua-hang-hexcodes.xlsx');
    expect(await end()).toBe(3);
  });

  test.each([{ viewport: { width: 1440, height: 900 } }, PHONE])(
    'a manager sees what it is for, and a code with its parts, without a tap: %j',
    async (options) => {
      const { page, end } = await errand(options);
      expect(await page.locator('#panel-place').textContent()).toContain(
        'Mã vị trí cho mọi ngôi nhà ở Việt Nam',
      );
      for (const selector of ['#code', '#panel-place p', '.how-made .made', '#map', '#scale'])
        expect([selector, await isInSight(page, selector)]).toEqual([selector, true]);
      expect(await end()).toBe(0);
    },
  );
});
