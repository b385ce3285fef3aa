// Rows of bytes give what the conversion value by value gives: the same bytes in text formats, the same columns, types,
// rows and bounds in Parquet and Arrow, the same counts and faults; NDJSON with columns inferred from all its rows,
// Parquet by its plain values; sorted, too.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  columnFromArray,
  type DataType,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  tableFromColumns,
  tableToIPC,
  uint8,
  uint32,
  utf8,
} from '@uwdata/flechette';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import {
  arrowOf,
  bothRoads,
  brokenLine,
  coded,
  codeRow,
  codeText,
  converted,
  expectAlike,
  field,
  isRows,
  jsonLine,
  oddLine,
  policies,
  type Request,
  rarely,
  row,
  sorts,
  TYPES,
  type TypedRow,
  typedRow,
  usualNumber,
} from '../../../support/files/pipelines.js';
import { ownFolder } from '../../../support/shared.js';

const scratch = ownFolder('rows');
const output = join(scratch, 'out-');
const hexcodes = await Hexcodes.load();

/** How often rows stand in a file: a few times, and now and then in more batches than one, of 8,192 rows. */
const repeats = (few: readonly number[], many: number) =>
  fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...few) }, { weight: 1, arbitrary: fc.constant(many) });

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
        repeats([1, 2, 3, 5, 7, 8], 69),
        fc.record({ isFormer: fc.boolean(), hasCertainty: fc.boolean() }),
        sorts(to),
        fc.option(fc.integer({ min: 40, max: 3000 }), { nil: undefined }),
        async (rows, lines, wrong, errors, columns, end, hasMark, several, more, sort, sliceBytes) => {
          // Each pipeline names another one of two faults in a batch.
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
          const careful = await converted(hexcodes, [path], slow!, { ...asked, pipeline: 'values' });
          if (isRows(quick)) byRows++;
          expect(isRows(careful)).toBe(false);
          if (to === 'csv' && sliceBytes !== undefined)
            await expectAlike(
              quick,
              await converted(hexcodes, [path], slow!, { ...asked, threads: 2, sliceBytes }),
              to,
            );
          // Rows of CSV with all columns are copied as they are, quotes and line ends too.
          if (to === 'csv' && columns.keep === undefined && columns.drop === undefined) return;
          await expectAlike(quick, careful, to);
        },
      ),
      { numRuns: to === 'parquet' ? 8 : isTyped ? 4 : 15, endOnFailure: true },
    );
    expect(byRows).toBeGreaterThan(0);
  },
  240_000,
);

/** Kept and left out, codes too. The names of ours are those of columns of some files. */
const ofCodes = (code: string) =>
  fc.constantFrom<Request['columns']>(
    { prefix: 'd_', code },
    { prefix: 'd_', code, keep: ['name', 'id'] },
    { prefix: 'd_', code, keep: ['id'] },
    { prefix: 'd_', code, keep: [code] },
    { prefix: '', code, drop: [code] },
  );

test.each(['ndjson', 'geojson', 'csv', 'tsv', 'parquet', 'arrow'])(
  'codes of CSV to %s',
  async (to) => {
    let byRows = 0;
    const property = fc.asyncProperty(
      fc.array(codeRow, { minLength: 1, maxLength: 60 }),
      fc.array(oddRow, { maxLength: 5 }),
      rarely(brokenRow),
      policies(scratch, to),
      // Rows of CSV with all columns are copied as they are, quotes and line ends too.
      ofCodes('hexcodes').filter(({ keep, drop }) => to !== 'csv' || (keep ?? drop) !== undefined),
      fc.constantFrom('\n', '\r\n'),
      repeats([1, 3], 200),
      async (rows, lines, wrong, errors, columns, end, times) => {
        const broken = errors.kind === 'stop' || wrong === null ? [] : [wrong];
        const odd = errors.kind === 'stop' ? [] : lines;
        const all = [...Array.from({ length: times }, () => rows).flat(), ...odd, ...broken, ...rows];
        const path = join(scratch, 'codes.csv');
        writeFileSync(path, `id,hexcodes,lng,name,speed${end}${all.join(end)}`);
        const asked = { operation: 'decode', errors, columns } as const;
        if (await bothRoads(hexcodes, [path], { output, to }, asked)) byRows++;
      },
    );
    await fc.assert(property, { numRuns: 18 });
    expect(byRows).toBeGreaterThan(2);
  },
  240_000,
);

