// Formats of types by rows of bytes give what the conversion value by value gives: columns, types, rows, bounds, counts
// and faults; NDJSON after a survey of all its rows, Parquet by its plain values; sorted, too.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { beforeAll, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import {
  arrowOf,
  bothRoads,
  brokenLine,
  field,
  jsonLine,
  oddLine,
  policies,
  type Request,
  rarely,
  sorts,
  TYPES,
  typedRow,
  usualNumber,
} from '../../../support/files/roads.js';
import { ownFolder } from '../../../support/own-folder.js';

const scratch = ownFolder('typed-rows');
const output = join(scratch, 'out-');
let hexcodes: Hexcodes;
beforeAll(async () => {
  hexcodes = await Hexcodes.load();
});

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
const long = fc.constantFrom('123456789012345678901234567890', `1${'0'.repeat(39)}`);
const nested = fc.constantFrom('[1, 2]', '{"a": "é", "b": [null]}', '"text"', '"a\\"b"', 'true', '[]');
const numbers = fc.constantFrom(
  ...[integer, fraction, fc.oneof(integer, huge), fc.oneof(integer, long), fc.oneof(integer, fraction, huge)],
  ...[nested, fc.oneof(nested, fraction), fc.constant('null')],
);
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

test.each(['parquet', 'arrow'])(
  'NDJSON to %s',
  async (to) => {
    let byRows = 0;
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.array(fc.oneof(jsonLine, oddLine), { maxLength: 3 }),
        rarely(brokenLine),
        policies(scratch, to),
        sorts(to),
        fc.constantFrom<Request['columns']>(
          { prefix: '' },
          { prefix: 'x_', keep: ['name', 'lng', 'lat', 'id'] },
          { prefix: '', drop: ['lat', 'share'] },
        ),
        fc.constantFrom(0, 3, 300),
        fc.boolean(),
        async (lines, odd, wrong, errors, sort, columns, times, isSplit) => {
          const broken = errors.kind === 'stop' ? null : wrong;
          const whole = '{"id":1,"lat":21.03,"lng":105.8,"name":"a","share":1,"is on":true}';
          const many = Array.from({ length: times }, () => lines).flat();
          const all = [whole, ...lines, ...odd, ...many, ...(broken === null ? [] : [broken]), ...odd];
          const paths = ['in', 'more'].map((name) => join(scratch, `${name}.ndjson`));
          writeFileSync(paths[0]!, all.join('\n'));
          writeFileSync(paths[1]!, `${lines.join('\n')}\n`);
          const inputs = isSplit ? paths : paths.slice(0, 1);
          if (await bothRoads(hexcodes, inputs, { output, to }, { errors, columns, sort })) byRows++;
        },
      ),
      { numRuns: 60 },
    );
    expect(byRows).toBeGreaterThan(5);
  },
  240_000,
);

test.each(['parquet', 'arrow'])(
  'Parquet to %s',
  async (to) => {
    let byRows = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(typedRow, { minLength: 1, maxLength: 60 }),
        policies(scratch, to),
        sorts(to),
        fc.constantFrom<Request['columns']>(
          { prefix: '' },
          { prefix: 'x_', keep: ['at', 'lng', 'lat', 'id'] },
          { prefix: '', drop: ['lat', 'name'] },
        ),
        fc.constantFrom(1, 3, 400),
        fc.constantFrom(50, 5000),
        fc.boolean(),
        async (rows, errors, sort, columns, times, rowGroupSize, isSnappy) => {
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
          if (await bothRoads(hexcodes, [path], { output, to }, { errors, columns, sort })) byRows++;
        },
      ),
      { numRuns: 40 },
    );
    expect(byRows).toBeGreaterThan(5);
  },
  240_000,
);

test.each(['csv', 'ndjson', 'geojson', 'parquet', 'arrow'])(
  'Arrow to %s',
  async (to) => {
    let byRows = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(typedRow, { minLength: 1, maxLength: 60 }),
        policies(scratch, to),
        sorts(to),
        fc.constantFrom<Request['columns']>(
          { prefix: '' },
          { prefix: 'x_', keep: ['at', 'lng', 'lat', 'id'] },
          { prefix: '', drop: to === 'geojson' ? ['name'] : ['lat', 'name'] },
        ),
        fc.constantFrom(1, 3, 400),
        fc.constantFrom(50, 5000),
        fc.boolean(),
        async (rows, errors, sort, columns, times, batchRows, isSmall) => {
          const all = Array.from({ length: times }, () => rows).flat();
          const path = join(scratch, 'in.arrow');
          writeFileSync(path, arrowOf(all, batchRows, isSmall));
          if (await bothRoads(hexcodes, [path], { output, to }, { errors, columns, sort })) byRows++;
        },
      ),
      { numRuns: 40 },
    );
    expect(byRows).toBeGreaterThan(5);
  },
  240_000,
);
