// Files in the console's page: conversions, files of other programs, and the files that the page itself is made of.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { unzipSync, zipSync } from 'fflate';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { broughtFile } from '../../support/brought-files.js';
import { consoleCases } from '../../support/console-module.js';
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
import { getBytes } from '../../support/http-calls.js';
import { openWorld, randomFrom } from '../../support/open-world.js';
import { startServer } from '../../support/server.js';
import { ServerProcess } from '../../support/server-process.js';
import { sharedCommand, sharedOf, sharedServer } from '../../support/shared.js';
import { CODE_ROWS } from '../../support/vectors.js';

// Files as dispatchers have them, by the names of test/fixtures/console-cases.tsv.
const ROWS = 'tên,vĩ độ,kinh độ\nĐại Nội,16.4698,107.5786\nPari,48.85,2.35\n';
const WINDOWS_1258 = Buffer.from('t\xean,lat,lng\nHu\xea\xec,16.4698,107.5786\n', 'latin1');
const text = (content: string): Buffer => Buffer.from(content);

const GPX = `<gpx version="1.1"><wpt lat="16.4698" lon="107.5786"><name>Đại Nội</name></wpt>
<trk><name>Sáng</name><trkseg><trkpt lat="21.0288" lon="105.8525"/><trkpt lat="48" lon="2"/></trkseg></trk></gpx>`;
const placemark = (geometry: string): string =>
  `<kml><Document><Placemark><name>Đại Nội</name>${geometry}</Placemark></Document></kml>`;
const KML = placemark('<Point><coordinates>107.5786,16.4698,0</coordinates></Point>');
const LINES = placemark('<LineString><coordinates>107.5786,16.4698 107.6,16.5</coordinates></LineString>');

/** The workbook with one more cell in the last corner that a sheet may have. */
function farCell(): Buffer {
  const parts = unzipSync(readFileSync('test/fixtures/points.xlsx'));
  const name = Object.keys(parts).find((each) => /worksheets\/sheet1\.xml$/.test(each))!;
  const row = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>';
  const xml = Buffer.from(parts[name]!).toString().replace('</sheetData>', row);
  return Buffer.from(zipSync({ ...parts, [name]: text(xml) }));
}