test('members of a second file in another order', async () => {
  const [a, b] = ['a', 'b'].map((name) => join(scratch, `${name}.ndjson`));
  writeFileSync(a!, '{"lat":21.03,"lng":105.8}\n');
  writeFileSync(b!, '{"lng":105.8,"id":1,"lat":21.03}\n');
  for (const given of [{}, { pipeline: 'values' }] as const) {
    const { bytes } = await converted(hexcodes, [a!, b!], join(scratch, 'both.ndjson'), given);
    const codes = bytes!.toString().match(/"hexcodes":"[^"]+"/g);
    expect([codes?.length, new Set(codes).size]).toEqual([2, 1]);
  }
});

test('members that some rows lack, by the names of those that every object inherits', async () => {
  const path = join(scratch, 'inherits.ndjson');
  const named = '"constructor":"a","toString":"b","__proto__":"c"';
  writeFileSync(path, `{"lat":21.03,"lng":105.8,${named}}\n{"lat":21.04,"lng":105.8}\n`);
  for (const to of ['csv', 'geojson', 'parquet'])
    expect(await bothRoads(hexcodes, [path], { output, to }, { columns: { prefix: '' } })).toBe(true);
});

test('a second file of NDJSON continues the first in a table, or has other columns', async () => {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => join(scratch, `${name}.ndjson`));
  writeFileSync(a!, '{"id":1,"note":{"x": 1},"lat":21.03,"lng":105.8}\n'.repeat(3));
  writeFileSync(c!, '{"id":"1","note":{"x":1},"lat":21.03,"lng":105.8}\n');
  const asked = { columns: { prefix: '' } };
  writeFileSync(b!, '{"id":2,"note":[ ],"lat":21.04,"lng":105.81}\n{"lng":105.8,"id":3,"lat":21.04}\n');
  expect(await bothRoads(hexcodes, [a!, b!], { output, to: 'csv' }, asked)).toBe(true);
  expect(await bothRoads(hexcodes, [a!, c!], { output, to: 'csv' }, asked)).toBe(false);
});

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
    await expectAlike(quick, await converted(hexcodes, [a!, b!], output, { pipeline: 'values' }), to);
    for (const given of [{}, { pipeline: 'values' }] as const)
      expect((await converted(hexcodes, [a!, c!], output, given)).fault).toContain('other columns than');
  }
});

/** Whole numbers, blanks, none, and what is not a resolution, as CSV and JSON write them. */
const ownOfCsv = fc.constantFrom(
  '',
  '0',
  '9',
  '13',
  '15',
  ' 7 ',
  '"8"',
  '16',
  '07',
  '-1',
  '9.0',
  'x',
  '"1""3"',
);
const numberOfJson = fc.constantFrom('null', '0', '9', '13', '15', '9.0', '1e1', '16', '-1', '7.5');
const member = (name: string) => numberOfJson.map((number) => `,"${name}":${number}`);
/** Members of a line: none, one or two, which may contradict each other, also where a name is escaped. */
const ownOfJson = fc
  .tuple(
    fc.constantFrom('', 'one', 'one', 'one', 'two'),
    member('resolution'),
    fc.oneof(member('resolution'), member('resolu\\u0074ion')),
  )
  .map(([kind, one, two]) => (kind === '' ? '' : kind === 'one' ? one : one + two));
const place = fc.tuple(
  fc.double({ min: 8, max: 24, noNaN: true }),
  fc.double({ min: 102, max: 110, noNaN: true }),
);
const choicesOfOwn = fc.constantFrom<Request['columns']>(
  { prefix: '' },
  { prefix: 'x_', keep: ['resolution', 'id'] },
  { prefix: '', drop: ['lat'] },
);

test.each([
  ...['ndjson', 'geojson', 'csv', 'tsv', 'parquet', 'arrow'].map((to) => ['csv', to] as const),
  ['ndjson', 'csv'],
  ['ndjson', 'tsv'],
  ['ndjson', 'ndjson'],
  ['ndjson', 'geojson'],
  ['ndjson', 'parquet'],
  ['ndjson', 'arrow'],
] as const)(
  'each row at its own resolution, from %s to %s',
  async (from, to) => {
    let byRows = 0;
    const path = join(scratch, `own.${from}`);
    const property = fc.asyncProperty(
      fc.array(fc.tuple(place, ownOfCsv, ownOfJson), { minLength: 100, maxLength: 150 }),
      rarely(fc.constantFrom('1,21,105.8', '1,21,105.8,9,x')),
      policies(scratch, to),
      // Rows of CSV with all columns are copied as they are; GeoJSON needs positions.
      choicesOfOwn.filter(({ keep, drop }) => {
        const isChosen = (keep ?? drop) !== undefined;
        return to === 'geojson' ? !isChosen : isChosen || to !== 'csv' || from !== 'csv';
      }),
      fc.record({ isFormer: fc.boolean(), hasCertainty: fc.boolean(), sort: sorts(to) }),
      async (rows, ragged, errors, columns, more) => {
        const ofCsv = rows.map(([[lat, lng], own], id) => `${id},${lat},${lng},${own}`);
        const ofJson = rows.map(([[lat, lng], , own], id) => `{"id":${id},"lat":${lat},"lng":${lng}${own}}`);
        const lines = from === 'csv' ? ['id,lat,lng,resolution', ...ofCsv] : ofJson;
        if (ragged !== null && from === 'csv') lines.push(ragged);
        writeFileSync(path, lines.join('\n'));
        if (await bothRoads(hexcodes, [path], { output, to }, { errors, columns, ...more })) byRows++;
      },
    );
    await fc.assert(property, { numRuns: 12 });
    expect(byRows).toBeGreaterThan(0);
  },
  240_000,
);

