// The console in Chromium as a page: language, light and dark, phones, without WebGL, without a network, and what
// axe-core finds.
import { describe, expect, test } from 'vitest';
import { axeOf, hasChromium, mapState, openBrowser, openConsole } from '../../support/console-page.js';
import { ServedConsole } from '../../support/served-console.js';

const CODE = 'HN-6GHP4-83RFR';

describe.skipIf(!hasChromium)('needs Chromium', () => {
  const served = new ServedConsole();

  test('the language is that of the browser until one chooses, and the choice stays', async () => {
    const { page, faults } = await served.open({ locale: 'vi-VN' });
    const heading = page.locator('#panel-place h2');
    expect(await heading.textContent()).toContain('Mã vị trí cho mọi ngôi nhà ở Việt Nam');
    expect(await page.locator('html').getAttribute('lang')).toBe('vi');
    await page.locator('#language').click();
    expect(await heading.textContent()).toContain('A location code for every home');
    expect(await page.locator('label[for="code"]').textContent()).toBe('Code, position or name');
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    await page.reload();
    expect(await heading.textContent()).toContain('A location code for every home');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('dark and light are those of the system until one chooses, and the choice stays', async () => {
    const { page } = await served.open({ colorScheme: 'dark' });
    const theme = (): Promise<string | null> => page.locator('html').getAttribute('data-theme');
    const paper = (): Promise<string> =>
      page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
    expect(await theme()).toBe('dark');
    const dark = await paper();
    await page.locator('#theme').click();
    expect(await theme()).toBe('light');
    expect(await paper()).not.toBe(dark);
    await page.reload();
    await expect.poll(theme).toBe('light');
    await page.context().close();
  });

  test.each([
    ['light', 1200, 800],
    ['dark', 1200, 800],
    ['light', 390, 844],
  ] as const)('axe-core finds nothing: %s, %i pixels wide', async (colorScheme, width, height) => {
    const viewport = { width, height };
    const { page, faults } = await served.open({ colorScheme, viewport });
    await page.locator('#panel-place h2').waitFor();
    expect((await axeOf(page)).violations).toEqual([]);
    await page.locator('#code').fill('HN-6GHP4-83RFX');
    await page.locator('.suggestion').first().click();
    for (const summary of await page.locator('#panel-place summary').all()) await summary.click();
    await mapState(page);
    const { violations, passes } = await axeOf(page);
    expect(violations).toEqual([]);
    expect(passes).toBeGreaterThan(20);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBe(0);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('the map is worked by keys: Enter chooses the cell in its middle', async () => {
    const { page, faults } = await served.open();
    await mapState(page);
    await page.locator('#map canvas:not(.map-codes)').focus();
    await page.keyboard.press('Enter');
    // The middle of the country on the map lies in Laos: the nearest hexagon is meant.
    await page.locator('#place-code').waitFor();
    await page.locator('#tab-place').focus();
    await page.keyboard.press('End');
    expect(await page.locator('#tab-fleet').getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Home');
    expect(await page.locator('#tab-place').getAttribute('aria-selected')).toBe('true');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('without WebGL everything works, on a map that is drawn plainly', async () => {
    const plain = await openBrowser(false);
    try {
      const { page, faults } = await openConsole(plain, served.port);
      expect(await mapState(page)).toBe('flat');
      await page.locator('#code').fill(CODE);
      await expect.poll(() => page.locator('#map').getAttribute('data-place')).toBe(CODE);
      await expect
        .poll(async () => Number(await page.locator('#map').getAttribute('data-grid')))
        .toBeGreaterThan(12);
      const box = (await page.locator('#map').boundingBox())!;
      await page.mouse.click(box.x + box.width / 2 + 300, box.y + box.height / 2);
      await expect.poll(() => page.locator('#place-code').textContent()).toMatch(/^HN-6GHP/);
      expect(await page.locator('#place-code').textContent()).not.toBe(CODE);
      expect((await axeOf(page)).violations).toEqual([]);
      expect(faults).toEqual([]);
    } finally {
      await plain.close();
    }
  });

  test('after the first visit the page opens without a network', async () => {
    const { page, faults } = await served.open({ serviceWorkers: 'allow' });
    await mapState(page);
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready;
    });
    await page.context().setOffline(true);
    await page.goto(`${served.address}#${CODE}`);
    await page.reload();
    await expect.poll(() => page.locator('#place-code').textContent()).toBe(CODE);
    expect(await mapState(page)).toBe('webgl');
    const kept = await page.evaluate(async () => (await caches.keys()).length);
    expect(kept).toBe(1);
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
