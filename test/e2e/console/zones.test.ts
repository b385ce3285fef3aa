// Zones of the page: drawn, kept, listed and taken away, on every screen.

import type { CDPSession, Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  axeOf,
  type ConsolePage,
  downloaded,
  ENDS,
  hasChromium,
  mapState,
  pixelsOf,
  SCREENS,
  screenFaults,
  turnTo,
} from '../../support/console-page.js';
import { randomFrom } from '../../support/open-world.js';
import { ServedConsole } from '../../support/served-console.js';
import { sharedCommand } from '../../support/shared.js';

/** Zooms to Hoàn Kiếm, where the map shows a few kilometres. */
const PLACE = '#HN-6GHP4-7PK';

const folder = sharedCommand();

type Spot = readonly [across: number, down: number];

const SQUARE: readonly Spot[] = [
  [0.3, 0.3],
  [0.6, 0.3],
  [0.6, 0.6],
  [0.3, 0.6],
];

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
  // Keys go on from the field after it.
  const focused = await page.evaluate(async () => {
    await new Promise((resolve) => setTimeout(resolve));
    return document.activeElement?.closest('#zone-list') !== null;
  });
  expect(focused).toBe(true);
}

const FEW_SCREENS = SCREENS.filter(({ isTouched, width }) => isTouched || width === 1440);

async function tap(session: CDPSession, at: { x: number; y: number }): Promise<void> {
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at] });
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

async function waitForCodes(page: Page): Promise<void> {
  await expect.poll(() => page.textContent('#zones-status')).toMatch(/(?:codes|mã)\.$/);
}