/** Types of a column of resolutions, and whether it has fractions. */
const OWN_TYPES: Readonly<Record<string, readonly [type: () => DataType, of: (value: number) => unknown]>> = {
  int8: [int8, Math.trunc],
  uint8: [uint8, (value) => Math.trunc(value) & 255],
  int16: [int16, Math.trunc],
  uint32: [uint32, (value) => Math.trunc(value) >>> 0],
  int32: [int32, Math.trunc],
  int64: [int64, (value) => BigInt(Math.trunc(value))],
  float32: [float32, (value) => value],
  float64: [float64, (value) => value],
  utf8: [utf8, String],
};
const ownNumber = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 0, max: 15 }) },
  fc.constantFrom(16, -1, 7.5, 48, 57, 127, -0),
);

test.each([
  ['arrow', 'parquet'],
  ['arrow', 'arrow'],
  ['arrow', 'ndjson'],
  ['parquet', 'parquet'],
  ['parquet', 'arrow'],
  ['parquet', 'csv'],
] as const)(
  'each row at its own resolution of any type, from %s to %s',
  async (from, to) => {
    let byRows = 0;
    const property = fc.asyncProperty(
      fc.array(fc.tuple(place, fc.option(ownNumber, { freq: 9 })), { minLength: 100, maxLength: 150 }),
      fc.constantFrom(...Object.keys(OWN_TYPES)),
      policies(scratch, to),
      choicesOfOwn,
      sorts(to),
      async (rows, kind, errors, columns, sort) => {
        const [type, of] = OWN_TYPES[kind]!;
        const own = rows.map(([, value]) => (value === null ? null : of(value)));
        const arrow = tableToIPC(
          tableFromColumns([
            ['id', columnFromArray([...rows.keys()], int32())],
            ...[0, 1].map((half) => [
              ['lat', 'lng'][half]!,
              columnFromArray(
                rows.map(([at]) => at[half]),
                float64(),
              ),
            ]),
            ['resolution', columnFromArray(own as never, type() as never)],
          ] as never),
          { format: 'file' },
        )!;
        let path = join(scratch, 'typed.arrow');
        writeFileSync(path, arrow);
        if (from === 'parquet') {
          // Its types are those of Arrow.
          const renamed = await converted(hexcodes, [path], join(scratch, 'typed.parquet'), {
            columns: { prefix: 'x_' },
          });
          expect(renamed.fault).toBeUndefined();
          path = join(scratch, 'typed.parquet');
        }
        if (await bothRoads(hexcodes, [path], { output, to }, { errors, columns, sort })) byRows++;
      },
    );
    await fc.assert(property, { numRuns: 25 });
    expect(byRows).toBeGreaterThan(5);
  },
  240_000,
);

