// Zones drawn by hand: by mouse, finger and keyboard, with and without WebGL; their list of codes and their file are
// those of the command, byte for byte.
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { CliFolder } from '../../support/cli.js';
import { axeOf, downloaded, hasChromium, mapState } from '../../support/console-page.js';
import { ServedConsole } from '../../support/served-console.js';

/** Zooms to Hoàn Kiếm, where the map shows a few kilometres. */
const PLACE = '#HN-6GHP4-7PK';

const folder = new CliFolder();
afterAll(() => folder.remove());

type Spot = readonly [across: number, down: number];
const SQUARE: readonly Spot[] = [
  [0.3, 0.3],
  [0.6, 0.3],
  [0.6, 0.6],
  [0.3, 0.6],
];

async function openPanel(page: Page): Promise<void> {
  await mapState(page);
  await page.click('#tab-zones');
  await page.waitForSelector('#zone-draw');
}

/** Where on the screen a part of the map is. */
async function spotOf(page: Page, [across, down]: Spot): Promise<{ x: number; y: number }> {
  const { x, y, width, height } = (await page.locator('#map').boundingBox())!;
  return { x: x + across * width, y: y + down * height };
}

async function press(page: Page, spots: readonly Spot[]): Promise<void> {
  for (const spot of spots) {
    const { x, y } = await spotOf(page, spot);
    await page.mouse.click(x, y);
  }
}

/** Draws a zone, which the button ends. */
async function drawZone(page: Page, spots: readonly Spot[], name?: string): Promise<void> {
  const before = await page.locator('#zone-list li').count();
  await page.click('#zone-draw');
  await press(page, spots);
  await page.click('#zone-end');
  await expect.poll(() => page.locator('#zone-list li').count()).toBe(before + 1);
  if (name === undefined) return;
  await page.fill(`#zone-name-${before}`, name);
  await page.press(`#zone-name-${before}`, 'Tab');
}

const listed = (page: Page): Promise<string | null> => page.locator('#zones-status').textContent();
const isListed = (page: Page) => expect.poll(() => listed(page), { timeout: 30_000 }).toMatch(/codes\.$/);

describe.skipIf(!hasChromium)('needs Chromium', () => {
  describe.each([
    ['webgl', true],
    ['flat', false],
  ] as const)('%s', (state, hasWebgl) => {
    const served = new ServedConsole(hasWebgl);

    test('list and file of two zones are those of the command', async () => {
      const { page, faults, close } = await served.open(
        { permissions: ['clipboard-read', 'clipboard-write'] },
        PLACE,
      );
      expect(await mapState(page)).toBe(state);
      await openPanel(page);
      const place = await page.locator('#place-code').textContent();
      await drawZone(page, SQUARE, 'Kho "A", Hoàn Kiếm');
      await drawZone(
        page,
        SQUARE.map(([x, y]): Spot => [x + 0.15, y + 0.15]),
      );
      // A press in a zone that is drawn chooses no place.
      expect(await page.locator('#place-code').textContent()).toBe(place);
      await page.selectOption('#zone-size', '11');
      for (const isCompact of [true, false]) {
        await page.setChecked('#zone-compact', isCompact);
        await isListed(page);
        const zones = await downloaded(page, '#zones-geojson');
        const list = await downloaded(page, '#zones-csv');
        expect([zones.name, list.name]).toEqual(['zones.geojson', 'zones.csv']);
        folder.write('zones.geojson', zones.bytes.toString());
        const [line = ''] = ((await page.locator('#zones-command').textContent()) ?? '').split('\n');
        expect(line.includes('--compact')).toBe(isCompact);
        const ran = await folder.run(line.split(' ').slice(1));
        expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/codes of 2 areas/)]);
        expect(list.bytes.toString()).toBe(folder.bytes('zones.csv').toString());
        const rows = list.bytes.toString().split('\n');
        expect(rows.length).toBeGreaterThan(30);
        const own = rows.filter((row) => row.startsWith('"Kho ""A"", Hoàn Kiếm",'));
        await page.locator('#zone-list .zone-copy').first().click();
        const codes = own.map((row) => row.split(',').at(-3)).join('\n');
        await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(codes);
        expect(own.length).toBeLessThan(rows.length - 2);
      }
      expect((await axeOf(page)).violations).toEqual([]);
      expect(faults).toEqual([]);
      await close();
    });

    test('keys: a corner in the middle, one less, done, given up', async () => {
      const { page, faults, close } = await served.open({}, PLACE);
      await openPanel(page);
      await page.focus('#zone-draw');
      await page.keyboard.press('Enter');
      const corners = () => page.locator('.zone-corner').count();
      // Both maps glide.
      const move = async (key: string): Promise<void> => {
        await page.keyboard.press(key);
        await page.waitForTimeout(700);
      };
      await page.keyboard.press('Space');
      await move('ArrowRight');
      await page.keyboard.press('Space');
      expect(await corners()).toBe(2);
      await page.keyboard.press('Backspace');
      expect(await corners()).toBe(1);
      await page.keyboard.press('Space');
      await page.keyboard.press('Enter');
      expect(await page.textContent('#zone-status')).toBe('A zone has three corners at least.');
      await move('ArrowDown');
      await page.keyboard.press('Space');
      expect(await page.textContent('#zone-status')).toBe('3 corners');
      await page.keyboard.press('Enter');
      await isListed(page);
      expect(await page.inputValue('#zone-name-0')).toBe('Zone 1');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('zone-name-0');
      await page.click('#zone-draw');
      await page.keyboard.press('Space');
      await page.keyboard.press('Escape');
      expect([await corners(), await page.locator('.zone-bar').count()]).toEqual([0, 0]);
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('zone-draw');
      expect(await page.locator('#zone-list li').count()).toBe(1);
      expect(faults).toEqual([]);
      await close();
    });

    test('a double click ends; sides that cross do not', async () => {
      const { page, faults, close } = await served.open({}, PLACE);
      await openPanel(page);
      await page.click('#zone-draw');
      await press(page, [SQUARE[0]!, SQUARE[2]!, SQUARE[1]!, SQUARE[3]!]);
      await page.click('#zone-end');
      expect(await page.textContent('#zone-status')).toMatch(/^The sides cross/);
      await page.click('#zone-undo');
      const { x, y } = await spotOf(page, [0.5, 0.15]);
      const zoomed = await page.getAttribute('#map', 'data-grid');
      await page.mouse.dblclick(x, y);
      await isListed(page);
      expect(await page.getAttribute('#map', 'data-grid')).toBe(zoomed);
      expect(await page.locator('.zone-bar').count()).toBe(0);
      // The map is as it was: a click chooses a place again.
      const before = await page.locator('#place-code').textContent();
      await press(page, [[0.2, 0.2]]);
      await expect.poll(() => page.locator('#place-code').textContent()).not.toBe(before);
      expect(faults).toEqual([]);
      await close();
    });
  });
});
