// Files in the console: dropped, chosen and pasted, converted in the page to the bytes that the command writes, summed
// up and downloaded, with nothing sent anywhere.
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CliFolder } from '../../support/cli.js';
import {
  axeOf,
  type ConsolePage,
  downloaded,
  dropFile,
  hasChromium,
  mapState,
  openBrowser,
  openConsole,
} from '../../support/console-page.js';
import { randomFrom } from '../../support/open-world.js';
import { ServerProcess } from '../../support/server-process.js';
import { CODE_ROWS } from '../../support/vectors.js';

const DROPPED_ROWS = 100_000;

/** Rows of which a few are abroad, at sea, or no positions at all. */
function csvRows(count: number): string {
  const random = randomFrom(21);
  const rows = Array.from({ length: count }, (_, i) => {
    if (i % 9973 === 17) return `${i},x,y,"a, b"`;
    return `${i},${(8 + random() * 15.5).toFixed(6)},${(102 + random() * 8).toFixed(6)},"Phố ""${i}"""`;
  });
  return `id,lat,lng,name\n${rows.join('\n')}\n`;
}

let server: ServerProcess;
let browser: Browser;
const folder = new CliFolder();
beforeAll(async () => {
  server = await ServerProcess.start({ isQuiet: true });
  // The conversion needs no map, and software WebGL would take its time from it.
  if (hasChromium) browser = await openBrowser(false);
});
afterAll(async () => {
  await browser?.close();
  await server.kill();
  folder.remove();
});

const statusOf = (page: Page): Promise<string | null> => page.locator('#file-status').textContent();

/** Chooses a file in the panel, and waits for the sentence that its rows are done. */
async function convert(
  page: Page,
  name: string,
  content: Buffer | string,
  done: string | RegExp,
): Promise<void> {
  await page.click('#tab-file');
  await page
    .locator('#file-input')
    .setInputFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) });
  await expect.poll(() => statusOf(page)).toMatch(done);
}

async function withPage(work: (shown: ConsolePage) => Promise<void>): Promise<void> {
  const shown = await openConsole(browser, server.port);
  try {
    await shown.page.waitForSelector('#panel-place:not([hidden])');
    await work(shown);
    expect(shown.faults).toEqual([]);
  } finally {
    await shown.close();
  }
}