/** Numbers by which the columns of a file are integers, integers and fractions, or of any kind. */
const integer = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: -1000, max: 1000 }).map(String) },
  fc.constantFrom('null', '-0', '123456789012345', '9007199254740991', '-1234567890123456'),
);
const fraction = fc.oneof(
  { weight: 5, arbitrary: integer },
  { weight: 5, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map(String) },
  fc.constantFrom(
    '2.0',
    '2.50',
    '1e3',
    '1E-2',
    '-0.0',
    '1.00000000000000000001',
    '5e-324',
    '0.1000000000000000055',
  ),
);
const huge = fc.constantFrom(
  '9007199254740993',
  '-9223372036854775808',
  '9223372036854775807',
  '18446744073709551615',
);
const long = fc.constantFrom('123456789012345678901234567890', `1${'0'.repeat(39)}`, '-1e308');
const escaped = fc.oneof(
  { weight: 6, arbitrary: field.map((text) => JSON.stringify(text)) },
  field.map((text) =>
    JSON.stringify(text).replace(
      /[^ -~]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  ),
  fc.constantFrom(
    '"\\/"',
    '"\\u00E9"',
    '"\\ud83d\\ude00"',
    '"\\ud800"',
    '"\\ude00\\ud83d"',
    '"\\u0000"',
    'null',
  ),
);
const blank = fc.constantFrom('', '', ' ', '\t');
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('"a"', '"b"', '"c d"', '"\\u0061"', '"\\""') },
  fc.nat(12).map((number) => `"${number}"`),
  fc.constantFrom('"01"', '"4294967294"', '"4294967295"', '"00"', '"__proto__"', '""'),
);
/** Lists and objects in any spelling; names repeat, and numbers among them do not come first. */
const { nested } = fc.letrec<{ nested: string; value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(integer, fraction, huge, long, escaped, fc.constantFrom('true', 'false')),
    tie('nested'),
  ),
  list: fc
    .tuple(blank, fc.array(tie('value'), { maxLength: 4 }))
    .map(([at, values]) => `[${at}${values.join(`${at},`)}]`),
  object: fc
    .tuple(blank, fc.array(fc.tuple(name, blank, tie('value')), { maxLength: 5 }))
    .map(
      ([at, members]) =>
        `{${at}${members.map(([each, gap, value]) => `${each}${gap}:${gap}${value}`).join(`${at},`)}${at}}`,
    ),
  nested: fc.oneof(tie('list'), tie('object')),
}));
const mixed = fc.oneof(
  { weight: 3, arbitrary: nested },
  fc.constantFrom('[1, 2]', '"text"', '"a\\"b"', '"/\\/\\u00e9"', 'true', '[]', '{}'),
);
const numbers = fc.constantFrom(
  ...[integer, fraction, fc.oneof(integer, huge), fc.oneof(integer, long), fc.oneof(integer, fraction, huge)],
  ...[mixed, fc.oneof(mixed, fraction), fc.constant('null')],
);
const table = fc
  .tuple(numbers, numbers, fc.constantFrom(': ', ':'), fc.boolean())
  .chain(([one, other, colon, isText]) =>
    fc.array(
      fc
        .tuple(
          one,
          usualNumber(8, 23),
          usualNumber(102, 109),
          escaped,
          other,
          fc.constantFrom('true', 'false'),
          fc.nat(9),
        )
        .map(([id, lat, lng, name, share, isOn, way]) => {
          const quote = isText ? '"' : '';
          const members = [
            ...[`"id"${colon}${id}`, `"lat"${colon}${quote}${lat}${quote}`, `"lng"${colon}${lng}`],
            ...[`"name"${colon}${name}`, `"share"${colon}${share}`, `"is on"${colon}${isOn}`],
          ];
          if (way === 0) members.reverse();
          if (way === 1) members.pop();
          if (way === 2) members.splice(1, 1);
          if (way === 3) members.push('"other":1');
          return `{${members.join(colon === ':' ? ',' : ', ')}}`;
        }),
      { minLength: 1, maxLength: 40 },
    ),
  );

const allColumns = (drop: string[]) =>
  fc.constantFrom<Request['columns']>(
    { prefix: '' },
    { prefix: 'x_', keep: ['name', 'lng', 'lat', 'id'] },
    { prefix: '', drop },
  );

test.each(['csv', 'geojson', 'parquet'])('lists and objects of any spelling to %s', async (to) => {
  const path = join(scratch, 'nested.ndjson');
  const property = fc.asyncProperty(fc.array(mixed, { minLength: 60, maxLength: 100 }), async (values) => {
    // Rows before them, so that the column is of values of several kinds.
    const all = ['[]', '1', ...values];
    writeFileSync(path, all.map((value) => `{"a":${value},"lat":21.03,"lng":105.8}`).join('\n'));
    expect(await bothRoads(hexcodes, [path], { output, to }, { columns: { prefix: '' } })).toBe(true);
    if (to !== 'parquet') return;
    const columns = { prefix: 'x_' };
    for (const text of ['csv', 'ndjson', 'geojson'])
      await bothRoads(hexcodes, [`${output}fast.parquet`], { output, to: text }, { columns });
  });
  await fc.assert(property, { numRuns: 20 });
});

/** Features whose values alone differ are read by their shape, unless the first ones of the file have none. */
test('a feature of another shape starts a window of rows, and later rows keep their values', async () => {
  const path = join(scratch, 'window.geojson');
  const feature = (id: number) => {
    const coordinates = id % 4096 === 0 ? [[105.8525, 21.0288]] : [105.8525, 21.0288];
    const geometry = { type: id % 4096 === 0 ? 'MultiPoint' : 'Point', coordinates };
    return { type: 'Feature', geometry, properties: { id, name: `n${id}` } };
  };
  const features = Array.from({ length: 9000 }, (_, id) => feature(id));
  writeFileSync(path, JSON.stringify({ type: 'FeatureCollection', features }));
  const { bytes } = await converted(hexcodes, [path], join(scratch, 'window.csv'), {});
  const lines = bytes!.toString().trimEnd().split('\n').slice(1);
  expect(lines).toHaveLength(features.length);
  for (const [id, line] of lines.entries())
    expect(line).toMatch(new RegExp(`^21.0288,105.8525,${id},n${id},HN-[^,]+,12,HN,OK$`));
});