describe.skipIf(!hasChromium)('needs Chromium: zones', () => {
  describe.each([
    ['webgl', true],
    ['flat', false],
  ] as const)('%s', (state, hasWebgl) => {
    const served = new ServedConsole(hasWebgl);
    let opened: ConsolePage;
    beforeAll(async () => {
      opened = await served.open({ permissions: ['clipboard-read', 'clipboard-write'] }, PLACE);
      expect(await mapState(opened.page)).toBe(state);
    });

    // One page for all tests: without zones, and with the view of the place.
    beforeEach(async () => {
      const { page } = opened;
      await page.click('#tab-zones');
      await page.waitForSelector('#zone-draw');
      if (await page.isVisible('#zones-remove')) await page.click('#zones-remove');
      for (const hash of ['#HN-6GHP4-83RFR', PLACE]) {
        await page.goto(served.address + hash);
        await expect.poll(() => page.getAttribute('#map', 'data-place')).toBe(hash.slice(1));
      }
      await page.click('#tab-zones');
    });

    if (!hasWebgl)
      test("list and file of two zones equal the command's", async () => {
        const { page, faults } = opened;
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
          await waitForCodes(page);
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
      });

    test('keys: a corner in the middle, one less, done, given up', async () => {
      const { page, faults } = opened;
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
      await waitForCodes(page);
      expect(await page.inputValue('#zone-name-0')).toBe('Zone 1');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('zone-name-0');
      await page.click('#zone-draw');
      await page.keyboard.press('Space');
      await page.keyboard.press('Escape');
      expect([await corners(), await page.locator('.zone-bar').count()]).toEqual([0, 0]);
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('zone-draw');
      expect(await page.locator('#zone-list li').count()).toBe(1);
      expect(faults).toEqual([]);
    });

    test('zones of a file come in; corners are dragged and moved by keys, or left as they were', async () => {
      const { page, faults } = opened;
      const ring = [105.84, 105.87, 105.87, 105.84].map((lng, i) => [lng, i < 2 ? 21.01 : 21.04]);
      const feature = (name: string, coordinates: unknown) =>
        `{"type":"Feature","properties":{"name":"${name}"},"geometry":{"type":"Polygon","coordinates":${JSON.stringify(coordinates)}}}`;
      const text = `{"type":"FeatureCollection","features":[${feature('Kho', [[...ring, ring[0]]])},${feature('Lỗ', [ring, ring])}]}`;
      const put = (buffer: Buffer) =>
        page.setInputFiles('#zones-file', { name: 'a.geojson', mimeType: 'application/geo+json', buffer });
      await put(Buffer.from('lat,lng'));
      await expect
        .poll(() => page.locator('#zones-imported').textContent())
        .toBe('This file is not GeoJSON with areas.');
      await put(Buffer.from(text));
      await expect
        .poll(() => page.locator('#zones-imported').textContent())
        .toBe('1 zones imported. Not imported: Lỗ (has a hole).');
      expect(await page.inputValue('#zone-name-0')).toBe('Kho');
      await waitForCodes(page);
      const ringNow = async (): Promise<number[][]> => {
        const { bytes } = await downloaded(page, '#zones-geojson');
        return JSON.parse(bytes.toString()).features[0].geometry.coordinates[0].slice(0, -1);
      };
      expect(await ringNow()).toEqual(ring);
      const edit = async (): Promise<void> => {
        await page.locator('#zone-list button', { hasText: 'Move corners' }).click();
        await expect.poll(() => page.locator('.zone-handle').count()).toBe(4);
        // The view comes to rest.
        await page.waitForTimeout(1500);
      };
      await edit();
      expect(await page.locator('#zone-corner').isVisible()).toBe(false);
      expect((await axeOf(page)).violations).toEqual([]);
      const box = (await page.locator('.zone-handle').nth(2).boundingBox())!;
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x - 60, y + 40, { steps: 3 });
      await page.mouse.up();
      await page.locator('.zone-handle').first().press('ArrowRight');
      await page.click('#zone-end');
      expect(await page.locator('.zone-handle').count()).toBe(0);
      await waitForCodes(page);
      const after = await ringNow();
      expect([after[1], after[3]]).toEqual([ring[1], ring[3]]);
      expect(after[2]![0]).toBeLessThan(ring[2]![0]! - 0.001);
      expect(after[2]![1]).toBeLessThan(ring[2]![1]! - 0.001);
      expect(after[0]![0]).toBeGreaterThan(ring[0]![0]!);
      expect(after[0]![1]).toBeCloseTo(ring[0]![1]!, 5);
      await edit();
      await page.locator('.zone-handle').first().press('ArrowDown');
      await page.keyboard.press('Escape');
      expect(await page.locator('.zone-handle').count()).toBe(0);
      expect(await ringNow()).toEqual(after);
      expect(faults).toEqual([]);
    });

    test('a double click ends; sides that cross do not', async () => {
      const { page, faults } = opened;
      await page.click('#zone-draw');
      await press(page, [SQUARE[0]!, SQUARE[2]!, SQUARE[1]!, SQUARE[3]!]);
      await page.click('#zone-end');
      expect(await page.textContent('#zone-status')).toMatch(/^The sides cross/);
      await page.click('#zone-undo');
      const { x, y } = await spotOf(page, [0.5, 0.15]);
      const zoomed = await page.getAttribute('#map', 'data-grid');
      await page.mouse.dblclick(x, y);
      await waitForCodes(page);
      expect(await page.getAttribute('#map', 'data-grid')).toBe(zoomed);
      expect(await page.locator('.zone-bar').count()).toBe(0);
      // The map is as it was: a click chooses a place again.
      const before = await page.locator('#place-code').textContent();
      await press(page, [[0.2, 0.2]]);
      await expect.poll(() => page.locator('#place-code').textContent()).not.toBe(before);
      expect(faults).toEqual([]);
    });

    test('rows of a file by zone: the column of the command, counts, and colours of the map', async () => {
      const { page, faults } = opened;
      await drawZone(page, SQUARE, 'Kho "A", Hoàn Kiếm');
      await drawZone(
        page,
        SQUARE.map(([x, y]): Spot => [x + 0.2, y + 0.2]),
        'B',
      );
      await waitForCodes(page);
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
      const answer = await convert('points.csv');
      // Blue and orange of the first two zones.
      for (const color of [
        [0, 114, 178],
        [230, 159, 0],
      ])
        await expect.poll(() => pixelsOf(page, color, 12)).toBeGreaterThan(200);
      expect(faults).toEqual([]);
      // Answers and counts are the same with each map.
      if (hasWebgl) return;
      const encoded = await folder.run('encode points.csv -o codes.csv');
      expect([encoded.code, encoded.stderr]).toEqual([0, expect.anything()]);
      const ran = await folder.run('contains codes.csv --in zones.csv --all -o all.csv');
      expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/inside/)]);
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
    });

    test.each(hasWebgl ? ENDS : FEW_SCREENS)('$width × $height', async (screen) => {
      const { page, faults } = opened;
      const { width, isTouched } = screen;
      const session = await page.context().newCDPSession(page);
      await turnTo(session, screen);
      const found: string[] = [];
      for (const [colorScheme, locale] of [
        ['light', 'vi'],
        ['dark', 'en'],
      ] as const) {
        // With WebGL one of both for each screen, as a canvas alone differs.
        if (hasWebgl && isTouched === (locale === 'vi')) continue;
        await page.emulateMedia({ colorScheme });
        if ((await page.getAttribute('html', 'lang')) !== locale) await page.click('#language');
        const look = async (task: string, inSight: readonly string[]): Promise<void> => {
          // A toast that says what was done lies over everything for a moment.
          await page.evaluate(() => document.getElementById('toast')?.classList.remove('is-shown'));
          await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))));
          const minPx = isTouched ? 44 : 24;
          for (const fault of await page.evaluate(screenFaults, { minPx, inSight }))
            found.push(`${colorScheme} ${locale}, ${task}: ${fault}`);
        };
        await page.click('#zone-draw');
        // The map makes way for the buttons.
        await page.waitForTimeout(300);
        await look('begun', ['#zone-corner', '#zone-undo', '#zone-end', '#zone-cancel']);
        for (const spot of [
          [0.25, 0.2],
          [0.6, 0.2],
          [0.6, 0.45],
        ] as const)
          if (isTouched) await tap(session, await spotOf(page, spot));
          else await press(page, [spot]);
        expect(await page.locator('.zone-corner').count()).toBe(3);
        await look('three corners', ['#zone-end']);
        const { x, y, width: across, height: down } = (await page.locator('#zone-end').boundingBox())!;
        if (isTouched) await tap(session, { x: x + across / 2, y: y + down / 2 });
        else await page.click('#zone-end');
        await waitForCodes(page);
        await page.locator('#zone-list summary').click();
        await page.locator('#zones-remove').scrollIntoViewIfNeeded();
        await look('listed', []);
        if (!hasWebgl && (width === 320 || width === 1440))
          for (const [rule, nodes] of (await axeOf(page)).violations)
            found.push(`${colorScheme}: axe ${rule} ${nodes.join(' ')}`);
        await page.click('#zones-remove');
      }
      await session.detach();
      expect(found).toEqual([]);
      expect(faults).toEqual([]);
    });
  });
});

