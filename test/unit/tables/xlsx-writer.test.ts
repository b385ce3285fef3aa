// Workbooks as they are written, read back by the reader that the command has: what is a number, a date or a text.
import readSheets from 'read-excel-file/node';
import { expect, test } from 'vitest';
import { TableError } from '#dist/tables/table-error.js';
import { type Cell, MOST_SHEET_ROWS, XlsxWriter } from '#dist/tables/xlsx/xlsx-writer.js';

function bytesOf(names: readonly string[], rows: readonly (readonly Cell[])[]): Buffer {
  const writer = new XlsxWriter(names);
  for (const row of rows) writer.add(1, (_, column) => row[column]);
  writer.end();
  return Buffer.concat(writer.take());
}

async function readBack(names: readonly string[], rows: readonly (readonly Cell[])[]): Promise<unknown[][]> {
  const [sheet] = await readSheets(bytesOf(names, rows), { trim: false });
  return (sheet as unknown as { data: unknown[][] }).data;
}

test.each([
  ['a number', 21.0288, 21.0288],
  ['all digits of a double', 21.02879832129181, 21.02879832129181],
  ['a text that is a number', '105.8525', 105.8525],
  ['the longest number that Excel keeps', '123456789012345', 123456789012345],
  ['an integer beyond it', '1234567890123456', '1234567890123456'],
  ['a bigint beyond it', 9007199254740993n, '9007199254740993'],
  ['a zero before a number', '0901234567', '0901234567'],
  ['a zero after its point', '21.0280', '21.0280'],
  ['an exponent', '1e5', '1e5'],
  ['a date', '2025-07-01', new Date('2025-07-01T00:00:00Z')],
  ['the first date after the day that never was', '1900-03-01', new Date('1900-03-01T00:00:00Z')],
  ['a date before it', '1900-02-28', '1900-02-28'],
  ['no date', '2025-02-30', '2025-02-30'],
  ['true', true, true],
  ['letters and signs of XML', `<Phở> & "Bún" 'x'`, `<Phở> & "Bún" 'x'`],
  ['lines', 'a\nb', 'a\nb'],
  ['blanks around', '  a ', '  a '],
  ['a formula is text', '=1+1', '=1+1'],
  ['no number', Number.NaN, 'NaN'],
])('%s', async (_, cell, expected) => {
  const [, row] = await readBack(['a', 'b'], [[cell, 'end']]);
  expect(row).toEqual([expected, 'end']);
});

test('cells that are empty, and columns beyond Z', async () => {
  const names = Array.from({ length: 703 }, (_, i) => `c${i + 1}`);
  const rows = await readBack(names, [names.map((_, i) => (i === 702 ? 'last' : null))]);
  expect(rows[0]?.[702]).toBe('c703');
  expect(rows[1]?.findIndex((cell) => cell === 'last')).toBe(702);
});

test('the same rows are the same bytes', () => {
  expect(bytesOf(['a'], [['x']])).toEqual(bytesOf(['a'], [['x']]));
});

test.each([
  ['rows', () => new XlsxWriter(['a']).add(MOST_SHEET_ROWS, () => null)],
  ['columns', () => new XlsxWriter(Array(16_385).fill('a'))],
  ['letters', () => new XlsxWriter(['a']).add(1, () => 'x'.repeat(32_768))],
])('more %s than Excel holds are refused with a way out', (_, work) => {
  expect(work).toThrow(TableError);
  expect(work).toThrow(/of Excel/);
});