test('a resolution that is left out of lines, which are at resolutions of their own', async () => {
  const path = join(scratch, 'left-out.ndjson');
  const lines = [9, 12, 'x'].map((resolution, id) =>
    JSON.stringify({ id, lat: 21.0288, lng: 105.8525, resolution }),
  );
  writeFileSync(path, lines.join('\n'));
  const columns = { prefix: '', keep: ['id'] };
  const { bytes } = await converted(hexcodes, [path], join(scratch, 'left-out-.ndjson'), { columns });
  expect(bytes!.toString().split('\n')).toEqual([
    '{"id":0,"hexcodes":"HN-6GHP4-7QQ","resolution":9,"admin_code":"HN","status":"OK"}',
    '{"id":1,"hexcodes":"HN-6GHP4-83R69","resolution":12,"admin_code":"HN","status":"OK"}',
    '{"id":2,"hexcodes":null,"resolution":null,"admin_code":null,"status":"INVALID_REQUEST"}',
    '',
  ]);
});

test.each(['csv', 'ndjson', 'geojson'])('features of one shape to %s, and behind others', async (to) => {
  const blanks = fc.constantFrom('', '', ' ', '\n');
  const value = fc.oneof(
    mixed,
    fraction,
    escaped,
    fc.constantFrom('true', 'null', '[[[]]]', '{"a":{"b":[{}]}}'),
  );
  const feature = fc.tuple(places, value, value, fc.nat(9), blanks);
  const textOf = (geometry: string, one: string, other: string, gap: string, isOdd: boolean): string => {
    const id = isOdd ? '"id":7,' : '';
    return `{"type":"Feature",${id}"properties":{"a":${one},${gap}"b":${other}},"geometry":${geometry}}`;
  };
  const property = fc.asyncProperty(
    fc.array(feature, { minLength: 1, maxLength: 40 }),
    fc.constantFrom<Request['columns']>(
      { prefix: '' },
      { prefix: 'x_', keep: ['a', 'lat', 'lng'] },
      { prefix: '', drop: ['b'] },
    ),
    async (features, columns) => {
      const texts = features.map(([[lat, lng], one, other, way, gap]) =>
        textOf(`{"type":"Point","coordinates":[${lng},${lat}]}`, one, other, gap, way === 0),
      );
      // Both kinds of values are in the first rows.
      const first = ['[]', '1'].map((each) =>
        textOf('{"type":"Point","coordinates":[105,21]}', each, each, '', true),
      );
      const others = Array.from({ length: 70 }, () =>
        textOf('{"type":"MultiPoint","coordinates":[[105,21]]}', '[1]', '[1]', '', true),
      );
      const rows: unknown[] = [];
      for (const [i, all] of [
        [...first, ...texts],
        [...others, ...first, ...texts],
      ].entries()) {
        const path = join(scratch, `shapes${i}.geojson`);
        writeFileSync(path, `{"type":"FeatureCollection","features":[\n${all.join(',\n')}\n]}`);
        const { bytes, fault } = await converted(hexcodes, [path], `${output}${i}.${to}`, { columns });
        const lines =
          bytes
            ?.toString()
            .trimEnd()
            .split('\n')
            .map((line) => line.replace(/,$/, '')) ?? [];
        rows.push([lines.slice(-1 - texts.length), fault?.replace(/.*row \d+/, '')]);
      }
      expect(rows[0]).toEqual(rows[1]);
    },
  );
  await fc.assert(property, { numRuns: 25 });
});

test('columns that come late have the types of all their values', async () => {
  const line = (more: string): string => `{"lat":21.03,"lng":105.8${more}}`;
  const lines = ['', ',"a":1', ',"a":2.5,"b":1', ',"b":"x","c":true', ',"c":null', ',"a":3,"c":false'].map(
    line,
  );
  const path = join(scratch, 'late.ndjson');
  for (const times of [0, 40, 9000]) {
    const first = Array.from({ length: times }, () => line(''));
    writeFileSync(path, [...first, ...lines, ' ', ...first, ...lines].join('\n'));
    expect(await bothRoads(hexcodes, [path], { output, to: 'parquet' }, { columns: { prefix: '' } })).toBe(
      true,
    );
  }
});

