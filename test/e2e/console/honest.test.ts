// Nothing false is shown in Chromium: positions say how wrong they may be, clicks are no finer than the map, a failed
// look-up leaves no code to copy, and each file has its own answer. Without WebGL: what is said does not depend on it.
import { beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { consoleCases } from '../../support/console-cases.js';
import { downloaded, hasChromium, mapState } from '../../support/console-page.js';
import { ServedConsole } from '../../support/served-console.js';

const HERE = { latitude: 21.0288, longitude: 105.8525 };

describe.skipIf(!hasChromium)('needs Chromium', () => {
  const served = new ServedConsole(false);
  let library: Hexcodes;
  beforeAll(async () => {
    library = await Hexcodes.load();
  });

  test.each(consoleCases('position'))(
    'a fix that may be %s m off has a code of %s',
    async (given, wanted) => {
      const accuracy = Number(given);
      const [of, words] = wanted.split(' | ');
      const resolution = Number(of);
      const { page, faults } = await served.open({
        geolocation: { ...HERE, accuracy },
        permissions: ['geolocation'],
      });
      await mapState(page);
      await page.locator('#my-position').click();
      const code = page.locator('#place-code');
      await code.waitFor();
      expect(await code.textContent()).toBe(
        library.encode(HERE.latitude, HERE.longitude, resolution).hexcodes,
      );
      expect(await page.locator('.facts').textContent()).toContain(`the device may be ${words} off`);
      expect(await page.locator('#resolution').getAttribute('max')).toBe(String(resolution));
      expect(await page.locator('#map').getAttribute('data-error')).toBe(String(accuracy));
      // It is watched: a better fix has a finer code.
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
      await page.context().close();
    },
  );

  test('a click takes the hexagon that is drawn, and does not move the map', async () => {
    const { page } = await served.open();
    await mapState(page);
    const drawn = Number(await page.locator('#map').getAttribute('data-grid'));
    expect(drawn).toBeLessThan(6);
    const before = await page.locator('#map').getAttribute('data-view');
    const box = (await page.locator('#map').boundingBox())!;
    await page.mouse.click(box.x + box.width * 0.45, box.y + box.height * 0.2);
    await page.locator('#place-code').waitFor();
    expect(library.read((await page.locator('#place-code').textContent())!)!.resolution).toBe(drawn);
    expect(await page.locator('#map').getAttribute('data-view')).toBe(before);
    await page.context().close();
  });

  test('a failed look-up leaves no code, no address and nothing to copy', async () => {
    const { page } = await served.open({}, '#HN-6GHP4-83RFR');
    await page.locator('#copy-code').waitFor();
    await page.locator('#code').fill('HN-6GHP4-83RFV');
    await page.locator('#code').press('Enter');
    await page.locator('.suggestion').first().waitFor();
    expect(await page.locator('#place-code, #copy-code').count()).toBe(0);
    expect(new URL(page.url()).hash).toBe('');
    await page.context().close();
  });

  test('files have a size of cell of their own, and each of several its answer', async () => {
    const { page } = await served.open({}, '#HN-6GHP4-83RFR');
    await page.locator('#code').fill('21.0288,105.8525');
    await page.locator('#resolution').fill('7');
    await page.click('#tab-file');
    expect(await page.locator('#file-resolution').inputValue()).toBe('13');
    const file = (name: string, rows: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(rows) });
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
    await page.context().close();
  });
});
