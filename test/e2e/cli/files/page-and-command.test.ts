// Command and page read the same files: tables of other programs leave both with the same bytes, but for the two
// columns that the page puts beside positions which are no two numbers; and so do tables below titles.
import { parse } from 'csv-parse/sync';
import { afterAll, expect, test } from 'vitest';
import { broughtCases, broughtFile } from '../../../support/brought-files.js';
import { CliFolder } from '../../../support/cli.js';
import { converted } from '../../../support/page-conversion.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

const MARK = '\ufeff';
/** Without a mark, which the page writes at each answer that was no CSV in UTF-8. */
const rowsOf = (text: string): string[] => text.replace(MARK, '').replaceAll('\r\n', '\n').split('\n');
const fieldsOf = (text: string): string[][] => parse(text, { bom: true }) as string[][];

async function both(
  name: string,
  bytes: Buffer,
): Promise<{ page: string; command: string; titleRows: number }> {
  folder.write(name, bytes);
  const { stdout } = await folder.run(['encode', name, '-q']);
  const { text, titleRows } = await converted(bytes, name);
  return { page: text, command: stdout, titleRows };
}

const TABLES = broughtCases().filter(
  ({ file, options, command, page }) =>
    options.length === 0 &&
    command === 'codes' &&
    page === 'codes' &&
    !/json/.test(file) &&
    !/\.gz$/.test(file),
);
const CODE = /[A-Z]{2,3}-\w{5}-\w{5}/g;
/** The place of the added columns. */
const BESIDE: Readonly<Record<string, number>> = {
  'angles.csv': 4,
  'gdal-wkt.csv': 3,
  'geopandas-wkb.csv': 3,
};

test('there are tables', () => {
  expect(TABLES.length).toBeGreaterThan(20);
});

test.each(TABLES.map(({ file }) => file))('%s', async (file) => {
  const { page, command } = await both(file, broughtFile(file));
  const from = BESIDE[file];
  if (from === undefined) expect(rowsOf(page)).toEqual(rowsOf(command));
  else expect(fieldsOf(page).map((row) => row.toSpliced(from, 2))).toEqual(fieldsOf(command));
});

test.each<[string, string, number]>([
  ['titles', 'Danh sách\n"in ngày 1/7, ca sáng"\n\nSTT;lat;lng\n1;21.03;105.85\n2;10.77;106.7\n', 2],
  ['semicolons and a mark', `${MARK}Kho hàng;;\r\nmã;Vĩ độ;Kinh độ\r\na;21,03;105,85\r\n`, 1],
  ['a word that is a position', 'Bảng\nten\tvị trí\nHồ Gươm\t21.0288 105.8525\n', 1],
  ['a word that is an address', 'lat,lng\nten,vị trí\n21.03,105.85\n', 0],
  ['codes', 'Bảng kê\nhexcodes,n\nHN-6GHP4-83RFR,1\n', 1],
  ['a header at row 21', `${'t\n'.repeat(20)}lat,lng\n21.03,105.85\n`, 0],
  ['a header at row 20', `${'t\n'.repeat(19)}lat,lng\n21.03,105.85\n`, 19],
])('%s', async (name, text, titleRows) => {
  const operation = text.includes('hexcodes') ? 'decode' : 'encode';
  folder.write('t.csv', text);
  const { stdout } = await folder.run([operation, 't.csv', '-q']);
  const page = await converted(Buffer.from(text), 't.csv').catch((error: Error) => ({
    text: error.message,
    titleRows: 0,
  }));
  expect([name, page.titleRows]).toEqual([name, titleRows]);
  // A position in one column gets two more; where the page finds no columns it asks for them, as the command does.
  if (text.includes('vị trí')) expect(page.text.match(CODE)).toEqual(stdout.match(CODE));
  else if (titleRows > 0) expect(page.text).toBe(stdout);
  else expect([page.text, stdout]).toEqual([expect.stringContaining('There is no column lat'), '']);
});