test('names of columns for which the kernel has no room', async () => {
  const line = (columns: number, row: number): string =>
    JSON.stringify({
      lat: 21 + row / 1000,
      lng: 105.8,
      ...Object.fromEntries(
        Array.from({ length: columns }, (_, i) => [
          `${'n'.repeat(60)}${i}`,
          (i + row) % 7 === 0 ? null : i / 2,
        ]),
      ),
    });
  const path = join(scratch, 'wide.ndjson');
  const widths = [300, 300, ...Array.from({ length: 20 }, () => 800)];
  writeFileSync(path, widths.map(line).join('\n'));
  for (const to of ['parquet', 'arrow'])
    expect(await bothRoads(hexcodes, [path], { output, to }, { columns: { prefix: '' } })).toBe(true);
  writeFileSync(path, widths.slice(2).map(line).join('\n'));
  expect(await bothRoads(hexcodes, [path], { output, to: 'csv' }, { columns: { prefix: '' } })).toBe(true);
});

/** Rows whose names are codes. */
const codedRow = fc.tuple(typedRow, fc.option(codeText)).map(([each, name]) => ({ ...each, name }));

/** Rows of typed columns through a file that `write` makes of them. */
function typedRows(
  to: string,
  write: (rows: readonly TypedRow[], batchRows: number, isOther: boolean) => readonly [string, Uint8Array],
  drop: string[],
  operation: Request['operation'],
): Promise<number> {
  let byRows = 0;
  const property = fc.asyncProperty(
    fc.array(operation === 'encode' ? typedRow : codedRow, { minLength: 1, maxLength: 60 }),
    policies(scratch, to),
    operation === 'encode' ? sorts(to) : fc.constant(null),
    operation === 'encode' ? allColumns(drop) : ofCodes('name'),
    repeats([1, 3], 400),
    fc.constantFrom(50, 5000),
    fc.boolean(),
    async (rows, errors, sort, columns, times, batchRows, isOther) => {
      const all = Array.from({ length: times }, () => rows).flat();
      const [name, bytes] = write(all, batchRows, isOther);
      const path = join(scratch, name);
      writeFileSync(path, bytes);
      if (await bothRoads(hexcodes, [path], { output, to }, { operation, errors, columns, sort })) byRows++;
    },
  );
  return fc.assert(property, { numRuns: 22 }).then(() => byRows);
}

test.each(['csv', 'tsv', 'ndjson', 'geojson', 'parquet', 'arrow'])(
  'Parquet to %s',
  async (to) => {
    const write = (rows: readonly TypedRow[], rowGroupSize: number, isSnappy: boolean) => {
      const columnData = Object.entries(TYPES).map(([name, type]) => ({
        ...{ name, type, nullable: true },
        data: rows.map((each) => each[name as keyof typeof TYPES]),
      }));
      const codec = isSnappy ? 'SNAPPY' : 'UNCOMPRESSED';
      const file = parquetWriteBuffer({ columnData, rowGroupSize, codec, pageSize: 4000 } as Parameters<
        typeof parquetWriteBuffer
      >[0]);
      return ['in.parquet', new Uint8Array(file)] as const;
    };
    expect(await typedRows(to, write, ['lat', 'name'], 'encode')).toBeGreaterThan(2);
    expect(await typedRows(to, write, [], 'decode')).toBeGreaterThan(2);
  },
  240_000,
);

test.each(['csv', 'ndjson', 'geojson', 'parquet', 'arrow'])(
  'Arrow to %s',
  async (to) => {
    const write = (rows: readonly TypedRow[], batchRows: number, isSmall: boolean) =>
      ['in.arrow', arrowOf(rows, batchRows, isSmall)] as const;
    const drop = to === 'geojson' ? ['name'] : ['lat', 'name'];
    expect(await typedRows(to, write, drop, 'encode')).toBeGreaterThan(2);
    expect(await typedRows(to, write, [], 'decode')).toBeGreaterThan(2);
  },
  240_000,
);

/** Names of the position in a file, and whether options name them. */
const names = fc.constantFrom<readonly [lat: string, lng: string, isChosen: boolean]>(
  ['lat', 'lng', false],
  ['lat', 'lng', true],
  ['latitude', 'lon', false],
  ['vĩ độ', 'laenge', true],
);
const jsonLines = fc.array(jsonLine, { minLength: 20, maxLength: 60 });
const slices = fc.option(fc.integer({ min: 3000, max: 50_000 }), { nil: undefined });

