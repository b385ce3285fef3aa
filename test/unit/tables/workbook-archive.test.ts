// Archives of workbooks are checked before they are read: parts that are not as large as they say are refused, wherever
// the lie stands, and sizes in the longer fields of ZIP64 are found.
import { readFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import { unzipSync } from 'fflate';
import { expect, test } from 'vitest';
import { type Bytes, partsOf, piecesOf } from '#dist/tables/xlsx/archive.js';
import { sheetsOf } from '#dist/tables/xlsx/workbook.js';

const NAME = 'xl/worksheets/sheet1.xml';
const XML = '<worksheet><sheetData/></worksheet>';

interface Made {
  readonly plain?: Buffer;
  readonly said?: number;
  readonly method?: number;
  readonly isZip64?: boolean;
}

/** An archive of parts whose directory says what a test wants. */
function archive(parts: Readonly<Record<string, Made>>): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  for (const [
    name,
    { plain = Buffer.from(XML), said = plain.length, method = 8, isZip64 = false },
  ] of Object.entries(parts)) {
    const packed = method === 8 ? deflateRawSync(plain) : plain;
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50);
    local.writeUInt16LE(method, 8);
    local.writeUInt16LE(name.length, 26);
    const at = locals.reduce((sum, each) => sum + each.length, 0);
    locals.push(local, Buffer.from(name), packed);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt16LE(name.length, 28);
    const sizes = [packed.length, said, at];
    for (const [i, place] of [20, 24, 42].entries())
      entry.writeUInt32LE(isZip64 ? 0xffff_ffff : sizes[i]!, place);
    // A field of another kind first; then size, packed size and place.
    const extra = Buffer.alloc(isZip64 ? 6 + 28 : 0);
    if (isZip64) {
      extra.writeUInt16LE(0x5455, 0);
      extra.writeUInt16LE(2, 2);
      extra.writeUInt16LE(1, 6);
      extra.writeUInt16LE(24, 8);
      for (const [i, value] of [said, packed.length, at].entries())
        extra.writeBigUInt64LE(BigInt(value), 10 + 8 * i);
    }
    entry.writeUInt16LE(extra.length, 30);
    entries.push(entry, Buffer.from(name), extra);
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(Object.keys(parts).length, 10);
  end.writeUInt32LE(
    locals.reduce((sum, each) => sum + each.length, 0),
    16,
  );
  return Buffer.concat([...locals, ...entries, end]);
}

const NO_LIMIT = (): void => {};
const unpacked = (bytes: Uint8Array): Record<string, string> =>
  Object.fromEntries(
    partsOf(bytes).map((part) => [part.name, Buffer.concat([...piecesOf(part)]).toString()]),
  );

test.each<[string, Made]>([
  ['packed', {}],
  ['stored', { method: 0 }],
  ['with sizes in ZIP64', { isZip64: true }],
  ['empty', { plain: Buffer.alloc(0) }],
])('a part %s', (_, part) => {
  const wanted = (part.plain ?? Buffer.from(XML)).toString();
  expect(unpacked(archive({ [NAME]: part }))).toEqual({ [NAME]: wanted });
});

test.each<[string, Made, RegExp]>([
  ['is larger than it says', { said: 3 }, /larger than it says/],
  ['is a thousand times larger', { plain: Buffer.alloc(50_000_000), said: 10 }, /larger than it says/],
  ['is smaller than it says', { said: 1000 }, /another size/],
  ['is stored with another size', { said: 1000, method: 0 }, /another size/],
  ['is packed in another way', { method: 12 }, /not read/],
])('a part that %s is refused', (_, part, why) => {
  expect(() => unpacked(archive({ [NAME]: part }))).toThrow(why);
});

test('an archive that is cut off is refused', () => {
  const whole = archive({ [NAME]: {} });
  expect(() => partsOf(whole.subarray(0, whole.length - 30))).toThrow('no directory');
  expect(() => partsOf(whole.subarray(5))).toThrow(/broken|cut off/);
});

test('a part that unpacks to hundreds of times its size is refused before', () => {
  const bomb = archive({ [NAME]: { plain: Buffer.alloc(1000), said: 300 * 2 ** 20 } });
  expect(() => unpacked(bomb)).toThrow(/times its size/);
});

test('a workbook of an exporter that writes ZIP64 is read as any other', () => {
  const bytes = readFileSync('test/fixtures/points.xlsx');
  const parts = Object.entries(unzipSync(bytes)).map(([name, plain]) => [
    name,
    { plain: Buffer.from(plain), isZip64: true },
  ]);
  const rowsOf = (from: Uint8Array) =>
    sheetsOf(from, NO_LIMIT).map((sheet) => Array.from(sheet.rows(), (row) => [...row]));
  expect(rowsOf(archive(Object.fromEntries(parts)))).toEqual(rowsOf(bytes));
});

test('a file is read by ranges, whose bytes hold until the next of them', () => {
  const bytes = readFileSync('test/fixtures/points.xlsx');
  let last = new Uint8Array(0);
  const byRanges = {
    length: bytes.length,
    subarray(start: number, end: number) {
      last.fill(0xff);
      last = new Uint8Array(bytes.subarray(start, end));
      return last;
    },
  };
  const rowsOf = (from: Bytes) =>
    sheetsOf(from, NO_LIMIT).map((sheet) => [
      sheet.firstRows(2),
      Array.from(sheet.rows(), (row) => [...row]),
    ]);
  expect(rowsOf(byRanges)).toEqual(rowsOf(bytes));
});
