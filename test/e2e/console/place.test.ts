// The console in Chromium: codes and positions in the box, on the map, in links and on the clipboard.
import { beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { neighbors } from '#hexcodes/geometry';
import { hasChromium, MAP_MS, mapState } from '../../support/console-page.js';
import { ServedConsole } from '../../support/served-console.js';

const CODE = 'HN-6GHP4-83RFR';

describe.skipIf(!hasChromium)('needs Chromium', () => {
  const served = new ServedConsole();
  let library: Hexcodes;
  beforeAll(async () => {
    library = await Hexcodes.load();
  });

  const positionOf = (text: string | null): [number, number] => {
    const [lat, lng] = (text ?? '').split(', ').map(Number);
    return [lat!, lng!];
  };

  test('the box answers while the library of the map is still on its way', async () => {
    const { page, faults } = await served.open();
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
    await page.reload();
    await page.locator('#code').fill('hn 6ghp4 83rfr');
    expect(await page.locator('#place-code').textContent()).toBe(CODE);
    await expect.poll(() => isMapAsked, { timeout: MAP_MS }).toBe(true);
    expect(await page.locator('#map[data-state]').count()).toBe(0);
    release();
    expect(await mapState(page)).toBe('webgl');
    expect(await page.locator('#map').getAttribute('data-place')).toBe(CODE);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('a link opens its code; a click on the map chooses the cell there; the address follows', async () => {
    const { page, faults } = await served.open({}, `#hn-6ghp4-83rfr`);
    expect(await page.locator('#place-code').textContent()).toBe(CODE);
    expect(await mapState(page)).toBe('webgl');
    // The view of the whole country has larger hexagons.
    await expect
      .poll(async () => Number(await page.locator('#map').getAttribute('data-grid')), { timeout: MAP_MS })
      .toBeGreaterThan(12);
    const box = (await page.locator('#map').boundingBox())!;
    await page.mouse.click(box.x + box.width / 2 + 300, box.y + box.height / 2);
    await expect.poll(() => page.locator('#place-code').textContent(), { timeout: MAP_MS }).not.toBe(CODE);
    const code = await page.locator('#place-code').textContent();
    expect(neighbors(library, CODE)).toContain(code);
    const [lat, lng] = positionOf(await page.locator('.facts dd').nth(1).textContent());
    expect(library.encode(lat, lng).hexcodes).toBe(code);
    expect(new URL(page.url()).hash).toBe(`#${code}`);
    expect(await page.locator('#code').inputValue()).toBe(code);
    await page.goto(`${served.address}#${CODE}`);
    expect(await page.locator('#place-code').textContent()).toBe(CODE);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('a wrong code is answered with those it may have been, the nearest to the view first', async () => {
    const { page, faults } = await served.open({}, `#${CODE}`);
    await mapState(page);
    await expect
      .poll(async () => Number(await page.locator('#map').getAttribute('data-grid')), { timeout: MAP_MS })
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
    await page.context().close();
  });

  test.each([
    ['21.0288, 105.8525', CODE],
    [`21°01'43.68"N 105°51'09"E`, CODE],
    ['https://www.google.com/maps/@21.0288,105.8525,17z', CODE],
    ['  HN–6GHP4–83RFR ', CODE],
  ])('%s is read', async (text, code) => {
    const { page } = await served.open();
    await page.locator('#code').fill(text);
    expect(await page.locator('#place-code').textContent()).toBe(code);
    await page.context().close();
  });

  test.each([
    ['Đà Nẵng', 'DNG', [16.07, 108.22]],
    ['quang ngai', 'QNG', [15.12, 108.79]],
    ['Đắc Lắc', 'DLK', [12.67, 108.04]],
    ['HN', 'HN', [21.02, 105.84]],
  ] as const)('%s leads to the city', async (text, code, [wantedLat, wantedLng]) => {
    const { page } = await served.open();
    await page.locator('#code').fill(text);
    await page.locator('#code').press('Enter');
    expect(await page.locator('#place-code').textContent()).toMatch(new RegExp(`^${code}-`));
    const [lat, lng] = positionOf(await page.locator('.facts dd').nth(1).textContent());
    expect(Math.hypot(lat - wantedLat, lng - wantedLng)).toBeLessThan(0.08);
    await page.context().close();
  });

  test('the country is shown as a whole, and is no town', async () => {
    const { page } = await served.open({}, `#${CODE}`);
    await mapState(page);
    const resolution = async (): Promise<number> =>
      Number(await page.locator('#map').getAttribute('data-grid'));
    await expect.poll(resolution, { timeout: MAP_MS }).toBeGreaterThan(12);
    await page.locator('#code').fill('Việt Nam');
    await page.locator('#code').press('Enter');
    expect(await page.locator('#box-answer').textContent()).toContain('the whole country');
    expect(await page.locator('.suggestion').count()).toBe(0);
    await expect.poll(resolution, { timeout: MAP_MS }).toBeLessThan(6);
    await page.context().close();
  });

  test('a position abroad, and a text that is nothing, are refused in words', async () => {
    const { page } = await served.open();
    await page.locator('#code').fill('13.7563, 100.5018');
    await page.locator('#code').press('Enter');
    expect(await page.locator('#box-answer').textContent()).toContain('in no province of Viet Nam');
    await page.locator('#code').fill('hello world');
    await page.locator('#code').press('Enter');
    expect(await page.locator('#box-answer').textContent()).toContain(
      'neither a code nor a position, nor a name',
    );
    expect(await page.locator('#place-code').count()).toBe(0);
    await page.context().close();
  });

  test('larger cells, neighbours and rings of a place', async () => {
    const { page } = await served.open({}, `#${CODE}`);
    await page.locator('#neighbors summary').click();
    expect((await page.locator('#neighbors .code').allTextContents()).sort()).toEqual(
      neighbors(library, CODE).sort(),
    );
    await page.locator('#ladder summary').click();
    expect(await page.locator('#ladder .code').count()).toBe(14);
    await page.locator('#resolution').fill('9');
    const larger = await page.locator('#place-code').textContent();
    expect(library.read(larger!)).toMatchObject({ resolution: 9, admin_code: 'HN' });
    await page.locator('#resolution').fill('13');
    expect(await page.locator('#place-code').textContent()).toBe(CODE);
    await page.locator('#rings').fill('2');
    expect(await page.locator('#rings-words').textContent()).toBe('19 cells (k = 2)');
    await page.context().close();
  });

  test('a place is copied as code, link, H3 index and GeoJSON', async () => {
    const { page } = await served.open(
      {
        permissions: ['clipboard-read', 'clipboard-write'],
      },
      `#${CODE}`,
    );
    await page.locator('#more-copies summary').click();
    const copied = async (id: string): Promise<string> => {
      await page.locator(`#copy-${id}`).click();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    expect(await copied('code')).toBe(CODE);
    expect(await copied('link')).toBe(`${served.address}#${CODE}`);
    expect(await copied('h3')).toBe(library.read(CODE)!.cell.toString(16));
    expect(JSON.parse(await copied('geojson'))).toMatchObject({ id: CODE, geometry: { type: 'Polygon' } });
    await page.context().close();
  });

  test('"my position" chooses the cell where the browser is', async () => {
    const { page } = await served.open({
      geolocation: { latitude: 21.0288, longitude: 105.8525 },
      permissions: ['geolocation'],
    });
    await page.locator('#my-position').click();
    await expect.poll(() => page.locator('#place-code').textContent()).toBe(CODE);
    await page.context().close();
  });
});