test.each(['csv', 'tsv', 'ndjson', 'geojson', 'parquet', 'arrow'])(
  'NDJSON to %s',
  async (to) => {
    let byRows = 0;
    const isTyped = to === 'parquet' || to === 'arrow';
    await fc.assert(
      fc.asyncProperty(
        to === 'ndjson' ? jsonLines : isTyped ? table : fc.oneof(table, jsonLines),
        fc.array(isTyped ? fc.oneof(jsonLine, oddLine) : oddLine, { maxLength: 4 }),
        rarely(brokenLine),
        policies(scratch, to),
        sorts(to),
        allColumns([to === 'geojson' ? 'id' : 'lat', isTyped ? 'share' : 'is on']),
        repeats([0, 3], 300),
        fc.boolean(),
        fc.record({ isFormer: fc.boolean(), hasCertainty: fc.boolean() }),
        names,
        slices,
        async (lines, odd, wrong, errors, sort, columns, times, isSplit, by, [lat, lng, isChosen], slice) => {
          const isLines = to === 'ndjson';
          const renamed = (text: string): string =>
            isLines ? text.replaceAll('"lat"', `"${lat}"`).replaceAll('"lng"', `"${lng}"`) : text;
          const asked = isLines
            ? { errors, ...by, columns: isChosen ? { prefix: '', lat, lng } : { prefix: '' } }
            : { errors, columns, sort };
          const sliceBytes = isLines ? slice : undefined;
          const broken = errors.kind === 'stop' ? null : wrong;
          const share = isTyped ? ',"share":1' : '';
          const whole = `{"id":1,"lat":21.03,"lng":105.8,"name":"a"${share},"is on":true}`;
          const many = Array.from({ length: times }, () => lines).flat();
          const all = [whole, ...lines, ...odd, ...many, ...(broken === null ? [] : [broken]), ...odd, whole];
          const paths = ['in', 'more'].map((name) => join(scratch, `${name}.ndjson`));
          writeFileSync(paths[0]!, renamed(all.join('\n') + (isSplit ? '\n' : '')));
          writeFileSync(paths[1]!, renamed(`${[whole, ...lines].join('\n')}\n`));
          const inputs = isSplit ? paths : paths.slice(0, 1);
          if (await bothRoads(hexcodes, inputs, { output, to, sliceBytes }, asked)) byRows++;
        },
      ),
      { numRuns: isTyped ? 32 : 26 },
    );
    expect(byRows).toBeGreaterThan(0);
  },
  240_000,
);

test.each(['csv', 'tsv', 'ndjson', 'geojson', 'parquet', 'arrow'])(
  'codes of NDJSON to %s',
  async (to) => {
    let byRows = 0;
    const property = fc.asyncProperty(
      fc.array(coded(jsonLine), { minLength: 1, maxLength: 60 }),
      fc.array(coded(oddLine), { maxLength: 4 }),
      rarely(coded(brokenLine)),
      policies(scratch, to),
      // Lines with all members are copied.
      ofCodes('hexcodes').filter(({ keep, drop }) => to !== 'ndjson' || (keep ?? drop) === undefined),
      repeats([0, 3], 300),
      slices,
      async (lines, odd, wrong, errors, columns, times, slice) => {
        const sliceBytes = to === 'ndjson' ? slice : undefined;
        const broken = errors.kind === 'stop' || wrong === null ? [] : [wrong];
        const whole = '{"id":1,"hexcodes":"HN-6GHP4-83RFR","lng":105.8,"name":"a","is on":true}';
        const many = Array.from({ length: times }, () => lines).flat();
        const path = join(scratch, 'codes.ndjson');
        writeFileSync(path, [whole, ...lines, ...odd, ...many, ...broken, ...odd, whole].join('\n'));
        const asked = { operation: 'decode', errors, columns } as const;
        if (await bothRoads(hexcodes, [path], { output, to, sliceBytes }, asked)) byRows++;
      },
    );
    await fc.assert(property, { numRuns: 22 });
    expect(byRows).toBeGreaterThan(2);
  },
  240_000,
);

const half = (least: number, most: number) =>
  fc.oneof({ weight: 5, arbitrary: usualNumber(least, most) }, fc.constantFrom('91', '-0', '1e30', '21.50'));
