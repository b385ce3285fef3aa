// Zones drawn by hand: by mouse, finger and keyboard, with and without WebGL; their list of codes and their file are
// those of the command, byte for byte.
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { CliFolder } from '../../support/cli.js';
import { axeOf, downloaded, hasChromium, MAP_MS, mapState } from '../../support/console-page.js';
import { randomFrom } from '../../support/open-world.js';
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

/** How many pixels of a picture of the map are nearly of a colour. */
async function pixelsOf(page: Page, color: readonly number[]): Promise<number> {
  const png = (await page.locator('#map').screenshot()).toString('base64');
  return page.evaluate(
    async ([data, wanted]) => {
      const letters = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([letters], { type: 'image/png' }));
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')!;
      context.drawImage(bitmap, 0, 0);
      const bytes = context.getImageData(0, 0, bitmap.width, bitmap.height).data;
      let found = 0;
      for (let at = 0; at < bytes.length; at += 4)
        if (wanted.every((part, i) => Math.abs(bytes[at + i]! - part) <= 12)) found++;
      return found;
    },
    [png, color] as const,
  );
}

const listed = (page: Page): Promise<string | null> => page.locator('#zones-status').textContent();
const isListed = (page: Page) => expect.poll(() => listed(page)).toMatch(/codes\.$/);

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

    test('rows of a file by zone: the column of the command, counts, and colours of the map', async () => {
      const { page, faults, close } = await served.open({}, PLACE);
      await openPanel(page);
      await drawZone(page, SQUARE, 'Kho "A", Hoàn Kiếm');
      await drawZone(
        page,
        SQUARE.map(([x, y]): Spot => [x + 0.2, y + 0.2]),
        'B',
      );
      await isListed(page);
      folder.write('zones.csv', (await downloaded(page, '#zones-csv')).bytes.toString());
      const { features } = JSON.parse((await downloaded(page, '#zones-geojson')).bytes.toString());
      const corners: [number, number][] = features.flatMap(
        (each: { geometry: { coordinates: [number, number][][] } }) => each.geometry.coordinates[0],
      );
      const [lngs, lats] = [0, 1].map((axis) => corners.map((corner) => corner[axis]!)) as [
        number[],
        number[],
      ];
      const random = randomFrom(5);
      const within = (all: number[]): number =>
        Math.min(...all) + random() * (Math.max(...all) - Math.min(...all));
      const rows = Array.from({ length: 3000 }, (_, i) => {
        if (i % 100 === 7) return `${i},x,"a ""b""\nc",105.85`;
        if (i % 100 === 8) return `${i},48.8,"Paris, 1",2.3`;
        return `${i},${within(lats).toFixed(6)},"Phố ""${i}""${i % 9 === 0 ? '\r\nngõ 3' : ''}",${within(lngs).toFixed(6)}`;
      });
      folder.write('points.csv', `id,lat,"note, long",lng\n${rows.join('\n')}\n`);
      const json = rows.map((row) => `{"lat":${row.split(',')[1]},"lng":${row.split(',').at(-1)}}\n`);
      folder.write('points.ndjson', json.join(''));
      const convert = async (file: string): Promise<string> => {
        await page.click('#tab-file');
        await page
          .locator('#file-input')
          .setInputFiles({ name: file, mimeType: 'text/csv', buffer: Buffer.from(folder.bytes(file)) });
        await page.waitForSelector('#file-download');
        await expect.poll(() => page.textContent('#file-status')).toBe('Done: 3,000 rows.');
        return (await downloaded(page, '#file-download')).bytes.toString();
      };
      const encoded = await folder.run(['encode', 'points.csv', '-o', 'codes.csv']);
      expect([encoded.code, encoded.stderr]).toEqual([0, expect.anything()]);
      const ran = await folder.run(['contains', 'codes.csv', '--in', 'zones.csv', '--all', '-o', 'all.csv']);
      expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/inside/)]);
      const answer = await convert('points.csv');
      expect(answer).toBe(folder.bytes('all.csv').toString());
      const ofA = answer.match(/,"Kho ""A"", Hoàn Kiếm"\n/g)!.length;
      const ofB = answer.match(/,OK,B\n/g)!.length;
      const ofNone = answer.match(/,OK,\n/g)!.length;
      expect(Math.min(ofA, ofB, ofNone)).toBeGreaterThan(50);
      const counts = await page.locator('.by-zone tbody tr').allTextContents();
      expect(counts.map((text) => text.replace(/(?<=\d),(?=\d)/g, ''))).toEqual([
        `1Kho "A", Hoàn Kiếm${ofA}`,
        `2B${ofB}`,
        `in no zone${ofNone}`,
      ]);
      expect((await axeOf(page)).violations).toEqual([]);
      // Blue and orange of the first two zones.
      for (const color of [
        [0, 114, 178],
        [230, 159, 0],
      ])
        await expect.poll(() => pixelsOf(page, color), { timeout: MAP_MS }).toBeGreaterThan(200);
      // A member of each line of JSON.
      const lines = (await convert('points.ndjson'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines.length).toBe(3000);
      expect(lines.filter(({ zone }) => zone === 'B').length).toBe(ofB);
      expect(lines.filter(({ zone }) => zone === null).length).toBe(3000 - ofA - ofB);
      // Without the column the answer is that of encode.
      await page.uncheck('#file-zones');
      expect(await convert('points.csv')).toBe(folder.bytes('codes.csv').toString());
      expect(await page.locator('.by-zone').count()).toBe(0);
      await page.check('#file-zones');
      await page.click('#tab-zones');
      await page.click('#zones-remove');
      await page.click('#tab-file');
      expect(await page.locator('#file-zones').isVisible()).toBe(false);
      await page.click('.zones-changed');
      await expect.poll(() => page.locator('.zones-changed').isVisible()).toBe(false);
      expect(faults).toEqual([]);
      await close();
    });
  });
});
