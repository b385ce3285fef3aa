// The page on phones, across, zoomed and narrow: the code of a place, its copy button and its directions are in sight,
// and nothing is wider than the screen. Names, pasted texts, links, Back and recent codes are tried on the way.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeOf, hasChromium, mapState } from '../../support/console-page.js';
import { ServedConsole } from '../../support/served-console.js';

const CODE = 'HN-6GHP4-83RFR';
const OTHER = 'HCM-GXC6M-QHR2P';

describe.skipIf(!hasChromium)('needs Chromium', () => {
  const served = new ServedConsole(false);

  const isInSight = (page: Page, selector: string): Promise<boolean> =>
    page.locator(selector).evaluate((node) => {
      const { left, right, top, bottom } = node.getBoundingClientRect();
      return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && right > left;
    });

  test.each([
    [1440, 900, 'light', 'vi'],
    [1280, 720, 'dark', 'en'],
    [740, 360, 'light', 'vi'],
    [640, 360, 'dark', 'vi'],
    [390, 844, 'dark', 'en'],
    [360, 640, 'light', 'vi'],
    [320, 640, 'light', 'en'],
  ] as const)('%i × %i, %s, %s', async (width, height, colorScheme, locale) => {
    const { page, faults } = await served.open({
      viewport: { width, height },
      colorScheme,
      locale,
    });
    await mapState(page);
    await page.locator('#code').fill('21.0288, 105.8525');
    await page.locator('#place-code').waitFor();
    for (const selector of ['#code', '#place-code', '#copy-code', '#directions summary', '#scale'])
      expect([selector, await isInSight(page, selector)]).toEqual([selector, true]);
    const map = (await page.locator('#map').boundingBox())!;
    expect(map.height).toBeGreaterThanOrEqual(height * 0.4);
    const overflow = (): Promise<number> =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(await overflow()).toBe(0);
    for (const tab of ['file', 'take-away']) {
      await page.locator(`#tab-${tab}`).click();
      await page.locator(`#panel-${tab} button:visible`).last().scrollIntoViewIfNeeded();
      expect(await isInSight(page, `#panel-${tab} button:visible >> nth=-1`)).toBe(true);
      expect(await overflow()).toBe(0);
    }
    expect((await axeOf(page)).violations).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('the way on: directions, a link of ours, names, Back, recent codes', async () => {
    const { page, faults } = await served.open();
    await mapState(page);
    await page.locator('#code').fill(`Địa chỉ: ${CODE} nhé anh`);
    expect(await page.locator('#place-code').textContent()).toBe(CODE);
    expect(await page.locator('#place-near').textContent()).toContain('near Hoàn Kiếm');
    await page.locator('#directions summary').click();
    expect(await page.locator('#directions-app').getAttribute('href')).toBe(
      `geo:21.028798,105.852465?q=21.028798,105.852465(${CODE})`,
    );
    // A place that is passed by is not kept, nor a step of the history.
    await page.waitForTimeout(1700);
    await page.locator('#code').fill(`https://codes.example/#${OTHER}&fbclid=abc`);
    expect(await page.locator('#place-code').textContent()).toBe(OTHER);
    await page.waitForTimeout(1700);
    await page.goBack();
    await expect.poll(() => page.locator('#place-code').textContent()).toBe(CODE);
    await page.locator('#code').fill('Hà Nội');
    await page.locator('.suggestion').first().waitFor();
    expect(await page.locator('#place-code').count()).toBe(0);
    expect(await page.locator('#recent .code').allTextContents()).toEqual([OTHER, CODE]);
    await page.locator('#recent .remove').first().click();
    expect(await page.locator('#recent .code').allTextContents()).toEqual([CODE]);
    await page.locator('#remove-recent').click();
    expect(await page.locator('#recent').count()).toBe(0);
    await page.locator('.suggestion').first().click();
    const name = await page.locator('#place-code').textContent();
    // A province is no house: its code is as coarse as it is wide.
    expect(name).toMatch(/^HN-[0-9A-Z]{2,4}$/);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('two tabs have one list of recent codes, and what is removed in one does not come back', async () => {
    const { page } = await served.open({}, `#${CODE}`);
    const other = await page.context().newPage();
    await other.goto(page.url().replace(/#.*/, ''));
    const codes = (): Promise<string[]> => other.locator('#recent .code').allTextContents();
    await expect.poll(codes).toEqual([CODE]);
    await other.locator('#remove-recent').click();
    await page.locator('#code').fill(OTHER);
    await expect.poll(codes).toEqual([OTHER]);
    await page.context().close();
  });

  test.each([
    ['#HN-6GHP4-83RFV', undefined],
    ['#HN-6GHP4-83RFR&fbclid=abc', CODE],
    ['#21.0288,105.8525', CODE],
    ['#HCM-6GHP4-83RFR', undefined],
  ])('the link %s', async (hash, code) => {
    const { page } = await served.open({}, hash);
    if (code === undefined) {
      await page.locator('.suggestion').first().waitFor();
      expect(await page.locator('.suggestion .code').allTextContents()).toContain(CODE);
      expect(await page.locator('#box-answer').textContent()).toContain('near ');
      expect(await page.locator('#code').inputValue()).toBe(hash.slice(1));
    } else expect(await page.locator('#place-code').textContent()).toBe(code);
    await page.context().close();
  });

  test.each([
    ['12 Hàng Khay, Hoàn Kiếm, Hà Nội', 'no streets and house numbers', 'Hoàn Kiếm'],
    ['QVH3+GX Hội An', 'Plus Code', 'Hội An'],
    ['https://maps.app.goo.gl/abcDEF123', 'No position stands in this link', undefined],
    ['///tiền.giấy.bút', 'what3words', undefined],
    ['0912 345 678', 'telephone number', undefined],
  ])('%s: said what it is, and the way on', async (text, words, town) => {
    const { page } = await served.open({ viewport: { width: 390, height: 844 } });
    await mapState(page);
    await page.locator('#code').fill(text);
    await page.locator('#code').press('Enter');
    expect(await page.locator('#box-answer').textContent()).toContain(words);
    if (town !== undefined) {
      await page.locator('.suggestion', { hasText: town }).first().click();
      expect(await page.locator('#place-near').textContent()).toContain(town);
    }
    await page.context().close();
  });

  test('the map names towns, slides names of provinces into view, and has codes in its hexagons', async () => {
    const { page } = await served.open({}, `#${OTHER}`);
    await mapState(page);
    const labels = (): Promise<string[]> => page.locator('.label').allTextContents();
    await expect
      .poll(async () => Number(await page.locator('#map').getAttribute('data-codes')))
      .toBeGreaterThan(3);
    await expect.poll(labels).toContain('TP. Hồ Chí Minh');
    for (let i = 0; i < 9; i++) await page.locator('.map-buttons button').nth(1).click();
    await expect.poll(labels).toContain('Quận 1');
    expect(await page.locator('#scale').textContent()).toMatch(/^[125]0* (?:k?m)$/);
    await page.locator('.map-buttons button').nth(2).click();
    await expect.poll(labels).toContain('Cà Mau');
    await page.mouse.move(900, 500);
    expect(await page.locator('#credit').textContent()).toContain('GeoNames');
    await page.context().close();
  });
});
