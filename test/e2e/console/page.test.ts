// The console's page: a code's place, what it says of certainty and of itself, lists of points, and how it spells.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { neighbors } from '#hexcodes/geometry';
import { consoleCases } from '../../support/console-module.js';
import {
  axeOf,
  type ConsolePage,
  downloaded,
  hasChromium,
  mapState,
  pixelsOf,
} from '../../support/console-page.js';
import { ServedConsole } from '../../support/served-console.js';

const CODE = 'HN-6GHP4-83RFR';

const positionOf = (text: string | null): [number, number] => {
  const [lat, lng] = (text ?? '').split(', ').map(Number);
  return [lat!, lng!];
};

/** Around the lake of Hoàn Kiếm, half a kilometre wide. */
const ROWS = Array.from({ length: 400 }, (_, i) => `${21.026 + (i % 20) / 4000},${105.85 + i / 80_000}`);

/** How many pixels of a picture of the map are nearly of the colour that the summary has for its first province. */
async function pixelsOfFirstProvince(page: Page): Promise<number> {
  const color = await page
    .locator('.by-province .swatch')
    .first()
    .evaluate((swatch) => {
      const { backgroundColor } = getComputedStyle(swatch);
      return (backgroundColor.match(/\d+/g) ?? []).map(Number);
    });
  return pixelsOf(page, color);
}

/** Points of a file on the map of a page. */
async function seePoints({ page, faults }: ConsolePage): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await page.click('#tab-file');
  await page.fill('#file-text', `lat,lng\n${ROWS.join('\n')}\n`);
  await page.click('#file-convert');
  await page.waitForSelector('#file-download');
  expect(await page.getAttribute('#map', 'data-points')).toBe('400');
  expect(await page.locator('.by-province tbody tr').allTextContents()).toEqual(['Hà NộiHN400']);
  // Points take the place of their counts, and go when the layer is switched off.
  await page.click('.layers summary');
  await page.click('#layer-points');
  await page.click('#layer-counts');
  // The map glides to the points.
  await expect.poll(() => pixelsOfFirstProvince(page)).toBeGreaterThan(1000);
  await page.click('#layer-points');
  await expect.poll(() => pixelsOfFirstProvince(page)).toBeLessThan(100);
  expect(faults).toEqual([]);
  await page.click('#tab-place');
  await page.emulateMedia({ reducedMotion: 'reduce' });
}

const library = await Hexcodes.load();