const DISPATCHER_FILES: Readonly<Record<string, () => Buffer>> = {
  'plain.csv': () => text('id,lat,lng\n1,16.4698,107.5786\n2,21.0288,105.8525\n'),
  'tiếng việt.csv': () => text(ROWS),
  'mark.csv': () => text(`\ufeff${ROWS}`),
  'semicolons.csv': () => text('tên;vĩ độ;kinh độ\nĐại Nội;16,4698;107,5786\n'),
  'tabs.tsv': () => text('lat\tlng\n16.4698\t107.5786\n'),
  'sep.csv': () => text('sep=;\nlat;lng\n16,4698;107,5786\n'),
  'utf16.csv': () => Buffer.from(`\ufeff${ROWS}`, 'utf16le'),
  'utf16be.csv': () => Buffer.from(`\ufeff${ROWS}`, 'utf16le').swap16(),
  'windows-1258.csv': () => WINDOWS_1258,
  'headerless.csv': () => text('Đại Nội,16.4698,107.5786\nHồ Gươm,21.0288,105.8525\n'),
  'codes.txt': () => text('HUE-6HQ64-HH9J6\nhn 6ghp4 83rfr\n'),
  'mã.csv': () => text('stt;Mã\n1;HUE-6HQ64-HH9J6\n'),
  'tọa độ.csv': () => text('tên,tọa độ\nĐại Nội,"16.4698, 107.5786"\nkhông có,\n'),
  'swapped.csv': () => text('lat,lng\n107.5786,16.4698\n'),
  'other names.csv': () => text('nơi,bắc,đông\nĐại Nội,16.4698,107.5786\n'),
  'lines.ndjson': () => text('{"lat":16.4698,"lng":107.5786}\n{"lat":48,"lng":2}\n'),
  'packed.csv.gz': () => gzipSync(ROWS),
  'workbook.xlsx': () => readFileSync('test/fixtures/points.xlsx'),
  'places.parquet': () => text('PAR1\0\0\0'),
  'places.geojson': () =>
    text(
      '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"Hồ Gươm"},"geometry":{"type":"Point","coordinates":[105.8525,21.0288]}},{"type":"Feature","properties":null,"geometry":null}]}',
    ),
  'areas.geojson': () => text('{"type":"Polygon","coordinates":[[[105,21],[106,21],[106,22],[105,21]]]}'),
  'meters.geojson': () =>
    text(
      '{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"EPSG:3405"}},"features":[{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[588000,2325000]}}]}',
    ),
  'list.json': () => text('[{"name":"a","lat":21.0288,"lng":105.8525},\n {"lat":10.77,"lng":106.69}]'),
  'answer.json': () => text('{"count":1,"results":[{"name":"a","position":{"lat":21.0288,"lng":105.8525}}]}'),
  'pairs.json': () => text('[[105.8525,21.0288],\n[106.69,10.77],[2.29,48.85]]'),
  'codes.json': () => text('["HN-6GHP4-83RFR","HN-6GHP4-83RFQ"]'),
  'cut.json': () => text('[{"lat":21.0288,"lng":105.8525},'),
  'shops.gpkg': () => broughtFile('shops.gpkg'),
  'layers.gpkg': () => broughtFile('gdal-two-layers.gpkg'),
  'old.xls': () => Buffer.from('d0cf11e0a1b11ae1', 'hex'),
  'scan.pdf': () => text('%PDF-1.7\n'),
  'photo.csv': () => Buffer.from('89504e470d0a1a0a0000000d', 'hex'),
  'login.csv': () => text('<!DOCTYPE html><html><body>Mời đăng nhập</body></html>'),
  'packed.zip': () => Buffer.from(zipSync({ 'points.csv': text(ROWS) })),
  'broken.xlsx': () => readFileSync('test/fixtures/points.xlsx').subarray(0, 900),
  'far.xlsx': farCell,
  'ride.gpx': () => text(GPX),
  'places.kml': () => text(KML),
  'places.kmz': () => Buffer.from(zipSync({ 'doc.kml': text(KML) })),
  'lines.kml': () => text(LINES),
  'cut.gpx': () => text(GPX.slice(0, 150)),
  'empty.csv': () => Buffer.alloc(0),
  'array.json': () => text('[{"lat":16.4698,"lng":107.5786}]'),
};

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

const folder = sharedCommand();

beforeAll(async () => {
  server = await ServerProcess.start({ isQuiet: true });
  // The conversion needs no map, and software WebGL would take its time from it.
  if (hasChromium) browser = await openBrowser(false);
});

