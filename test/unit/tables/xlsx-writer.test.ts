// Workbooks as they are written, read back by the reader that the command has: what is a number, a date or a text.
import { unzipSync } from 'fflate';
import { expect, test } from 'vitest';
import { TableError } from '#dist/tables/table-error.js';
import { sheetsOf } from '#dist/tables/xlsx/workbook.js';
import { type Cell, MAX_SHEET_ROWS, XlsxWriter } from '#dist/tables/xlsx/xlsx-writer.js';

function bytesOf(names: readonly string[], rows: readonly (readonly Cell[])[]): Buffer {
  const writer = new XlsxWriter(names);
  for (const row of rows) writer.add(1, (_, column) => row[column]);
  writer.end();
  return Buffer.concat(writer.take());
}

const readBack = (names: readonly string[], rows: readonly (readonly Cell[])[]): string[][] =>
  Array.from(sheetsOf(bytesOf(names, rows), () => {})[0]!.rows(), (row) => [...row]);

/** The cell as XML: its type and style, which tell what it is. */
function kindOf(cell: Cell): string {
  const xml = Buffer.from(unzipSync(bytesOf(['a'], [[cell]]))['xl/worksheets/sheet1.xml']!).toString();
  const [, type = '', style = ''] = /<c r="A2"(?: t="(\w+)")?(?: s="(\d)")?>/.exec(xml) ?? [];
  return type === '' ? (['number', 'date', '', 'moment', 'time', 'elapsed'][Number(style)] ?? '?') : type;
}

test.each<[string, Cell, string]>([
  ['a number', 21.0288, 'number'],
  ['all digits of a double', 21.02879832129181, 'number'],
  ['a text that is a number', '105.8525', 'number'],
  ['the longest number that Excel keeps', '123456789012345', 'number'],
  ['an integer beyond it', '1234567890123456', 'inlineStr'],
  ['a bigint beyond it', 9007199254740993n, 'inlineStr'],
  ['a zero before a number', '0901234567', 'inlineStr'],
  ['a zero after its point', '21.0280', 'inlineStr'],
  ['an exponent', '1e5', 'inlineStr'],
  ['a date', '2025-07-01', 'date'],
  ['the first date after the day that never was', '1900-03-01', 'date'],
  ['a date before it', '1900-02-28', 'inlineStr'],
  ['the day that never was', '1900-02-29', 'inlineStr'],
  ['no date', '2025-02-30', 'inlineStr'],
  ['a date with a time', '2026-01-02T23:30:00', 'moment'],
  ['midnight', '2026-01-02T00:00:00', 'moment'],
  ['milliseconds', '2026-01-02T23:30:00.123', 'moment'],
  ['microseconds', '2026-01-02T23:30:00.123456', 'inlineStr'],
  ['a time with a zone', '2026-01-02T23:30:00Z', 'inlineStr'],
  ['a time of day', '08:30:00', 'time'],
  ['the last millisecond of a day', '23:59:59.999', 'time'],
  ['a time of day that is not whole', '08:30', 'inlineStr'],
  ['no time of day', '24:00:00', 'inlineStr'],
  ['a duration', 'PT26H5M0S', 'elapsed'],
  ['a duration below 0', '-PT0H0M0.250S', 'elapsed'],
  ['a duration in other units', 'P1DT2H', 'inlineStr'],
  ['no date and no time', 'T', 'inlineStr'],
  ['true', true, 'b'],
  ['a truth value of a workbook', 'false', 'b'],
  ['another spelling', 'FALSE', 'inlineStr'],
  ['letters and signs of XML', `<Phở> & "Bún" 'x'`, 'inlineStr'],
  ['lines', 'a\nb', 'inlineStr'],
  ['blanks around', '  a ', 'inlineStr'],
  ['a formula is text', '=1+1', 'inlineStr'],
  ['no number', Number.NaN, 'inlineStr'],
])('%s', (_, cell, kind) => {
  expect(readBack(['a', 'b'], [[cell, 'end']])[1]).toEqual([String(cell), 'end']);
  expect(kindOf(cell)).toBe(kind);
});

test('each millisecond of a day is a time that reads back', () => {
  const texts = Array.from({ length: 3000 }, (_, i) =>
    new Date(Date.UTC(2026, 0, 2) + ((i * 28_657) % 86_400_000))
      .toISOString()
      .slice(0, 23)
      .replace('.000', ''),
  );
  expect(
    readBack(
      ['t'],
      texts.map((text) => [text]),
    ).slice(1),
  ).toEqual(texts.map((text) => [text]));
});

test('cells that are empty, and columns beyond Z', () => {
  const names = Array.from({ length: 703 }, (_, i) => `c${i + 1}`);
  const rows = readBack(names, [names.map((_, i) => (i === 702 ? 'last' : null))]);
  expect(rows[0]?.[702]).toBe('c703');
  expect(rows[1]?.findIndex((cell) => cell === 'last')).toBe(702);
});

test('the same rows are the same bytes', () => {
  expect(bytesOf(['a'], [['x']])).toEqual(bytesOf(['a'], [['x']]));
});

test.each([
  ['rows', () => new XlsxWriter(['a']).add(MAX_SHEET_ROWS, () => null)],
  ['columns', () => new XlsxWriter(Array(16_385).fill('a'))],
  ['letters', () => new XlsxWriter(['a']).add(1, () => 'x'.repeat(32_768))],
])('more %s than Excel holds are refused with a way out', (_, work) => {
  expect(work).toThrow(TableError);
  expect(work).toThrow(/of Excel/);
});