const places = fc.tuple(half(8, 23), half(102, 109));
const wholeText = fc.oneof(
  { weight: 5, arbitrary: places.map(([lat, lng]) => `${lat}, ${lng}`) },
  places.map(([lat, lng]) => `POINT (${lng} ${lat})`),
  places.map(([lat, lng]) => `https://www.google.com/maps/@${lat},${lng},15z`),
  fc.constantFrom(
    ...['', ' ', 'abc', '21.03', '21°01\'42"N 105°51\'00"E', 'geo:21.03,105.8', '"21.03,105.8"', '"'],
    ...['LINESTRING (105 21, 106 22)', '{"lat":21,"lng":105.8}', 'null', '7PH7+2V Hà Nội'],
  ),
);
/** An object with a position, in names of a nested option, or anything else. */
const wholeObject = fc.oneof(
  { weight: 5, arbitrary: places.map(([lat, lng]) => `{"lat":${lat},"lng":${lng}}`) },
  places.map(([lat, lng]) => `{ "lng" : "${lng}", "more": {"a": [1, 2]}, "lat" : "${lat}" }`),
  fc.constantFrom(
    ...['{"lat":21,"lat":22,"lng":105}', '{"lat":21}', '{}', '[21,105]', 'null', '21', 'true', '"21,105.8"'],
    ...[
      '{"lat":21,"lng":105.8,"ns":"S"}',
      '{"lat":21,"lng":105.8,"crs":{"type":"name"}}',
      '{"lat":null,"lng":1}',
    ],
  ),
);
/** Lines around objects of these columns, and lines with members that no table has. */
const ODD_WHOLE = [
  ...['', '  ', '\r', '{}', ' { "position" : "21.03, 105.8" , "name" : "}" } ', '{"name":"x"}\t', '{ }'],
  ...['{"position":"21.03,105.8","position":"22,105"}', '\u001e{"position":"21.03,105.8"}\r'],
  ...['{"positi\\u006fn":"21.03,105.8"}', '{"position":"21.03,105.8","name":"\\ud800"}  '],
];
const NEW_MEMBERS = [
  ...['{"hexcodes":"HN-2J","position":"21.03,105.8"}', '{"position":"21.03,105.8","status":{"a":1},"b":[]}'],
  ...['{"new":1e30}', '{"new":"}","position":{"lat":21.03,"lng":105.8}}', '{"name":[1],"position":"x"}'],
];
const ownOfWhole = fc.constantFrom('', '9', '13', '16');

test.each(
  ['csv', 'ndjson', 'nested'].flatMap((from) =>
    ['csv', 'tsv', 'ndjson', 'geojson', 'parquet', 'arrow'].map((to) => [from, to] as const),
  ),
)(
  'positions in one column, from %s to %s',
  async (from, to) => {
    let byRows = 0;
    const isCsv = from === 'csv';
    const quotedText = wholeText.map((text) => JSON.stringify(text));
    const member = from === 'nested' ? wholeObject : isCsv ? wholeText : quotedText;
    const rowsOf = (at: typeof member) =>
      fc.array(fc.tuple(at, field, ownOfWhole), { minLength: 120, maxLength: 160 });
    const mixed = fc.oneof({ weight: 9, arbitrary: quotedText }, wholeObject);
    const property = fc.asyncProperty(
      from === 'ndjson' && to === 'ndjson' ? fc.oneof(rowsOf(member), rowsOf(mixed)) : rowsOf(member),
      policies(scratch, to),
      sorts(to),
      isCsv || to !== 'ndjson'
        ? allColumns(['name', 'position'])
        : fc.constantFrom<Request['columns']>({ prefix: '' }, { prefix: 'x_' }),
      fc.boolean(),
      repeats([1, 2], 60),
      fc.record({ isFormer: fc.boolean(), hasCertainty: fc.boolean() }),
      fc.array(fc.constantFrom(...ODD_WHOLE), { maxLength: 6 }),
      fc.array(fc.constantFrom(...NEW_MEMBERS), { maxLength: 6 }),
      async (rows, errors, sort, chosen, hasOwn, times, by, odd, newMembers) => {
        const first =
          from === 'nested' ? '{"lat":21.03,"lng":105.8}' : isCsv ? '21.03,105.8' : '"21.03,105.8"';
        const many = Array.from({ length: times }, () => rows).flat();
        const all = [[first, 'x', '9'] as const, ...many];
        const keep = chosen.keep === undefined ? {} : { keep: ['name', 'position', 'resolution'] };
        const option =
          from === 'nested' ? { lat: 'position.lat', lng: 'position.lng' } : { position: 'position' };
        const columns = {
          ...chosen,
          ...(hasOwn ? keep : keep.keep ? { keep: ['position'] } : {}),
          ...option,
        };
        const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
        const own = (text: string, lead: string): string => (hasOwn ? `${lead}${text}` : '');
        const lines = isCsv
          ? [
              `position,name${own('resolution', ',')}`,
              ...all.map(([at, name, r]) => `${quoted(at)},${quoted(name)}${own(r, ',')}`),
            ]
          : all.map(
              ([at, name, r]) =>
                `{"position":${at},"name":${JSON.stringify(name)}${own(r === '' ? 'null' : r, ',"resolution":')}}`,
            );
        const path = join(scratch, `whole.${isCsv ? 'csv' : 'ndjson'}`);
        if (!isCsv) lines.push(...odd);
        if (!isCsv && to === 'ndjson') lines.push(...newMembers, ...lines);
        writeFileSync(path, lines.join('\n'));
        if (await bothRoads(hexcodes, [path], { output, to }, { errors, columns, sort, ...by })) byRows++;
      },
    );
    await fc.assert(property, { numRuns: 12, endOnFailure: true });
    expect(byRows).toBeGreaterThan(0);
  },
  240_000,
);