afterAll(async () => {
  await browser?.close();
  await server.kill();
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

/** The page of all conversions. */
let shared: ConsolePage | undefined;

async function withPage(work: (shown: ConsolePage) => Promise<void>): Promise<void> {
  shared ??= await openConsole(browser, server.port);
  await mapState(shared.page);
  await work(shared);
  expect(shared.faults).toEqual([]);
}

describe.skipIf(!hasChromium)('needs Chromium: conversions', () => {
  test('columns that are exchanged: one press, and the bytes are those of the command with the right columns', async () => {
    const rows = Array.from({ length: 300 }, (_, i) => `shop ${i},${105.8 + i / 1e4},${21 + i / 1e4}`);
    const csv = `name,lat,lng\n${rows.join('\n')}\n`;
    folder.write('shops.csv', csv);
    const ran = await folder.run('encode shops.csv --lat lng --lng lat -o right.csv');
    expect(ran.code).toBe(0);
    await withPage(async ({ page }) => {
      await convert(page, 'shops.csv', csv, /^Done: 300 rows/);
      expect(await page.locator('#file-result').textContent()).toContain('0 positions have codes');
      expect(await page.locator('#file-download').getAttribute('class')).toBe('');
      expect(await page.locator('#clear-points').isVisible()).toBe(false);
      await page.click('#file-exchange');
      await expect
        .poll(() => page.locator('#file-result h2').allTextContents())
        .toContain('300 positions have codes');
      expect(await page.locator('#file-exchange').count()).toBe(0);
      const { bytes } = await downloaded(page, '#file-result [data-text="download"]');
      expect(bytes.equals(folder.bytes('right.csv'))).toBe(true);
      // The points of the answer leave the map by a button that counts them.
      expect(await page.locator('#clear-points').textContent()).toBe('Clear 300 points');
      await page.click('#clear-points');
      await expect.poll(() => page.getAttribute('#map', 'data-points')).toBe('0');
      expect(await page.locator('#clear-points').isVisible()).toBe(false);
    });
  });

  test(`${DROPPED_ROWS} rows that are dropped leave as the bytes of the command, with its counts`, async () => {
    const csv = csvRows(DROPPED_ROWS);
    folder.write('rows.csv', csv);
    const ran = await folder.run('encode rows.csv -o expected.csv');
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

  test('every recorded vector has its code and its centre in the page', async () => {
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

  test('what only the command reads, pasted; a file that has gone meanwhile', async () => {
    await withPage(async ({ page }) => {
      await page.click('#tab-file');
      await page.fill('#file-text', 'id,wkt\n1,"LINESTRING (105 21, 106 22)"\n');
      await page.click('#file-convert');
      await expect
        .poll(() => page.locator('#file-result').textContent())
        .toContain('hexcodes encode FILE -o hexcodes.csv');
      folder.write('gone.csv', 'lat,lng\n21.0288,105.8525\n');
      await page.setInputFiles('#file-input', `${folder.path}/gone.csv`);
      await page.locator('#file-download').waitFor();
      rmSync(`${folder.path}/gone.csv`);
      await page.click('.file-answer summary');
      await page.click('.convert-again');
      await expect.poll(() => statusOf(page)).toMatch(/it has been changed or moved: choose it again$/);
    });
  });

  test('gzip and NDJSON; a column of the same name; a file that is not text', async () => {
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

const CASES = consoleCases('file');

describe.skipIf(!hasChromium)('needs Chromium: files of other programs', () => {
  let page: Page;
  let faults: string[];
  beforeAll(async () => {
    ({ page, faults } = await openConsole(browser, server.port));
    await mapState(page);
    await page.click('#tab-file');
  });

  const put = async (page: Page, ...names: string[]): Promise<void> => {
    const files = names.map((name) => ({
      name,
      mimeType: 'application/octet-stream',
      buffer: DISPATCHER_FILES[name]!(),
    }));
    await page.locator('#file-input').setInputFiles(files);
    await expect
      .poll(() => page.locator('.file-answer').count(), { timeout: 60_000 + 4000 * names.length })
      .toBe(names.length);
  };

  test('the table has more than 20 files, all in one drop', async () => {
    expect(CASES.length).toBeGreaterThan(20);
    await put(page, ...CASES.map(([name]) => name));
    const answers = await page.locator('.file-answer').allTextContents();
    for (const [i, [name, wanted]] of CASES.entries())
      for (const words of wanted.split(' | '))
        expect([name, answers[i]]).toEqual([name, expect.stringContaining(words)]);
    expect((await axeOf(page)).violations).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('reasons are Vietnamese on the Vietnamese page', async () => {
    await page.click('#language');
    await put(page, 'tọa độ.csv', 'other names.csv', 'old.xls', 'login.csv', 'places.parquet', 'empty.csv');
    const answers = await page.locator('.file-answer').allTextContents();
    for (const [i, words] of [
      'vĩ độ bị bỏ trống',
      'không có cột vĩ độ (lat)',
      'hãy lưu lại dạng .xlsx',
      'đây là trang web',
      'Trang này không đọc Parquet',
      'tệp không có nội dung',
    ].entries())
      expect(answers[i]).toContain(words);
    // Answers that stand there speak the language that is chosen later, too.
    await page.click('#language');
    const later = await page.locator('.file-answer').allTextContents();
    for (const [i, words] of [
      /1 positions have codes.*1 rows cannot be read.*lat is required.*positions in one column/,
      /There is no column lat.*Choose the columns/,
      /save it as \.xlsx/,
      /It is a web page/,
      /This page does not read Parquet/,
      /The file is empty/,
    ].entries())
      expect(later[i]).toMatch(words);
    expect(await statusOf(page)).toBe('empty.csv: The file cannot be read: The file is empty');
  });

  test('columns are chosen, with ten rows to look at, and names of the file stay', async () => {
    await put(page, 'other names.csv');
    const chooser = page.locator('.file-answer details.fold');
    expect(await chooser.locator('td').allTextContents()).toEqual(['Đại Nội', '16.4698', '107.5786']);
    await chooser.getByLabel('Column of latitudes').selectOption('bắc');
    await chooser.getByLabel('Column of longitudes').selectOption('đông');
    await chooser.locator('.convert-again').press('Enter');
    await page.locator('#file-download').waitFor();
    // The button is gone, and keys go on from the answer.
    expect(await page.locator('.file-answer:focus').count()).toBe(1);
    const { name, bytes } = await downloaded(page, '#file-download');
    expect(name).toBe('other names-hexcodes.csv');
    expect(bytes.toString()).toMatch(
      /^nơi,bắc,đông,hexcodes,resolution,admin_code,status\nĐại Nội,16\.4698,107\.5786,HUE-\S+,13,HUE,OK\n$/,
    );
    expect(await page.locator('#map').getAttribute('data-points')).toBe('1');
    expect(faults).toEqual([]);
  });

  test('failed rows are a file of their own', async () => {
    await put(page, 'tiếng việt.csv');
    const { name, bytes } = await downloaded(page, '.failed-download');
    expect(name).toBe('tiếng việt-hexcodes-failed.csv');
    expect(bytes.toString()).toBe(
      'tên,vĩ độ,kinh độ,hexcodes,resolution,admin_code,status\nPari,48.85,2.35,,13,,NOT_FOUND\n',
    );
    await put(page, 'lines.ndjson');
    const lines = await downloaded(page, '.failed-download');
    expect(JSON.parse(lines.bytes.toString())).toMatchObject({ status: 'NOT_FOUND' });
  });

  test('a table of another encoding leaves with the mark by which spreadsheets know UTF-8, as the command writes it', async () => {
    folder.write('utf16.csv', DISPATCHER_FILES['utf16.csv']!());
    expect((await folder.run('encode utf16.csv -o out.csv -q')).code).not.toBe(2);
    await put(page, 'utf16.csv');
    const { bytes } = await downloaded(page, '#file-download');
    expect(bytes.toString()).toBe(folder.bytes('out.csv').toString());
  });

  test('GeoJSON leaves as the table that the command writes', async () => {
    const random = randomFrom(4);
    const features = Array.from({ length: 400 }, (_, i) => {
      const properties = {
        name: `Phố "${i}", cũ`,
        ...(i % 3 === 0 ? { id: i % 2 === 0 ? i : 'x' } : {}),
        ...(i % 5 === 0 ? { more: { list: [1, null, 'a'] }, isOpen: i % 2 === 0, 'tên khác': null } : {}),
        lat: 'not this',
      };
      const coordinates = [102 + random() * 8, 8 + random() * 15, ...(i % 7 === 0 ? [3.5] : [])];
      const geometry = i % 11 === 0 ? null : { type: 'Point', coordinates };
      return { type: 'Feature', ...(i % 4 === 0 ? { id: `f${i}` } : {}), properties, geometry };
    });
    const text = JSON.stringify({ type: 'FeatureCollection', features }).replace(
      '"f4"',
      '12345678901234567890',
    );
    folder.write('some.geojson', text);
    expect((await folder.run('encode some.geojson -o some.csv -q')).code).not.toBe(2);
    await page
      .locator('#file-input')
      .setInputFiles({ name: 'some.geojson', mimeType: 'application/geo+json', buffer: Buffer.from(text) });
    await page.waitForSelector('#file-download');
    const { name, bytes } = await downloaded(page, '#file-download');
    expect(name).toBe('some-hexcodes.csv');
    expect(bytes.toString().replace('\ufeff', '')).toBe(folder.bytes('some.csv').toString());
  });

  test('a workbook comes in, sheet by sheet, and leaves as one that the command reads', async () => {
    await put(page, 'workbook.xlsx');
    const sheets = page.getByRole('combobox', { name: 'Sheet', exact: true });
    await page.locator('.file-answer summary').last().click();
    expect((await sheets.locator('option').allTextContents()).length).toBeGreaterThan(1);
    const name = (await sheets.locator('option').first().textContent())!;
    folder.write('book.xlsx', DISPATCHER_FILES['workbook.xlsx']!());
    const expected = await folder.run(['encode', 'book.xlsx', '-q', '--sheet', name]);
    const { bytes } = await downloaded(page, '#file-download');
    expect(bytes.toString()).toBe(`\ufeff${expected.stdout}`);
    const workbook = await downloaded(page, '#file-workbook');
    expect(workbook.name).toBe('workbook-hexcodes.xlsx');
    folder.write('back.xlsx', workbook.bytes);
    const back = await folder.run('decode back.xlsx -q --prefix back_ --to ndjson');
    const codes = expected.stdout.match(/[A-Z]{2,3}-[0-9A-Z]{5}-[0-9A-Z]{5}/g)!;
    expect(codes.length).toBeGreaterThan(0);
    for (const code of codes) expect(back.stdout).toContain(`"hexcodes":"${code}"`);
    const other = (await sheets.locator('option').nth(1).textContent())!;
    const rows = (): Promise<string | null> => page.locator('.first-rows').textContent();
    const before = await rows();
    await sheets.selectOption(other);
    await expect
      .poll(async () => (await page.locator('.first-rows').count()) === 1 && (await rows()))
      .not.toBe(before);
    expect(await page.locator('.file-answer').count()).toBe(1);
    expect(faults).toEqual([]);
  });
});

describe('files of the page', () => {
  const server = sharedServer();

  const page = sharedOf(() => getBytes(server, '/'));

  const namesIn = (html: string): string[] => [...new Set(html.match(/\/assets\/[\w.-]+/g))];

  const fileOf = (html: string, stem: string, ending: string): string =>
    namesIn(html).find((name) => name.startsWith(`/assets/${stem}-`) && name.endsWith(ending)) ?? '';

  test('the page needs no key, is asked for again, and may load from its own origin only', async () => {
    const { status, headers } = page;
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy':
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; " +
        "img-src 'self' data: blob:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    });
    expect((await getBytes(server, '/', { 'If-None-Match': headers.etag as string })).status).toBe(304);
    expect(page.body.toString()).not.toMatch(/\{\{|https?:\/\//);
  });

  test.each(['/', '/service-worker.js', '/docs'])(
    '%s leaves as its reader accepts it, with a tag each',
    async (path) => {
      const plain = await getBytes(server, path);
      const gzip = await getBytes(server, path, { 'Accept-Encoding': 'gzip, deflate' });
      const br = await getBytes(server, path, { 'Accept-Encoding': 'gzip, deflate, br, zstd' });
      const all = [plain, gzip, br];
      expect(all.map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'gzip', 'br']);
      expect(all.map(({ headers }) => headers.vary)).toEqual(Array(3).fill('Accept-Encoding'));
      expect(all.map(({ headers }) => headers['cache-control'])).toEqual(Array(3).fill('no-cache'));
      expect(all.map(({ headers }) => headers['content-security-policy'])).toEqual(
        Array(3).fill(plain.headers['content-security-policy']),
      );
      expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
      expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
      expect(br.body.length).toBeLessThan(gzip.body.length);
      expect(gzip.body.length).toBeLessThan(plain.body.length / 1.5);
      expect(new Set(all.map(({ headers }) => headers.etag)).size).toBe(3);
      const ask = { 'Accept-Encoding': 'br', 'If-None-Match': br.headers.etag as string };
      const again = await getBytes(server, path, ask);
      expect([again.status, again.body.length]).toEqual([304, 0]);
      // A tag of another encoding is another answer.
      expect((await getBytes(server, path, { ...ask, 'Accept-Encoding': 'gzip' })).status).toBe(200);
    },
  );

  test('every file that the page names exists, typed, immutable, and equal in each encoding', async () => {
    const names = namesIn(page.body.toString());
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) {
      const plain = await getBytes(server, name);
      const gzip = await getBytes(server, name, { 'Accept-Encoding': 'gzip, deflate' });
      const br = await getBytes(server, name, { 'Accept-Encoding': 'gzip, deflate, br, zstd' });
      expect([plain.status, gzip.status, br.status], name).toEqual([200, 200, 200]);
      expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(plain.headers.vary).toBe('Accept-Encoding');
      expect(plain.headers['content-type']).toMatch(
        /^(?:text\/(?:javascript|css)|image\/(?:svg|png)|application\/)/,
      );
      expect(gunzipSync(gzip.body).equals(plain.body), name).toBe(true);
      expect(brotliDecompressSync(br.body).equals(plain.body), name).toBe(true);
      expect(new Set([plain.headers.etag, gzip.headers.etag, br.headers.etag]).size).toBe(3);
      const again = await getBytes(server, name, {
        'Accept-Encoding': 'br',
        'If-None-Match': br.headers.etag as string,
      });
      expect([again.status, again.body.length]).toEqual([304, 0]);
    }
  });

  test.each([
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.1, gzip', 'gzip'],
    ['gzip;q=0.2,BR;Q=0.9', 'br'],
    ['gzip;q=0.5, *', 'br'],
    ['gzip, *;q=0.5', 'gzip'],
    ['x-gzip', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['br;q=0, gzip;q=0, *', undefined],
    ['identity', undefined],
    ['identity, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip;q=0.25, br;q=0.4', undefined],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0, gzip;q=0.001', 'gzip'],
    ['identity;q=0', undefined],
    ['*;q=0', undefined],
    ['*;q=0, gzip;q=0.3', 'gzip'],
    ['zstd, deflate', undefined],
    ['br;q=x, gzip;q=0.1', 'gzip'],
    ['br;q=, gzip;q=0.1', 'gzip'],
    ['br;q=2, gzip;q=0.1', 'gzip'],
    ['br;q=1.5, gzip;q=-1', undefined],
    ['br;q="1", gzip;q=1e0', undefined],
    [', ,;q=1,gzip ; q=0.123456', 'gzip'],
    ['br;q=1.000;level=4, gzip', 'br'],
  ])('Accept-Encoding: %s', async (accepted, encoding) => {
    const name = fileOf(page.body.toString(), 'console', '.css');
    const { headers } = await getBytes(server, name, { 'Accept-Encoding': accepted });
    expect(headers['content-encoding']).toBe(encoding);
  });

  test('names of other versions and names that lead elsewhere are not found', async () => {
    for (const path of [
      '/assets/',
      '/assets/page-00000000.js',
      '/assets/..%2Ffiles.json',
      '/assets/files.json',
    ])
      expect((await getBytes(server, path)).status, path).toBe(404);
  });

  test('the page uses the boundaries of its service', async () => {
    const world = openWorld();
    const index = await getBytes(server, fileOf(page.body.toString(), 'index', '.bin'));
    expect(index.body.equals(world.index)).toBe(true);
    const shipped = readdirSync('dist/console/assets').find((name) => /^index-\w+\.bin$/.test(name))!;
    expect(index.body.equals(readFileSync(`dist/console/assets/${shipped}`))).toBe(false);
    const worker = (await getBytes(server, '/service-worker.js')).body.toString();
    expect(worker).toContain(fileOf(page.body.toString(), 'index', '.bin'));
    expect(worker).not.toContain(shipped);
  });

  test("the policy allows the host of the operator's map, and no other", async () => {
    const tilesUrl = 'https://tiles.example/{z}/{x}/{y}.png';
    const other = await startServer({ tilesUrl, tilesAttribution: 'A & B "C" <d>' });
    onTestFinished(() => other.stop());

    const { headers, body } = await getBytes(other, '/');
    const policy = headers['content-security-policy'] as string;
    expect(policy).toContain("img-src 'self' data: blob: https://tiles.example;");
    expect(policy).toContain("connect-src 'self' https://tiles.example;");
    expect(policy.match(/https:/g)).toHaveLength(2);
    expect(body.toString()).toContain('A &amp; B \\&quot;C\\&quot; &lt;d>');
  });
});