describe.skipIf(!hasChromium)('needs Chromium: the map of WebGL', () => {
  const served = new ServedConsole();

  let shared: ConsolePage;
  beforeAll(async () => {
    shared = await served.open({}, '#hn-6ghp4-83rfr');
  });

  test('a link opens its code; a click on the map chooses the cell there; the address follows', async () => {
    // The page was opened with this code in small letters.
    const { page, faults } = shared;
    expect(await page.locator('#place-code').textContent()).toBe(CODE);
    expect(await mapState(page)).toBe('webgl');
    // The view of the whole country has larger hexagons.
    await expect
      .poll(async () => Number(await page.locator('#map').getAttribute('data-grid')))
      .toBeGreaterThan(12);
    const box = (await page.locator('#map').boundingBox())!;
    await page.mouse.click(box.x + box.width / 2 + 100, box.y + box.height / 2);
    await expect.poll(() => page.locator('#place-code').textContent()).not.toBe(CODE);
    const code = await page.locator('#place-code').textContent();
    expect(neighbors(library, CODE)).toContain(code);
    const [lat, lng] = positionOf(await page.locator('.facts dd').nth(1).textContent());
    expect(library.encode(lat, lng).hexcodes).toBe(code);
    expect(new URL(page.url()).hash).toBe(`#${code}`);
    expect(await page.locator('#code').inputValue()).toBe(code);
    await page.goto(`${served.address}#${CODE}`);
    expect(await page.locator('#place-code').textContent()).toBe(CODE);
    expect(faults).toEqual([]);
  });

  test('a wrong code is answered with likely codes, the nearest to the view first', async () => {
    const { page, faults } = shared;
    await expect
      .poll(async () => Number(await page.locator('#map').getAttribute('data-grid')))
      .toBeGreaterThan(12);
    await page.locator('#code').fill('HN-6GHP4-83RFX');
    const found = page.locator('.suggestion');
    await found.first().waitFor();
    expect(await found.first().locator('.code').textContent()).toBe(CODE);
    const distances = await found.locator('.away').allTextContents();
    const km = distances.map(
      (text) => Number.parseFloat(text.replaceAll(',', '')) * (/ km /.test(text) ? 1000 : 1),
    );
    expect(km.length).toBeGreaterThan(2);
    expect(km).toEqual([...km].sort((a, b) => a - b));
    await found.nth(1).click();
    expect(await page.locator('#place-code').textContent()).toBe(await page.locator('#code').inputValue());
    expect(faults).toEqual([]);
  });

  test('the country is shown as a whole, and is not a town', async () => {
    const { page } = shared;
    const resolution = async (): Promise<number> =>
      Number(await page.locator('#map').getAttribute('data-grid'));
    await expect.poll(resolution).toBeGreaterThan(12);
    await page.locator('#code').fill('Việt Nam');
    await page.locator('#code').press('Enter');
    expect(await page.locator('#box-answer').textContent()).toContain('the whole country');
    expect(await page.locator('.suggestion').count()).toBe(0);
    await expect.poll(resolution).toBeLessThan(6);
    const answerTo = async (text: string): Promise<string | null> => {
      await page.locator('#code').fill(text);
      return page.locator('#box-answer').textContent();
    };
    for (const text of ['VIET NAM', 'vietnam', 'Vi\u1EC7t\u00A0Nam', 'nước Việt Nam', 'VN']) {
      await expect.poll(() => answerTo('Việt')).not.toContain('the whole country');
      await expect.poll(() => answerTo(text), { message: text }).toContain('the whole country');
    }
    for (const text of ['Việt Lâm', 'Viet Nam Quoc Tu', ''])
      await expect.poll(() => answerTo(text), { message: text }).not.toContain('the whole country');
  });
  test('the map is worked by keys: Enter chooses the cell in its middle', async () => {
    const { page, faults } = shared;
    await page.locator('#code').fill('Việt Nam');
    await page.locator('#code').press('Enter');
    await expect.poll(() => page.locator('#place-code').count()).toBe(0);
    await mapState(page);
    await page.locator('#map canvas:not(.map-codes)').focus();
    await page.keyboard.press('Enter');
    // The middle of the country on the map lies in Laos: the nearest hexagon is meant.
    await page.locator('#place-code').waitFor();
    const tabs = page.locator('#tabs [role=tab]');
    await tabs.first().focus();
    await page.keyboard.press('End');
    expect(await tabs.last().getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Home');
    expect(await tabs.first().getAttribute('aria-selected')).toBe('true');
    expect(faults).toEqual([]);
  });

  test('points are drawn in the colours of their provinces, and go', () => seePoints(shared));

  test('the box answers while the library of the map is still on its way', async () => {
    const { page, faults } = shared;
    let isMapAsked = false;
    let release = (): void => undefined;
    const released = new Promise<void>((done) => {
      release = done;
    });
    await page.route('**/webgl-map-*.js', async (route) => {
      isMapAsked = true;
      await released;
      await route.continue();
    });
    await page.goto(served.address);
    await page.locator('#code').fill('hn 6ghp4 83rfr');
    expect(await page.locator('#place-code').textContent()).toBe(CODE);
    await expect.poll(() => isMapAsked).toBe(true);
    expect(await page.locator('#map[data-state]').count()).toBe(0);
    release();
    expect(await mapState(page)).toBe('webgl');
    expect(await page.locator('#map').getAttribute('data-place')).toBe(CODE);
    expect(faults).toEqual([]);
  });

  test('after the first visit the page opens without a network, and the page of the API after its own', async () => {
    const { page, faults } = await served.open({ serviceWorkers: 'allow' });
    await mapState(page);
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready;
    });
    await page.goto(`${served.address}docs`);
    await page.getByText('Test Request').first().waitFor();
    await page.context().setOffline(true);
    await page.goto(`${served.address}#${CODE}`);
    await page.reload();
    await expect.poll(() => page.locator('#place-code').textContent()).toBe(CODE);
    expect(await mapState(page)).toBe('webgl');
    const kept = await page.evaluate(async () => (await caches.keys()).length);
    expect(kept).toBe(1);
    await page.click('.top-links a');
    await page.getByText('Test Request').first().waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

interface Voice {
  readonly lang: string;
  readonly localService: boolean;
}

const HERE = { latitude: 21.0288, longitude: 105.8525 };

describe.skipIf(!hasChromium)('needs Chromium: without WebGL', () => {
  const served = new ServedConsole(false);

  describe('the page', () => {
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

    test('dark and light follow the system until one is chosen, and the choice stays', async () => {
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
      // Another tab follows, in its language, too.
      const other = await page.context().newPage();
      await other.goto(served.address);
      await other.locator('#theme').click();
      await expect.poll(theme).toBe('dark');
      const before = await page.locator('html').getAttribute('lang');
      await other.locator('#language').click();
      await expect.poll(() => page.locator('html').getAttribute('lang')).not.toBe(before);
      await page.context().close();
    });

    test('axe-core finds nothing on the first view and on a place: light, dark, and on a phone', async () => {
      const { page, faults, close } = await served.open();
      const screens = [
        ['light', 1200, 800],
        ['dark', 1200, 800],
        ['light', 390, 844],
      ] as const;
      const judge = async (): Promise<void> => {
        for (const [colorScheme, width, height] of screens) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height });
          const { violations, passes } = await axeOf(page);
          expect([colorScheme, width, violations]).toEqual([colorScheme, width, []]);
          expect(passes).toBeGreaterThan(20);
          const overflow = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          expect(overflow).toBe(0);
        }
      };
      await mapState(page);
      await page.locator('#panel-place h2').waitFor();
      await judge();
      await page.locator('#code').fill('HN-6GHP4-83RFX');
      await page.locator('.suggestion').first().click();
      for (const summary of await page.locator('#panel-place summary').all()) await summary.click();
      await judge();
      expect(faults).toEqual([]);
      await close();
    });
  });

  describe('a place', () => {
    let shared: ConsolePage;
    beforeAll(async () => {
      shared = await served.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    });

    test('how a code is made: on the first view and on a place, and a slip that is found out', async () => {
      const { page, faults } = shared;
      const parts = (): Promise<string[]> => page.locator('.made dt').allTextContents();
      const words = (): Promise<string[]> => page.locator('.made dd').allTextContents();
      await expect.poll(parts).toEqual(['HN', '6GHP4', '83RF', 'R']);
      await page.locator('#code').fill('HUE-6HQ64-HH9J6');
      await expect.poll(parts).toEqual(['HUE', '6HQ64', 'HH9J', '6']);
      expect((await words())[0]).toBe('Huế');
      await page.locator('#resolution').fill('7');
      expect(await parts()).toEqual(['HUE', '6HQ64', expect.any(String)]);
      await page.locator('#resolution').fill('13');
      await page.locator('#try-slip').click();
      expect(await page.locator('#place-code').count()).toBe(0);
      const found = page.locator('.suggestion .code');
      await found.first().waitFor();
      expect(await found.allTextContents()).toContain('HUE-6HQ64-HH9J6');
      expect(faults).toEqual([]);
    });

    test('a position abroad, and a text that is nothing, are refused in words', async () => {
      const { page } = shared;
      await page.locator('#code').fill('13.7563, 100.5018');
      await page.locator('#code').press('Enter');
      expect(await page.locator('#box-answer').textContent()).toContain('in no province of Viet Nam');
      await page.locator('#code').fill('hello world');
      await page.locator('#code').press('Enter');
      await expect
        .poll(() => page.locator('#box-answer').textContent())
        .toContain('neither a code nor a position, nor a name');
      expect(await page.locator('#place-code').count()).toBe(0);
    });

    test('of several codes in a message one is chosen by hand', async () => {
      const { page, faults } = shared;
      await page.locator('#code').fill(`giao ${CODE} rồi HCM-GXC6M-P9845`);
      const found = page.locator('.suggestion .code');
      expect(await found.allTextContents()).toEqual([CODE, 'HCM-GXC6M-P9845']);
      await found.nth(1).click();
      expect(await page.locator('#place-code').textContent()).toBe('HCM-GXC6M-P9845');
      expect(faults).toEqual([]);
    });

    test.each([
      ['21.0288, 105.8525', CODE],
      [`21°01'43.68"N 105°51'09"E`, CODE],
      ['https://www.google.com/maps/@21.0288,105.8525,17z', CODE],
      ['  HN–6GHP4–83RFR ', CODE],
      ['48Q 588584.75 2325571.51', CODE],
      ["VN-2000, KTT 105°45', X = 2326145,35; Y = 510458,11", CODE],
    ])('%s is read', async (text, code) => {
      const { page } = shared;
      await page.locator('#code').fill(text);
      expect(await page.locator('#place-code').textContent()).toBe(code);
    });

    test.each([
      ['Đà Nẵng', 'DNG', [16.07, 108.22]],
      ['quang ngai', 'QNG', [15.12, 108.79]],
      ['Đắc Lắc', 'DLK', [12.67, 108.04]],
      ['HN', 'HN', [21.02, 105.84]],
    ] as const)('%s leads to the city', async (text, code, [wantedLat, wantedLng]) => {
      const { page } = shared;
      await page.locator('#code').fill(text);
      await page.locator('#code').press('Enter');
      expect(await page.locator('#place-code').textContent()).toMatch(new RegExp(`^${code}-`));
      const [lat, lng] = positionOf(await page.locator('.facts dd').nth(1).textContent());
      expect(Math.hypot(lat - wantedLat, lng - wantedLng)).toBeLessThan(0.08);
    });
    test('larger cells, neighbours and rings of a place', async () => {
      const { page } = shared;
      await page.goto(`${served.address}#${CODE}`);
      await expect.poll(() => page.locator('#place-code').textContent()).toBe(CODE);
      await page.locator('#neighbors summary').click();
      expect((await page.locator('#neighbors .code').allTextContents()).sort()).toEqual(
        neighbors(library, CODE).sort(),
      );
      await page.locator('#ladder summary').click();
      expect(await page.locator('#ladder .code').count()).toBe(14);
      // Keys go on from the size that was chosen.
      await page.locator('#size-9').press('Enter');
      expect(await page.locator('#size-9:focus').count()).toBe(1);
      await page.locator('#size-13').press('Enter');
      await page.locator('#neighbors button').first().press('Enter');
      expect(await page.locator('#tab-place:focus').count()).toBe(1);
      await page.goto(`${served.address}#${CODE}`);
      await expect.poll(() => page.locator('#place-code').textContent()).toBe(CODE);
      await page.locator('#resolution').fill('9');
      const larger = await page.locator('#place-code').textContent();
      expect(library.read(larger!)).toMatchObject({ resolution: 9, admin_code: 'HN' });
      await page.locator('#resolution').fill('13');
      expect(await page.locator('#place-code').textContent()).toBe(CODE);
      await page.locator('#rings').fill('2');
      expect(await page.locator('#rings-words').textContent()).toBe('19 cells, 2 deep');
    });

    test('a place is copied as code, link, H3 index and GeoJSON', async () => {
      const { page } = shared;
      await page.goto(`${served.address}#${CODE}`);
      await expect.poll(() => page.locator('#place-code').textContent()).toBe(CODE);
      const held = () => page.evaluate(() => navigator.clipboard.readText());
      const copied = async (id: string, due: string): Promise<void> => {
        await page.locator(`#copy-${id}`).click();
        await expect.poll(held).toEqual(due);
      };
      await copied('code', CODE);
      await page.locator('#more-copies summary').click();
      await copied('link', `${served.address}#${CODE}`);
      await copied('h3', library.read(CODE)!.cell.toString(16));
      await copied('geojson', expect.stringMatching(/^\{.*\}$/s) as string);
      expect(JSON.parse(await held())).toMatchObject({ id: CODE, geometry: { type: 'Polygon' } });
    });

    test.each(['vi', 'en'])(
      '%s: near a border with the province behind it, and far from any',
      async (locale) => {
        const { page, faults } = shared;
        const isVi = locale === 'vi';
        if ((await page.getAttribute('html', 'lang')) !== locale) await page.click('#language');
        await page.locator('#code').fill('21.0757, 105.9872');
        const { border_m, certainty, neighbour_code } = library.borderOf(21.0757, 105.9872)!;
        const neighbour = ADMIN_UNITS.find(({ code }) => code === neighbour_code)!;
        const fact = page.locator('.facts dd').last();
        const percent = String(100 * certainty!);
        await expect.poll(() => fact.textContent()).toContain(`${neighbour.name} (${neighbour_code})`);
        const words = (await fact.textContent())!;
        expect(words).toContain(
          isVi ? `cách ranh giới tỉnh khoảng ${border_m} m: có thể thuộc` : `about ${border_m} m from`,
        );
        expect(words).toContain(`${isVi ? percent.replace('.', ',') : percent}%`);
        await page.locator('#code').fill('12.6667, 108.05');
        await expect.poll(() => fact.textContent()).toContain(isVi ? 'hơn 5 km' : 'more than 5 km');
        expect(await fact.textContent()).not.toContain('(');

        if (!(await page.locator('#how-sure tbody').isVisible())) await page.click('#how-sure summary');
        expect(await page.locator('#how-sure tbody tr').count()).toBe(library.kernel.bands.length);
        const text = await page.locator('#how-sure').textContent();
        expect(text).toContain(library.kernel.meta!.source.date.slice(0, 4));
        expect(text).toContain(isVi ? 'vẫn chỉ đúng ô ấy' : 'still names the same cell');
        expect(faults).toEqual([]);
      },
    );
  });

  describe('a map that is drawn plainly', () => {
    let shared: ConsolePage;
    beforeAll(async () => {
      shared = await served.open();
      await mapState(shared.page);
    });

    test('a click takes the hexagon that is drawn, and does not move the map', async () => {
      const { page } = shared;
      const drawn = Number(await page.locator('#map').getAttribute('data-grid'));
      expect(drawn).toBeLessThan(6);
      const before = await page.locator('#map').getAttribute('data-view');
      const box = (await page.locator('#map').boundingBox())!;
      await page.mouse.click(box.x + box.width * 0.45, box.y + box.height * 0.2);
      await page.locator('#place-code').waitFor();
      expect(library.read((await page.locator('#place-code').textContent())!)!.resolution).toBe(drawn);
      expect(await page.locator('#map').getAttribute('data-view')).toBe(before);
    });

    test('without WebGL everything works, on a map that is drawn plainly', async () => {
      const { page, faults } = shared;
      expect(await mapState(page)).toBe('flat');
      await page.locator('#code').fill(CODE);
      await expect.poll(() => page.locator('#map').getAttribute('data-place')).toBe(CODE);
      await expect
        .poll(async () => Number(await page.locator('#map').getAttribute('data-grid')))
        .toBeGreaterThan(12);
      const box = (await page.locator('#map').boundingBox())!;
      await page.mouse.click(box.x + 0.85 * box.width, box.y + box.height / 2);
      await expect.poll(() => page.locator('#place-code').textContent()).toMatch(/^HN-6GHP/);
      expect(await page.locator('#place-code').textContent()).not.toBe(CODE);
      expect((await axeOf(page)).violations).toEqual([]);
      expect(faults).toEqual([]);
    });
    test('points are drawn in the colours of their provinces, and go', () => seePoints(shared));
  });

  describe('what it says of itself', () => {
    let shared: ConsolePage;
    beforeAll(async () => {
      shared = await served.open({ permissions: ['geolocation'] });
      await mapState(shared.page);
    });

    test.each(consoleCases('position'))(
      'a fix that may be %s m off has a code of %s',
      async (given, wanted) => {
        const accuracy = Number(given);
        const [of, words] = wanted.split(' | ');
        const resolution = Number(of);
        const { page, faults } = shared;
        await page.context().setGeolocation({ ...HERE, accuracy });
        await page.locator('#my-position').click();
        const code = page.locator('#place-code');
        await expect
          .poll(() => code.textContent())
          .toBe(library.encode(HERE.latitude, HERE.longitude, resolution).hexcodes);
        expect(await page.locator('.facts').textContent()).toContain(`the device may be ${words} off`);
        expect(await page.locator('#resolution').getAttribute('max')).toBe(String(resolution));
        expect(await page.locator('#map').getAttribute('data-error')).toBe(String(accuracy));
        // The position is watched: a better fix has a finer code.
        await page.context().setGeolocation({ ...HERE, accuracy: 3 });
        await expect
          .poll(() => code.textContent())
          .toBe(library.encode(HERE.latitude, HERE.longitude, 13).hexcodes);
        // Another place ends it.
        await page.locator('#code').fill('DNG-6GPTP-5CG7F');
        await page.locator('#code').fill('16.0678, 108.2208');
        expect(await page.locator('#my-position').getAttribute('aria-pressed')).toBe('false');
        expect(await page.locator('#map').getAttribute('data-error')).toBe('');
        expect(faults).toEqual([]);
      },
    );

    test('a failed look-up leaves no code and nothing to copy; the address leads back to the place before', async () => {
      const { page } = shared;
      await page.goto(`${served.address}#HN-6GHP4-83RFR`);
      await page.locator('#copy-code').waitFor();
      await page.locator('#code').fill('HN-6GHP4-83RFV');
      await page.locator('#code').press('Enter');
      await page.locator('.suggestion').first().waitFor();
      expect(await page.locator('#place-code, #copy-code').count()).toBe(0);
      expect(new URL(page.url()).hash).toBe('#HN-6GHP4-83RFR');
      await page.reload();
      await expect.poll(() => page.locator('#place-code').textContent()).toBe('HN-6GHP4-83RFR');
    });

    test('files have a size of cell of their own, and each of several its answer', async () => {
      const { page } = shared;
      await page.locator('#code').fill('21.0288,105.8525');
      await page.locator('#resolution').fill('7');
      await page.click('#tab-file');
      expect(await page.locator('#file-resolution').inputValue()).toBe('13');
      const file = (name: string, rows: string) => ({
        name,
        mimeType: 'text/csv',
        buffer: Buffer.from(rows),
      });
      await page
        .locator('#file-input')
        .setInputFiles([
          file('one.csv', 'lat,lng\n21.0288,105.8525\n'),
          file('two.csv', 'lat,lng\n16.0678,108.2208\n'),
        ]);
      const names = page.locator('.file-name');
      await expect.poll(() => names.allTextContents()).toEqual(['one.csv', 'two.csv']);
      const { name, bytes } = await downloaded(page, '.file-answer:nth-child(2) button.strong');
      expect([name, bytes.toString()]).toEqual([
        'two-hexcodes.csv',
        `lat,lng,hexcodes,resolution,admin_code,status\n16.0678,108.2208,${library.encode(16.0678, 108.2208).hexcodes},13,DNG,OK\n`,
      ]);
      await expect.poll(() => page.locator('#map').getAttribute('data-points')).toBe('2');
      // Files of older programs, and one whose columns are exchanged.
      const encoded = (name: string, bytes: Buffer) => ({ name, mimeType: 'text/csv', buffer: bytes });
      const rows = 'tên,vĩ độ,kinh độ\nĐại Nội,16.4698,107.5786\n';
      await page
        .locator('#file-input')
        .setInputFiles([
          encoded('utf16.csv', Buffer.from(`\ufeff${rows}`, 'utf16le')),
          encoded(
            'old.csv',
            Buffer.from([...Buffer.from('t\xean,lat,lng\nHu\xea\xec,16.4698,107.5786\n', 'latin1')]),
          ),
          encoded('codes.txt', Buffer.from('HUE-6HQ64-HH9J6\n')),
          encoded('swapped.csv', Buffer.from('lat,lng\n107.5786,16.4698\n')),
        ]);
      await expect
        .poll(() => names.allTextContents())
        .toEqual(['utf16.csv', 'old.csv', 'codes.txt', 'swapped.csv']);
      const answers = page.locator('.file-answer');
      expect(await answers.nth(0).locator('h2').allTextContents()).toContain('1 positions have codes');
      expect(await answers.nth(3).textContent()).toContain('look exchanged');
      const old = await downloaded(page, '.file-answer:nth-child(2) button.strong');
      expect(old.bytes.toString()).toContain('Huế,16.4698,107.5786,HUE-');
      const codes = await downloaded(page, '.file-answer:nth-child(3) button.strong');
      expect(codes.bytes.toString()).toMatch(/^hexcodes,.*\nHUE-6HQ64-HH9J6,/);
    });
  });

  test('a tap at the scale of the country says how large its hexagon is, for as long as the last one', async () => {
    const { page, close } = await served.open();
    await mapState(page);
    const box = (await page.locator('#map').boundingBox())!;
    const tap = (right: number): Promise<void> =>
      page.mouse.click(box.x + box.width * right, box.y + box.height * 0.2);
    await page.clock.install();
    await tap(0.38);
    expect(await page.locator('.toast').textContent()).toMatch(/^This hexagon has edges of \d+ km\. Zoom in/);
    await page.clock.runFor(2500);
    await tap(0.39);
    await page.clock.runFor(2500);
    expect(await page.locator('.toast.is-shown').count()).toBe(1);
    await page.clock.runFor(2500);
    expect(await page.locator('.toast.is-shown').count()).toBe(0);
    await close();
  });

  describe('spelling', () => {
    /** The page of a device with these voices, which notes what they read. */
    const opened = async (locale: string, voices: readonly Voice[]) => {
      const permissions = ['clipboard-read', 'clipboard-write'];
      const shown = await served.open({ locale, permissions });
      await shown.page.addInitScript((given) => {
        const noted = globalThis as unknown as { read: string[] };
        noted.read = [];
        Object.defineProperty(globalThis, 'SpeechSynthesisUtterance', {
          value: class {
            voice: unknown;
            constructor(readonly text: string) {}
          },
        });
        const speak = ({ text, voice }: { text: string; voice: { lang: string } }) =>
          noted.read.push(`${voice.lang}: ${text}`);
        const value = { getVoices: () => given, addEventListener: () => {}, cancel: () => {}, speak };
        Object.defineProperty(globalThis, 'speechSynthesis', { value });
      }, voices);
      await shown.page.goto(`${served.address}#HN-6GHP4-83RFR`);
      await shown.page.reload();
      await mapState(shown.page);
      await shown.page.locator('#spell summary').focus();
      await shown.page.keyboard.press('Enter');
      await shown.page.locator('#copy-spelling').waitFor();
      return shown;
    };
    const readBy = (page: Page): Promise<string[]> =>
      page.evaluate(() => (globalThis as unknown as { read: string[] }).read);

    test('in Vietnamese, by a voice of the device', async () => {
      const voices = [
        { lang: 'vi-VN', localService: false },
        { lang: 'en-US', localService: true },
        { lang: 'vi_VN', localService: true },
      ];
      const { page, faults, close } = await opened('vi-VN', voices);
      expect((await page.locator('#spell ol').allTextContents())[0]).toBe('H HuếN Ninh Bình');
      await page.click('#read-aloud');
      expect(await readBy(page)).toEqual([
        expect.stringMatching(/^vi_VN: H như Huế, N như Ninh Bình; sáu, G như Gia Lai/),
      ]);
      await page.click('#copy-spelling');
      expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^HN-6GHP4-83RFR: H như Huế/);
      expect((await axeOf(page)).violations).toEqual([]);
      await page.click('#language');
      await expect.poll(() => page.locator('#spell ol').first().textContent()).toBe('H HotelN November');
      expect(faults).toEqual([]);
      await close();
    });

    test('without a local Vietnamese voice no remote one reads, and the page says so', async () => {
      const { page, faults, close } = await opened('vi-VN', [{ lang: 'vi-VN', localService: false }]);
      expect(await page.locator('#read-aloud').isVisible()).toBe(false);
      expect(await page.locator('#spell p').textContent()).toBe(
        'Thiết bị này không có giọng đọc tiếng Việt.',
      );
      expect(faults).toEqual([]);
      await close();
    });
  });
});
