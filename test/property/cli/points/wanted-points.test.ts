// Points of which some columns are wanted, read by the kernel or from single columns of Parquet, against the same files
// read value by value: positions, values, numbers of rows and faults, over fields and rows of every kind.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PointFiles, runPoints } from '#dist/files/points/run-points.js';
import { numberOf } from '#dist/files/points/values.js';
import { Hexcodes } from '#hexcodes';

const scratch = mkdtempSync(join(tmpdir(), 'hexcodes-wanted-'));
afterAll(() => rmSync(scratch, { recursive: true }));
let hexcodes: Hexcodes;
beforeAll(async () => {
  hexcodes = await Hexcodes.load();
});

const WANTED = { numbers: ['speed'], others: ['name'] };

/** Batches without the values that nobody wants. */
let pruned = 0;

/** Every row that is read, and the fault that ends the run. */
async function read(inputs: readonly string[], wanted: PointFiles['wanted']) {
  const rows: unknown[] = [];
  const request = {
    inputs,
    from: null,
    columns: { prefix: '' },
    csv: { delimiter: null, decimal: '.', hasHeader: true },
    input: {},
  } as const;
  try {
    await runPoints(hexcodes, {
      files: wanted === undefined ? request : { ...request, wanted },
      output: { output: join(scratch, 'out.csv'), format: null },
      isQuiet: true,
      take({ columns, rows: { rowCount, values }, latLngDeg, firstRow }) {
        const at = (name: string): number => columns.findIndex((column) => column.name === name);
        if (wanted !== undefined && rowCount > 0 && values[at('id')] === undefined) pruned++;
        for (let row = 0; row < rowCount; row++)
          rows.push([
            firstRow + row,
            latLngDeg[2 * row],
            latLngDeg[2 * row + 1],
            numberOf(columns[at('speed')]!, values[at('speed')]?.[row]),
            values[at('name')]?.[row],
          ]);
      },
      async end() {
        throw new Error('no output is wanted');
      },
    });
  } catch (error) {
    return { rows, fault: (error as Error).message };
  }
  return { rows, fault: '' };
}

async function compare(path: string | readonly string[]): Promise<number> {
  const inputs = [path].flat();
  const fast = await read(inputs, WANTED);
  const slow = await read(inputs, undefined);
  expect(fast.fault).toBe(slow.fault);
  // A fault of a row ends a run; how many rows were read before it is nowhere shown.
  if (fast.fault === 'no output is wanted') expect(fast.rows).toEqual(slow.rows);
  return fast.rows.length;
}

const coordinate = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: 8, max: 109, noNaN: true }).map(String) },
  fc.constantFrom(
    ...[
      '',
      ' 21.03',
      '21.03 ',
      '"21,03"',
      '"21.03"',
      '"21.03"x',
      '21°01\'43"N',
      '+21.03',
      '-21',
      '1e1',
      '21.',
      '.5',
    ],
    ...[
      'NaN',
      'Infinity',
      '1e999',
      '21.0300000000000000000001',
      '0x15',
      '105.85E',
      '\u00a021',
      'x',
      '"2""1"',
      '-',
    ],
  ),
);
const text = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -5000, max: 5000 }).map((n) => String(n / 10)) },
  fc.constantFrom(
    ...['', ' 5', '"1,5"', '-0', '-', '.', '1.', '.5', '5e3', '0012', '9007199254740993', '123456789012345'],
    ...[
      '1234567890.12345',
      '1234567890.123456',
      '12345678901234567890123',
      '--1',
      '1-',
      '1.2.3',
      'Hà Nội',
      '"a""b"',
    ],
    ...['"a\nb"', '"', 'a"b', '1 ', '\u00a07', '+3', '٣'],
  ),
);
const line = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.tuple(text, coordinate, text, coordinate, text).map((fields) => fields.join(',')),
  },
  fc.constantFrom('', '\r', ' ', '1,21,5', 'a,21,5,105,b,c', '"a,21,5,105,b'),
);

test('CSV of every kind', async () => {
  let read = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 25 }),
      fc.constantFrom('\n', '\r\n'),
      fc.constantFrom('', '\n', '\r', '\r\n'),
      fc.integer({ min: 0, max: 9000 }),
      async (lines, feed, last, fill) => {
        const path = join(scratch, 'in.csv');
        const usual = Array.from({ length: fill }, (_, i) => `v${i},21.${i},${i % 70}.5,105.8,n${i}`);
        writeFileSync(path, ['id,lat,speed,lng,name', '1,21,2,105,a', ...usual, ...lines].join(feed) + last);
        read += await compare(path);
      },
    ),
    { numRuns: 100, examples: [[['\r'], '\n', '\r', 0]] },
  );
  expect(read).toBeGreaterThan(0);
  expect(pruned).toBeGreaterThan(0);
});

test('broken text, no rows, several files', async () => {
  const [a, b] = [join(scratch, 'a.csv'), join(scratch, 'b.csv')];
  for (const body of [
    'lat,lng,speed,name\n',
    'lat,lng,speed,name',
    'lat,lng,speed,name\n21,105.8,1,\0\n',
    'lat,lat,speed\n1,2,3\n',
    'speed,name\n1,2\n',
  ]) {
    writeFileSync(a, body);
    await compare(a);
  }
  writeFileSync(a, Buffer.from('lat,lng,speed,name\n21,105.8,1,T\xeen\n', 'latin1'));
  await compare(a);
  writeFileSync(a, 'lat,lng,speed,name\n21,105.8,1,x\n');
  writeFileSync(b, 'name;lng;lat;speed\ny;105,8;21,03;1,5\nz;105.8;21.03;7\n');
  expect(await compare([a, b, a])).toBe(4);
});

test('Parquet: doubles, floats, nulls, other types, several row groups', async () => {
  const before = pruned;
  const each = <T>(make: (row: number) => T): T[] => Array.from({ length: 700 }, (_, row) => make(row));
  for (const [lat, speed] of [
    ['DOUBLE', 'DOUBLE'],
    ['FLOAT', 'INT64'],
    ['STRING', 'STRING'],
    ['DOUBLE', 'STRING'],
  ] as const) {
    const latOf = (row: number): number | null => (row % 9 === 0 ? null : 21 + row / 1024);
    const speedOf = (row: number) =>
      row % 7 === 0 ? null : speed === 'INT64' ? BigInt(row) : speed === 'STRING' ? `${row}` : row / 10;
    const path = join(scratch, 'in.parquet');
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: 'id', data: each((row) => `v${row}`), type: 'STRING' },
        {
          name: 'lat',
          data: each((row) => (lat === 'STRING' ? String(latOf(row) ?? '') : latOf(row))),
          type: lat,
        },
        { name: 'lng', data: each((row) => 105 + row / 999), type: 'DOUBLE' },
        { name: 'speed', data: each(speedOf), type: speed },
        { name: 'name', data: each((row) => (row % 5 === 0 ? null : `tên ${row}`)), type: 'STRING' },
      ],
      rowGroupSize: 300,
    });
    writeFileSync(path, Buffer.from(bytes));
    expect(await compare(path)).toBe(700);
    writeFileSync(path, Buffer.from(bytes).subarray(0, 900));
    await compare(path);
  }
  expect(pruned).toBeGreaterThan(before);
});
