// Zones on every size of screen, by finger on phones, light and dark, in both languages and in forced colours; and with
// names, outlines and storages that do harm where nobody looks.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeOf, hasChromium, mapState } from '../../support/console-page.js';
import { screenFaults } from '../../support/screen-faults.js';
import { ServedConsole } from '../../support/served-console.js';

const KEY = 'hexcodes-zones';
const SQUARE = [
  [105.84, 21.02],
  [105.87, 21.02],
  [105.87, 21.04],
  [105.84, 21.04],
];
const kept = (zones: object[], more: object = {}): string => JSON.stringify({ zones, ...more });
const zone = (id: string, name: string, corners: number[][] = SQUARE) => ({ id, name, corners });

const SCREENS = [
  { width: 1440, height: 900, isTouched: false },
  { width: 1280, height: 720, isTouched: false },
  { width: 740, height: 360, isTouched: true },
  { width: 390, height: 844, isTouched: true },
  { width: 360, height: 640, isTouched: true },
  { width: 320, height: 640, isTouched: true },
];

/** Presses a part of the map, with a finger or a mouse. */
async function press(page: Page, isTouched: boolean, across: number, down: number): Promise<void> {
  const { x, y, width, height } = (await page.locator('#map').boundingBox())!;
  const at = [x + across * width, y + down * height] as const;
  if (isTouched) await page.touchscreen.tap(...at);
  else await page.mouse.click(...at);
}

async function waitForCodes(page: Page): Promise<void> {
  await expect.poll(() => page.textContent('#zones-status')).toMatch(/(?:codes|mã)\.$/);
}