const KEY = 'hexcodes-zones';

const KEPT_SQUARE = [
  [105.84, 21.02],
  [105.87, 21.02],
  [105.87, 21.04],
  [105.84, 21.04],
];

const kept = (zones: object[], more: object = {}): string => JSON.stringify({ zones, ...more });

const zone = (id: string, name: string, corners: number[][] = KEPT_SQUARE) => ({ id, name, corners });

describe.skipIf(!hasChromium)('needs Chromium: zones that are kept', () => {
  const served = new ServedConsole(false);
  let opened: ConsolePage;
  beforeAll(async () => {
    opened = await served.open();
  });

  const withKept = async (text: string) => {
    await opened.page.evaluate(([key, value]) => localStorage.setItem(key!, value!), [KEY, text]);
    await opened.page.reload();
    await mapState(opened.page);
    return opened;
  };

  test('names of HTML and formulas stay words; zones are there on the next visit, before their panel is', async () => {
    const names = ['<img src=x onerror=alert(1)>', '=1+1', '"; drop', `${'dài '.repeat(15)}`];
    const { page, faults } = await withKept(kept(names.map((name, i) => zone(String(i), name))));
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
  });

  test('a storage that is not JSON is none', async () => {
    const { page, faults } = await withKept('{');
    await page.click('#tab-zones');
    await page.waitForSelector('#zone-draw');
    expect(await page.locator('#zone-list li').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('abroad there are no codes; the smallest zone has one; a country is too large', async () => {
    const paris = KEPT_SQUARE.map(([lng, lat]) => [lng! - 103.5, lat! + 27.8]);
    const tiny = [
      [105.85, 21.03],
      [105.8500001, 21.03],
      [105.8500001, 21.0300001],
    ];
    const { page, faults } = await withKept(
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
    await withKept(kept([zone('v', 'Nước', country)]));
    await page.click('#tab-zones');
    await expect
      .poll(() => page.textContent('#zones-status'))
      .toBe('Nước may have more than 2,000,000 cells of this size: choose larger ones.');
    expect(await page.isDisabled('#zones-csv')).toBe(true);
    await page.selectOption('#zone-size', '5');
    await waitForCodes(page);
    expect(faults).toEqual([]);
  });

  test('in forced colours corners and sides are seen', async () => {
    const { page } = await withKept(kept([zone('a', 'A')]));
    await page.emulateMedia({ forcedColors: 'active' });
    await page.click('#tab-zones');
    await page.click('#zone-draw');
    await press(page, [[0.3, 0.3]]);
    // In one step: they are made again while the map flies.
    const strokes = await page.evaluate(() =>
      [...document.querySelectorAll('.zone-area, .zone-corner')].map((node) => getComputedStyle(node).stroke),
    );
    const ink = await page.evaluate(() => {
      document.body.style.color = 'CanvasText';
      return getComputedStyle(document.body).color;
    });
    expect(strokes).toEqual([ink, ink]);
    expect((await axeOf(page)).violations.filter(([rule]) => rule !== 'color-contrast')).toEqual([]);
    await page.emulateMedia({ forcedColors: 'none' });
  });

  test('a browser without storage says so, and two tabs share their zones', async () => {
    const { page, faults } = await withKept(kept([zone('a', 'A'), zone('b', 'B')]));
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
  });
});