describe.skipIf(!hasChromium)('needs Chromium', () => {
  test(`${DROPPED_ROWS} rows that are dropped leave as the bytes of the command, with its counts`, async () => {
    const csv = csvRows(DROPPED_ROWS);
    folder.write('rows.csv', csv);
    const ran = await folder.run(['encode', 'rows.csv', '-o', 'expected.csv']);
    expect(ran.code).toBe(0);
    const expected = folder.bytes('expected.csv');
    await withPage(async ({ page, faults }) => {
      expect(await mapState(page)).toBe('flat');
      await dropFile(page, 'rows.csv', csv);
      await page.waitForSelector('#file-download', { timeout: 120_000 });
      expect(await statusOf(page)).toBe('Done: 100,000 rows.');
      const { name, bytes } = await downloaded(page, '#file-download');
      expect(name).toBe('rows-hexcodes.csv');
      expect(bytes.equals(expected)).toBe(true);
      const lines = expected.toString().split('\n').slice(1, -1);
      const count = (ending: string): number => lines.filter((line) => line.endsWith(ending)).length;
      const drawn = count(',OK') + count(',NOT_FOUND');
      await expect.poll(() => page.getAttribute('#map', 'data-points')).toBe(String(drawn));
      const shown = await page.locator('#file-result').textContent();
      const rows = (of: number): string => of.toLocaleString('en');
      expect(shown).toContain(`${rows(count(',OK'))} positions have codes`);
      expect(shown).toContain(`${rows(count(',NOT_FOUND'))} rows lie outside Viet Nam`);
      expect(shown).toContain(`${rows(count(',INVALID_REQUEST'))} rows cannot be read`);
      expect(shown).toContain('Row 18');
      expect(shown).toMatch(/lat must be a decimal number/);
      const first = await page.locator('.by-province tbody tr').first().textContent();
      const [, code = '', counted = ''] = /([A-Z]{2,3})([\d,]+)$/.exec(first!)!;
      expect(counted).toBe(rows(lines.filter((line) => line.endsWith(`,${code},OK`)).length));
      expect((await axeOf(page)).violations).toEqual([]);
      expect(faults).toEqual([]);
    });
  });

  test('every recorded vector has the same code in the page, and the same centre', async () => {
    const rows = CODE_ROWS.map(({ lat, lng, resolution, code }) => ({
      line: `${lat},${lng},${resolution}`,
      code,
    }));
    await withPage(async ({ page }) => {
      await convert(
        page,
        'vectors.csv',
        `lat,lng,resolution\n${rows.map(({ line }) => line).join('\n')}\n`,
        /^Done/,
      );
      const encoded = (await downloaded(page, '#file-download')).bytes
        .toString()
        .trimEnd()
        .split('\n')
        .slice(1);
      expect(encoded.map((line) => line.split(',')[3])).toEqual(rows.map(({ code }) => code));
      await convert(page, 'codes.csv', `hexcodes\n${rows.map(({ code }) => code).join('\n')}\n`, /^Done/);
      const decoded = (await downloaded(page, '#file-download')).bytes
        .toString()
        .trimEnd()
        .split('\n')
        .slice(1);
      expect(decoded).toHaveLength(rows.length);
      for (const [i, line] of decoded.entries()) {
        const [code, lat, lng, resolution, status] = line.split(',');
        const row = CODE_ROWS[i]!;
        expect([code, Number(resolution), status]).toEqual([row.code, row.resolution, 'OK']);
        expect(Number(lat)).toBeCloseTo(row.centerLat, 9);
        expect(Number(lng)).toBeCloseTo(row.centerLng, 9);
      }
    });
  });

  test('pasted lines of a sheet, without a header row', async () => {
    await withPage(async ({ page }) => {
      await page.click('#tab-file');
      await page.fill('#file-text', 'Hoàn Kiếm\t21.0288\t105.8525\nBến Thành\t10,7725\t106,698\n');
      await page.click('#file-convert');
      await expect.poll(() => statusOf(page)).toBe('Done: 2 rows.');
      const { name, bytes } = await downloaded(page, '#file-download');
      expect(name).toBe('hexcodes.csv');
      const [head, first, second] = bytes.toString().split('\n');
      expect(head).toBe('column_1\tlat\tlng\thexcodes\tresolution\tadmin_code\tstatus');
      expect(first).toBe('Hoàn Kiếm\t21.0288\t105.8525\tHN-6GHP4-83RFR\t13\tHN\tOK');
      expect(second).toMatch(/\tHCM\tOK$/);
    });
  });

  test('gzip and NDJSON; a column of the same name; a file that is no text', async () => {
    await withPage(async ({ page }) => {
      const csv = 'lat;lng;status\r\n21,0288;105,8525;new\r\n';
      await convert(page, 'rows.csv.gz', gzipSync(csv), /^Done: 1 row/);
      const prefixed = await downloaded(page, '#file-download');
      expect(prefixed.name).toBe('rows-hexcodes.csv');
      expect(prefixed.bytes.toString().split('\r\n')[0]).toBe(
        'lat;lng;status;hexcodes_hexcodes;hexcodes_resolution;hexcodes_admin_code;hexcodes_status',
      );
      expect(await page.locator('#file-result').textContent()).toContain('begin with hexcodes_');

      const lines = '{"lat":21.0288,"lng":105.8525,"id":1}\n{"lat":48,"lng":2}\n';
      await convert(page, 'rows.ndjson', lines, /^Done: 2 rows/);
      const answer = await fetch(`http://127.0.0.1:${server.port}/v1/hexcodes/encode/bulk`, {
        method: 'POST',
        headers: { 'X-API-Key': server.key, 'Content-Type': 'application/x-ndjson' },
        body: lines,
      });
      expect((await downloaded(page, '#file-download')).bytes.toString()).toBe(await answer.text());

      await convert(
        page,
        'picture.csv',
        Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13]),
        /^The file cannot be read: /,
      );
      await convert(page, 'names.csv', 'name,street\na,b\n', /There is no column lat.*"name", "street"/);
      await convert(page, 'empty.csv', '', /The file is empty/);
      expect(await page.locator('#file-download').count()).toBe(0);
    });
  });
});
