// Rows of bytes give what the conversion value by value gives: the same bytes in text formats, the same rows, types and
// bounds in Parquet, the same counts and faults, over fields and numbers of every kind.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { beforeAll, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import {
  bothRoads,
  brokenLine,
  converted,
  expectAlike,
  isRows,
  jsonLine,
  oddLine,
  policies,
  type Request,
  rarely,
  row,
  sorts,
  TYPES,
  typedRow,
} from '../../../support/files/roads.js';
import { ownFolder } from '../../../support/own-folder.js';

const scratch = ownFolder('rows');
const output = join(scratch, 'out-');
let hexcodes: Hexcodes;
beforeAll(async () => {
  hexcodes = await Hexcodes.load();
});

const oddRow = fc.constantFrom(
  '',
  '\r',
  '1,21,105.8,"abc"tail,2',
  '1,21,105.8,x"y,2',
  '7,21.03,105.8,"a\nb\r\n",',
);
const brokenRow = fc.constantFrom(
  '1,2',
  '1,21,105.8,a,b,c',
  '1,21,105.8,a\0,b',
  '1,21,105.8,"open,1',
  '"',
  '1,21,105.8,"a""',
);
const choices = fc.constantFrom<Request['columns']>(
  { prefix: '' },
  { prefix: 'x_', keep: ['name', 'lng', 'lat', 'id'] },
  { prefix: '', drop: ['speed', 'lat'] },
  { prefix: '', keep: ['id'] },
  { prefix: '', keep: ['lng', 'name'], lat: 'lat', lng: 'lng' },
);

test.each(['ndjson', 'geojson', 'csv', 'tsv', 'parquet', 'arrow'])(
  'CSV to %s',
  async (to) => {
    let byRows = 0;
    const isTyped = to === 'parquet' || to === 'arrow';
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 120, maxLength: 160 }),
        fc.array(oddRow, { maxLength: 5 }),
        rarely(brokenRow),
        policies(scratch, to),
        choices,
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        fc.nat(70),
        fc.record({ isFormer: fc.boolean(), hasCertainty: fc.boolean() }),
        sorts(to),
        async (rows, lines, wrong, errors, columns, end, hasMark, several, more, sort) => {
          // Each road names another one of two faults in a batch.
          const broken = errors.kind === 'stop' ? null : wrong;
          const odd = errors.kind === 'stop' ? lines.filter((line) => line !== '\r') : lines;
          // Some files of Parquet have more than one row group.
          const times = isTyped && several % 7 === 0 ? 500 : several;
          const many = Array.from({ length: times }, () => rows).flat();
          const all = [...rows, ...odd, ...many, ...(broken === null ? [] : [broken]), ...odd];
          const path = join(scratch, 'in.csv');
          writeFileSync(path, `${hasMark ? '\ufeff' : ''}id,lat,lng,name,speed${end}${all.join(end)}`);
          const [fast, slow] = ['fast', 'slow'].map((name) => join(scratch, `${name}.${to}`));
          const asked = { errors, columns, sort, ...(to === 'csv' || to === 'tsv' ? more : {}) };
          const quick = await converted(hexcodes, [path], fast!, asked);
          const careful = await converted(hexcodes, [path], slow!, { ...asked, road: 'columns' });
          if (isRows(quick)) byRows++;
          expect(isRows(careful)).toBe(false);
          // Rows of CSV with all columns are copied as they are, quotes and line ends too.
          if (to === 'csv' && columns.keep === undefined && columns.drop === undefined) return;
          await expectAlike(quick, careful, to);
        },
      ),
      { numRuns: to === 'parquet' ? 12 : isTyped ? 5 : 25, endOnFailure: true },
    );
    expect(byRows).toBeGreaterThan(0);
  },
  240_000,
);

test('a second file continues the first, or has other columns', async () => {
  const lines = (name: string) => Array.from({ length: 120 }, (_, i) => `${name}${i},21.03,105.8`);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => join(scratch, `${name}.csv`));
  writeFileSync(a!, ['id,lat,lng', ...lines('a')].join('\n'));
  writeFileSync(b!, ['id,lat,lng', ...lines('b')].join('\n'));
  writeFileSync(c!, ['id,lng,lat', ...lines('c')].join('\n'));
  for (const to of ['ndjson', 'tsv', 'parquet']) {
    const output = join(scratch, `both.${to}`);
    const quick = await converted(hexcodes, [a!, b!], output, {});
    expect(isRows(quick)).toBe(true);
    await expectAlike(quick, await converted(hexcodes, [a!, b!], output, { road: 'columns' }), to);
    for (const road of [{}, { road: 'columns' }] as const)
      expect((await converted(hexcodes, [a!, c!], output, road)).fault).toContain('other columns than');
  }
});

test.each(['csv', 'tsv', 'ndjson', 'geojson'])(
  'Parquet to %s',
  async (to) => {
    let byRows = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(typedRow, { minLength: 1, maxLength: 60 }),
        policies(scratch, to),
        fc.constantFrom<Request['columns']>(
          { prefix: '' },
          { prefix: 'x_', keep: ['at', 'lng', 'lat', 'id'] },
          { prefix: '', drop: ['lat', 'name'] },
        ),
        fc.constantFrom(1, 3, 400),
        fc.constantFrom(50, 5000),
        fc.boolean(),
        async (rows, errors, columns, times, rowGroupSize, isSnappy) => {
          const all = Array.from({ length: times }, () => rows).flat();
          const columnData = Object.entries(TYPES).map(([name, type]) => ({
            ...{ name, type, nullable: true },
            data: all.map((each) => each[name as keyof typeof TYPES]),
          }));
          const path = join(scratch, 'in.parquet');
          const codec = isSnappy ? 'SNAPPY' : 'UNCOMPRESSED';
          const file = parquetWriteBuffer({ columnData, rowGroupSize, codec, pageSize: 4000 } as Parameters<
            typeof parquetWriteBuffer
          >[0]);
          writeFileSync(path, new Uint8Array(file));
          if (await bothRoads(hexcodes, [path], { output, to }, { errors, columns })) byRows++;
        },
      ),
      { numRuns: 25 },
    );
    expect(byRows).toBeGreaterThan(0);
  },
  240_000,
);

test.each(['csv', 'tsv'])(
  'NDJSON to %s',
  async (to) => {
    let byRows = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(jsonLine, { minLength: 20, maxLength: 60 }),
        fc.array(oddLine, { maxLength: 4 }),
        rarely(brokenLine),
        policies(scratch, to),
        fc.constantFrom<Request['columns']>(
          { prefix: '' },
          { prefix: 'x_', keep: ['name', 'lng', 'lat', 'id'] },
          { prefix: '', drop: ['lat', 'is on'] },
        ),
        fc.constantFrom(0, 3, 300),
        fc.boolean(),
        async (lines, odd, wrong, errors, columns, times, hasEnd) => {
          const broken = errors.kind === 'stop' ? null : wrong;
          const whole = '{"id":1,"lat":21.03,"lng":105.8,"name":"a","is on":true}';
          const many = Array.from({ length: times }, () => lines).flat();
          const all = [whole, ...lines, ...odd, ...many, ...(broken === null ? [] : [broken]), ...odd, whole];
          const path = join(scratch, 'rows.ndjson');
          writeFileSync(path, all.join('\n') + (hasEnd ? '\n' : ''));
          if (await bothRoads(hexcodes, [path], { output, to }, { errors, columns })) byRows++;
        },
      ),
      { numRuns: 40 },
    );
    expect(byRows).toBeGreaterThan(0);
  },
  240_000,
);