describe.skipIf(!hasChromium)('needs Chromium', () => {
  describe.each([
    ['webgl', true],
    ['flat', false],
  ] as const)('%s', (state, hasWebgl) => {
    const served = new ServedConsole(hasWebgl);

    test.each(SCREENS)('$width × $height', async ({ width, height, isTouched }) => {
      const found: string[] = [];
      for (const [colorScheme, locale] of [
        ['light', 'vi'],
        ['dark', 'en'],
      ] as const) {
        const { page, faults, close } = await served.open(
          {
            viewport: { width, height },
            hasTouch: isTouched,
            isMobile: isTouched,
            colorScheme,
            locale,
            reducedMotion: 'reduce',
          },
          '#HN-6GHP4-7PK',
        );
        expect(await mapState(page)).toBe(state);
        const look = async (task: string, inSight: readonly string[]): Promise<void> => {
          await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
          const leastPx = isTouched ? 44 : 24;
          for (const fault of await page.evaluate(screenFaults, { leastPx, inSight }))
            found.push(`${colorScheme} ${locale}, ${task}: ${fault}`);
        };
        await page.click('#tab-zones');
        await page.click('#zone-draw');
        // The map makes way for the buttons.
        await page.waitForTimeout(300);
        await look('begun', ['#zone-corner', '#zone-undo', '#zone-end', '#zone-cancel']);
        for (const [across, down] of [
          [0.25, 0.2],
          [0.6, 0.2],
          [0.6, 0.45],
        ] as const)
          await press(page, isTouched, across, down);
        expect(await page.locator('.zone-corner').count()).toBe(3);
        await look('three corners', ['#zone-end']);
        if (isTouched) await page.tap('#zone-end');
        else await page.click('#zone-end');
        await waitForCodes(page);
        await page.locator('#zone-list summary').click();
        await page.locator('#zones-remove').scrollIntoViewIfNeeded();
        // A toast that says what was added lies over everything for a moment.
        await page.evaluate(() => document.getElementById('toast')?.classList.remove('is-shown'));
        await look('listed', []);
        if (width === 320 || width === 1440)
          for (const [rule, nodes] of (await axeOf(page)).violations)
            found.push(`${colorScheme}: axe ${rule} ${nodes.join(' ')}`);
        found.push(...faults);
        await close();
      }
      expect(found).toEqual([]);
    });

    test('in forced colours corners, sides and numbers are seen', async () => {
      const { page, close } = await served.open({ forcedColors: 'active' }, '#HN-6GHP4-7PK');
      await mapState(page);
      await page.evaluate(([key, text]) => localStorage.setItem(key!, text!), [KEY, kept([zone('a', 'A')])]);
      await page.reload();
      await mapState(page);
      await page.click('#tab-zones');
      await page.click('#zone-draw');
      await press(page, false, 0.3, 0.3);
      const strokes = await page
        .locator('.zone-area, .zone-corner')
        .evaluateAll((nodes) => nodes.map((node) => getComputedStyle(node).stroke));
      const ink = await page.evaluate(() => {
        document.body.style.color = 'CanvasText';
        return getComputedStyle(document.body).color;
      });
      expect(strokes).toEqual([ink, ink]);
      expect((await axeOf(page)).violations.filter(([rule]) => rule !== 'color-contrast')).toEqual([]);
      await close();
    });
  });

  describe('harm', () => {
    const served = new ServedConsole(false);
    const withKept = async (text: string) => {
      const shown = await served.open();
      await mapState(shown.page);
      await shown.page.evaluate(([key, value]) => localStorage.setItem(key!, value!), [KEY, text]);
      await shown.page.reload();
      await mapState(shown.page);
      return shown;
    };

    test('names of HTML and formulas stay words; zones are there on the next visit, before their panel is', async () => {
      const names = ['<img src=x onerror=alert(1)>', '=1+1', '"; drop', `${'dài '.repeat(15)}`];
      const { page, faults, close } = await withKept(kept(names.map((name, i) => zone(String(i), name))));
      await expect.poll(() => page.locator('.zone-area').count()).toBe(4);
      await page.click('#tab-zones');
      await waitForCodes(page);
      const shown = await page
        .locator('#zone-list input')
        .evaluateAll((all) => all.map((each) => (each as HTMLInputElement).value));
      expect(shown).toEqual([names[0], '1+1', names[2], 'dài '.repeat(15).trim()]);
      expect(await page.locator('#panel-zones img').count()).toBe(0);
      await page.fill('#zone-name-0', '  @cmd\t ');
      await page.press('#zone-name-0', 'Enter');
      await expect.poll(() => page.inputValue('#zone-name-0')).toBe('cmd');
      await page.fill('#zone-name-1', 'cmd');
      await page.press('#zone-name-1', 'Enter');
      await expect.poll(() => page.inputValue('#zone-name-1')).toBe('cmd 2');
      expect(faults).toEqual([]);
      await close();
    });

    test.each(['{', '[]', '{"zones":[{"id":1}]}', kept([zone('a', 'A', [[105, 21]])])])(
      'a storage of %s is none',
      async (text) => {
        const { page, faults, close } = await withKept(text);
        await page.click('#tab-zones');
        await page.waitForSelector('#zone-draw');
        expect(await page.locator('#zone-list li').count()).toBe(0);
        expect(faults).toEqual([]);
        await close();
      },
    );

    test('abroad there are no codes; the smallest zone has one; a country is too large', async () => {
      const paris = SQUARE.map(([lng, lat]) => [lng! - 103.5, lat! + 27.8]);
      const tiny = [
        [105.85, 21.03],
        [105.8500001, 21.03],
        [105.8500001, 21.0300001],
      ];
      const { page, faults, close } = await withKept(
        kept([zone('p', 'Paris', paris), zone('t', 'Tí', tiny)], { resolution: 9, isCompact: true }),
      );
      await page.click('#tab-zones');
      await waitForCodes(page);
      expect(await page.locator('#zone-list summary').allTextContents()).toEqual([
        'No cell of it lies in Viet Nam',
        expect.stringMatching(/^[12] codes$/),
      ]);
      const country = [
        [102, 8],
        [110, 8],
        [110, 23],
        [102, 23],
      ];
      await page.evaluate(
        ([key, text]) => localStorage.setItem(key!, text!),
        [KEY, kept([zone('v', 'Nước', country)])],
      );
      await page.reload();
      await mapState(page);
      await page.click('#tab-zones');
      await expect
        .poll(() => page.textContent('#zones-status'))
        .toBe('Nước may have more than 2,000,000 cells of this size: choose larger ones.');
      expect(await page.isDisabled('#zones-csv')).toBe(true);
      await page.selectOption('#zone-size', '5');
      await waitForCodes(page);
      expect(faults).toEqual([]);
      await close();
    });

    test('a browser that keeps nothing says so, and two tabs have the same zones', async () => {
      const { page, faults, close } = await withKept(kept([zone('a', 'A'), zone('b', 'B')]));
      await page.click('#tab-zones');
      await waitForCodes(page);
      const other = await page.context().newPage();
      await other.goto(served.address);
      await mapState(other);
      await other.click('#tab-zones');
      await waitForCodes(other);
      await other.locator('#zone-list .remove').first().click();
      await expect.poll(() => page.locator('#zone-list li').count()).toBe(1);
      expect(await page.inputValue('#zone-name-0')).toBe('B');
      await page.evaluate(() => {
        Storage.prototype.setItem = () => {
          throw new DOMException('', 'QuotaExceededError');
        };
      });
      expect(await page.locator('#zones-not-kept').isVisible()).toBe(false);
      await page.selectOption('#zone-size', '10');
      expect(await page.locator('#zones-not-kept').isVisible()).toBe(true);
      await waitForCodes(page);
      await other.locator('#zones-remove').click();
      await expect.poll(() => page.locator('#zone-list li').count()).toBe(0);
      await expect.poll(() => page.locator('.zone-area').count()).toBe(0);
      expect(faults).toEqual([]);
      await close();
    });
  });
});
