// Workbooks of Excel through the command: times without a zone, numbers with their digits, damaged files.
import { afterAll, describe, expect, test } from 'vitest';
import { sheetsOf } from '#dist/tables/xlsx/workbook.js';
import { CliFolder } from '../../../support/cli.js';
import { workbookXml } from '../../../support/files/workbook-xml.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

const text = (of: string): string => `<c t="inlineStr"><is><t>${of}</t></is></c>`;
const HEADER = `<row>${['id', 'lat', 'lng', 'ts', 'shift', 'worked', 'imei'].map(text).join('')}</row>`;
const POSITION = '<c><v>7</v></c><c><v>21.0288</v></c><c><v>105.8525</v></c>';
/** 2026-01-02 23:30, 08:30, 26 hours 5 minutes, and 18 digits. */
const BOOK = workbookXml({
  formats: [0, 22, 'h:mm', '[h]:mm:ss'],
  sheets: {
    s: `${HEADER}<row>${POSITION}<c s="1"><v>46024.979166666664</v></c><c s="2"><v>0.35416666666666669</v></c><c s="3"><v>1.0868055555555556</v></c><c><v>861234567890123457</v></c></row>`,
  },
});
const VALUES = '2026-01-02T23:30:00,08:30:00,PT26H5M0S,861234567890123457';

test('times have no zone, and integers all their digits', async () => {
  folder.write('book.xlsx', BOOK);
  const { stdout } = await folder.run(['encode', 'book.xlsx', '-q', '--to', 'csv']);
  expect(stdout).toContain(`\n7,21.0288,105.8525,${VALUES},HN-6GHP4-83RFR,`);
});

test('a workbook into a workbook keeps them', async () => {
  folder.write('book.xlsx', BOOK);
  await folder.run(['encode', 'book.xlsx', '-q', '-o', 'out.xlsx']);
  const [, row] = sheetsOf(folder.bytes('out.xlsx'), () => {})[0]!.rows();
  expect(row!.join(',')).toContain(`7,21.0288,105.8525,${VALUES},HN-6GHP4-83RFR,`);
});

test.each([
  ['aggregate', '--time', 'ts', '--bucket', '1h', '--by', 'province', '--to', 'csv'],
  ['track', '--id', 'id', '--time', 'ts', '--to', 'csv'],
])('%s puts a time where it puts it in CSV', async (command, ...options) => {
  folder.write('book.xlsx', BOOK);
  folder.write('book.csv', `id,lat,lng,ts\n7,21.0288,105.8525,2026-01-02T23:30:00\n`);
  const [ofWorkbook, ofCsv] = await Promise.all(
    ['book.xlsx', 'book.csv'].map((name) => folder.run([command, name, '-q', ...options])),
  );
  expect(ofWorkbook!.stdout).toContain('2026-01-02T23:');
  expect(ofWorkbook).toEqual(ofCsv);
});

describe('damaged', () => {
  test.each([
    ['cells', '<row r="1"><c r="?"/></row>', /bad\.xlsx: sheet "s": "\?" is no place of a cell/],
    ['XML', '<row><c></row>', /bad\.xlsx: it is not XML as it should be/],
    [
      'a reference',
      `${HEADER}<row><c t="s"><v>3</v></c></row>`,
      /bad\.xlsx: sheet "s": .* has text "3" of 0/,
    ],
  ])('%s: the file is named, and the exit code is 3', async (_, rows, why) => {
    folder.write('bad.xlsx', workbookXml({ sheets: { s: rows } }));
    const { code, stderr } = await folder.run(['encode', 'bad.xlsx', '-q']);
    expect([code, stderr]).toEqual([3, expect.stringMatching(why)]);
  });

  test('an archive', async () => {
    folder.write('bad.xlsx', BOOK.slice(0, -30));
    const { code, stderr } = await folder.run(['encode', 'bad.xlsx', '-q', '--from', 'xlsx']);
    expect([code, stderr]).toEqual([3, expect.stringContaining('bad.xlsx')]);
  });
});

test('a workbook of 3 KB with a comment of starts of cells is read at once', async () => {
  const rows = `<!--${'<c '.repeat(340_000)}-->${HEADER}<row>${POSITION}</row>`;
  folder.write('comment.xlsx', workbookXml({ sheets: { s: rows } }));
  expect(folder.bytes('comment.xlsx').length).toBeLessThan(4000);
  const { stdout } = await folder.run(['encode', 'comment.xlsx', '-q', '--to', 'csv']);
  expect(stdout).toContain('HN-6GHP4-83RFR');
});
