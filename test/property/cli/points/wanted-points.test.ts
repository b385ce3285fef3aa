// Points of which some columns are wanted, read by the kernel or from single columns of Parquet, against the same files
// read value by value: positions, values, numbers of rows and faults, over fields and rows of every kind.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { beforeAll, expect, test } from 'vitest';
import { type PointFiles, runPoints } from '#dist/files/points/run-points.js';
import { numberOf } from '#dist/files/points/values.js';
import { Hexcodes } from '#hexcodes';
import { ownFolder } from '../../../support/own-folder.js';

const SEED = 20_261_128;
const scratch = ownFolder('wanted');
let hexcodes: Hexcodes;
beforeAll(async () => {
  hexcodes = await Hexcodes.load();
});

type Wanted = NonNullable<PointFiles['wanted']>;
const WANTED: Wanted = { numbers: ['speed'], others: ['name'] };
const NOTHING: Wanted = { numbers: [], others: [] };

/** Batches without the values that nobody wants. */
let pruned = 0;

/** Every row that is read, with the values of some columns, and the fault that ends the run. */
async function read(inputs: readonly string[], { numbers, others }: Wanted, wanted: PointFiles['wanted']) {
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
        const numberIn = (row: number, column: number) =>
          column < 0 ? Number.NaN : numberOf(columns[column]!, values[column]?.[row]);
        if (wanted !== undefined && rowCount > 0 && values[at('lat')] === undefined) pruned++;
        for (let row = 0; row < rowCount; row++)
          rows.push([
            ...[firstRow + row, latLngDeg[2 * row], latLngDeg[2 * row + 1]],
            ...numbers.map((name) => numberIn(row, at(name))),
            ...others.map((name) => values[at(name)]?.[row] ?? null),
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

/**
 * Reads the columns of every file of this test, or others and positions alone as well.
 * @returns the rows of a file that both ways read to its end, else 0
 */
async function compare(path: string | readonly string[], wanted = WANTED): Promise<number> {
  const inputs = [path].flat();
  const fast = await read(inputs, wanted, wanted);
  const slow = await read(inputs, wanted, undefined);
  expect(fast.fault).toBe(slow.fault);
  // A fault of a row ends a run; how many rows were read before it is nowhere shown.
  if (fast.fault !== 'no output is wanted') return 0;
  expect(fast.rows).toEqual(slow.rows);
  if (wanted === WANTED) return fast.rows.length;
  const positions = await read(inputs, NOTHING, NOTHING);
  expect(positions.rows).toEqual(fast.rows.map((row) => (row as unknown[]).slice(0, 3)));
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
      // A batch has 8,192 rows.
      fc.oneof(
        { weight: 4, arbitrary: fc.nat(60) },
        { weight: 1, arbitrary: fc.integer({ min: 8160, max: 8200 }) },
      ),
      async (lines, feed, last, fill) => {
        const path = join(scratch, 'in.csv');
        const usual = Array.from({ length: fill }, (_, i) => `v${i},21.${i},${i % 70}.5,105.8,n${i}`);
        writeFileSync(path, ['id,lat,speed,lng,name', '1,21,2,105,a', ...usual, ...lines].join(feed) + last);
        read += await compare(path);
      },
    ),
    { seed: SEED, numRuns: 40, examples: [[['\r'], '\n', '\r', 0]] },
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

const usualLine = fc
  .tuple(fc.integer(), fc.double({ min: -91, max: 91 }), fc.double({ noDefaultInfinity: true }))
  .map(([id, lat, lng]) => JSON.stringify({ id, lat, lng, ...(id % 3 === 0 ? { name: `xe ${id}` } : {}) }));
const oddLine = fc.constantFrom(
  ...['', '  ', ' {"lat":21,"lng":105.8} ', '{"lat":21,"lng":105.8}\r', '{"lat":"21,03","lng":"105.8"}'],
  ...['{"lat":null,"lng":105.8}', '{"lng":105.8}', '{}', '{"lat":21,"lng":105.8,"lat":22}', '[21,105.8]'],
  ...['{"lat":2.10e1,"lng":1058E-1,"big":123456789012345678901}', '{"lat":21,"lng":105.8,"name":"Hà Nội"}'],
  ...[`{"lat":21,"lng":105.8,"long":"${'x'.repeat(2000)}"}`, '{"lat":21,"lng":105.8,"h\\u0065":1}', '{'],
  ...[
    '{"lat":21,"lng":105.8,"id":[5]}',
    '{"lat":21,"lng":105.8,"id":"7"}',
    '{"lat":21,"lng":105.8,"id":true}',
  ],
  ...['{"lat":21,"lng":105.8,"id":9007199254740993}', '{"lat":21,"lng":105.8,"id":-0.0,"name":"a\\"b"}'],
  ...['{"lat":21,"lng":105.8}x', 'null', '{"lat":true,"lng":[1]}', '\u001e{"lat":21,"lng":105.8}'],
);

test('NDJSON of every kind', async () => {
  const wanted = { numbers: ['id'], others: ['name'] };
  const ofEither = fc.oneof({ weight: 2, arbitrary: usualLine }, { weight: 1, arbitrary: oddLine });
  let whole = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(usualLine, { minLength: 1, maxLength: 50 }),
      fc.array(ofEither, { maxLength: 6 }),
      fc.oneof(
        { weight: 2, arbitrary: fc.nat(60) },
        { weight: 1, arbitrary: fc.integer({ min: 8130, max: 8200 }) },
      ),
      fc.boolean(),
      async (first, middle, between, hasEnd) => {
        const filler = Array.from({ length: between }, (_, i) => first[i % first.length]!);
        const path = join(scratch, 'in.ndjson');
        writeFileSync(path, [...first, ...filler, ...middle, ...filler].join('\n') + (hasEnd ? '\n' : ''));
        if ((await compare(path, wanted)) > 0) whole++;
      },
    ),
    { seed: SEED, numRuns: 10, endOnFailure: true },
  );
  expect(whole).toBeGreaterThan(5);
});
