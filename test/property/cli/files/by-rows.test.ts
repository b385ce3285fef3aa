// Rows of bytes give what the conversion value by value gives: the same bytes in text formats, the same rows, types and
// bounds in Parquet, the same counts and faults, over fields and numbers of every kind.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadLibrary } from '#dist/files/library.js';
import { convertFiles } from '#dist/files/run.js';
import type { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';

const scratch = mkdtempSync(join(tmpdir(), 'hexcodes-rows-'));
afterAll(() => rmSync(scratch, { recursive: true }));
let hexcodes: Hexcodes;
beforeAll(async () => {
  hexcodes = await loadLibrary();
});

type Request = Parameters<typeof convertFiles>[1];

interface Converted {
  readonly lines: string[];
  readonly tally?: string;
  readonly bytes?: Buffer;
  readonly rejected?: Buffer | null;
  readonly fault?: string;
}

async function converted(inputs: string[], output: string, given: Partial<Request>): Promise<Converted> {
  const lines: string[] = [];
  const request = {
    ...{ operation: 'encode', inputs, output, from: null, to: null, resolution: 12 },
    ...{ isFormer: false, sort: null, columns: { prefix: '' }, errors: { kind: 'keep' } },
    ...{ csv: { delimiter: null, decimal: '.', hasHeader: true }, input: {}, isResume: false },
    ...{ threads: 1, isQuiet: true, isVerbose: true },
    ...given,
  } as Request;
  try {
    const { tally } = await convertFiles(hexcodes, request, (line) => lines.push(line));
    const { errors } = request;
    return {
      lines,
      tally: JSON.stringify(tally.save(0)).replace(/"elapsedMs":\d+/, ''),
      bytes: readFileSync(output),
      rejected: errors.kind === 'file' ? readFileSync(errors.path) : null,
    };
  } catch (error) {
    return { lines, fault: (error as Error).message };
  }
}

/**
 * Rows as text, with numbers that JSON does not have: comparing a million values one by one takes minutes. Zeros have
 * no sign here, since dictionaries of hyparquet-writer, which the other road uses, hold one of the two.
 */
function textOfRows(rows: readonly Record<string, unknown>[]): string {
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))
      ? `${value} as a number`
      : value,
  );
}

/** A bound without the sign of a zero. */
const unsigned = (bound: unknown): unknown => (bound === 0 ? 0 : bound);

/**
 * A file as readers of Parquet see it: columns and types, rows, the counts and bounds of each chunk. Of texts the
 * bounds stand apart: hyparquet-writer compares UTF-16, rows of bytes compare bytes, as Parquet says.
 */
async function seen(bytes: Buffer) {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const { schema, row_groups: groups } = parquetMetadata(file);
  const all = await parquetReadObjects({ file });
  let first = 0;
  let textsOutside = 0;
  const bounds = groups.map(({ num_rows: rows, columns }) => {
    const ofGroup = all.slice(first, first + Number(rows));
    first += ofGroup.length;
    return columns.map(({ meta_data: meta }) => {
      const { min_value: least, max_value: most, null_count: nulls } = meta?.statistics ?? {};
      const path = meta?.path_in_schema;
      if (meta?.type !== 'BYTE_ARRAY')
        return { path, rows, nulls, least: unsigned(least), most: unsigned(most) };
      if (typeof least === 'string' && typeof most === 'string') {
        const [low, high] = [Buffer.from(least), Buffer.from(most)];
        textsOutside += ofGroup.filter((row) => {
          const value = row[path![0]!];
          if (typeof value !== 'string') return false;
          const text = Buffer.from(value);
          return text.compare(low) < 0 || text.compare(high) > 0;
        }).length;
      }
      return { path, rows, nulls };
    });
  });
  const types = schema.map(({ name, type, converted_type: converted, repetition_type: repetition }) => ({
    ...{ name, type, converted, repetition },
  }));
  return { types, bounds, rows: textOfRows(all), textsOutside };
}

async function expectAlike(one: Converted, other: Converted, to: string): Promise<void> {
  expect(one.fault).toBe(other.fault);
  expect(one.tally).toBe(other.tally);
  for (const part of ['bytes', 'rejected'] as const) {
    const [mine, theirs] = [one[part] ?? null, other[part] ?? null];
    if (mine === null || theirs === null) expect(mine).toBe(theirs);
    else if (to === 'parquet') {
      const { rows, textsOutside, ...rest } = await seen(mine);
      const { rows: theirRows, textsOutside: _, ...theirRest } = await seen(theirs);
      expect(textsOutside).toBe(0);
      expect(rest).toEqual(theirRest);
      expect(rows === theirRows).toBe(true);
    } else expect(mine.equals(theirs)).toBe(true);
  }
}

const isRows = ({ lines }: Converted): boolean => lines.some((line) => line.startsWith('Converted by rows'));
const policies = (to: string) =>
  fc.constantFrom<Request['errors']>(
    { kind: 'keep' },
    { kind: 'skip' },
    { kind: 'stop' },
    { kind: 'file', path: join(scratch, `rejects.${to}`) },
  );

const rarely = <Value>(broken: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: broken });

const usualNumber = (least: number, most: number) =>
  fc.integer({ min: least * 1e6, max: most * 1e6 }).map((value) => String(value / 1e6));
const oddNumber = fc.oneof(
  fc.double({ noNaN: true }).map(String),
  fc.constantFrom(
    ...[
      '',
      ' 21.5 ',
      '-0',
      '0',
      '0.0',
      '00.5',
      '.5',
      '5.',
      '+21.5',
      '1e400',
      '-1e400',
      '1E2',
      '1e-7',
      '0.0000001',
    ],
    ...['21.50', '21,5', 'NaN', 'Infinity', 'abc', '90', '90.0000001', '180', '21°01\'42"N', '105d 51m E'],
    ...['123456789012345678', '20.12345678901234', '20.123456789012345678', '9007199254740993', '2_1'],
  ),
);
const field = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'b', 'Hà Nội', '', '0012', '1e5', '-') },
  {
    weight: 2,
    arbitrary: fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.replaceAll('\0', '')),
  },
  fc.constantFrom(
    'say "x"',
    '"',
    '""',
    'a,b',
    'x\ny',
    'cr\r\nlf',
    '\r',
    'tab\t',
    ' 😀 ',
    '\u0001\u001f\u007f',
    '\\',
    '\u2028',
    'x'.repeat(3000),
  ),
);
const quoted = (text: string): string => (/[",\r\n\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const row = fc
  .tuple(
    fc.nat(1e6).map(String),
    fc.oneof({ weight: 9, arbitrary: usualNumber(8, 23) }, { weight: 2, arbitrary: oddNumber }),
    fc.oneof({ weight: 9, arbitrary: usualNumber(102, 109) }, { weight: 2, arbitrary: oddNumber }),
    field,
    fc.boolean(),
  )
  .map(([id, lat, lng, name, isQuoted]) =>
    [id, quoted(lat), quoted(lng), isQuoted ? `"${name.replaceAll('"', '""')}"` : quoted(name), '1.50'].join(
      ',',
    ),
  );
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

test.each(['ndjson', 'geojson', 'csv', 'tsv', 'parquet'])(
  'CSV to %s',
  async (to) => {
    let byRows = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 120, maxLength: 160 }),
        fc.array(oddRow, { maxLength: 5 }),
        rarely(brokenRow),
        policies(to),
        choices,
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        fc.nat(70),
        async (rows, lines, wrong, errors, columns, end, hasMark, several) => {
          // Each road names another one of two faults in a batch.
          const broken = errors.kind === 'stop' ? null : wrong;
          const odd = errors.kind === 'stop' ? lines.filter((line) => line !== '\r') : lines;
          // Some files of Parquet have more than one row group.
          const times = to === 'parquet' && several % 7 === 0 ? 500 : several;
          const many = Array.from({ length: times }, () => rows).flat();
          const all = [...rows, ...odd, ...many, ...(broken === null ? [] : [broken]), ...odd];
          const path = join(scratch, 'in.csv');
          writeFileSync(path, `${hasMark ? '\ufeff' : ''}id,lat,lng,name,speed${end}${all.join(end)}`);
          const [fast, slow] = ['fast', 'slow'].map((name) => join(scratch, `${name}.${to}`));
          const quick = await converted([path], fast!, { errors, columns });
          const careful = await converted([path], slow!, { errors, columns, road: 'columns' });
          if (isRows(quick)) byRows++;
          expect(isRows(careful)).toBe(false);
          // Rows of CSV with all columns are copied as they are, quotes and line ends too.
          if (to === 'csv' && columns.keep === undefined && columns.drop === undefined) return;
          await expectAlike(quick, careful, to);
        },
      ),
      { numRuns: to === 'parquet' ? 5 : 25 },
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
    const quick = await converted([a!, b!], output, {});
    expect(isRows(quick)).toBe(true);
    await expectAlike(quick, await converted([a!, b!], output, { road: 'columns' }), to);
    for (const road of [{}, { road: 'columns' }] as const)
      expect((await converted([a!, c!], output, road)).fault).toContain('other columns than');
  }
});

const degrees = (least: number, most: number) =>
  fc.oneof(
    { weight: 8, arbitrary: usualNumber(least, most).map(Number) },
    fc.double(),
    fc.constantFrom(null, 0, -0, 1e21, 1e-7, 5e-324, 1e15, 123456.7890123, 0.1 + 0.2, Number.NaN, -1 / 0),
  );
const typedRow = fc.record({
  id: fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.constantFrom(null, 0n, -1n, 9007199254740993n),
  ),
  lat: degrees(8, 23),
  lng: degrees(102, 109),
  name: fc.option(field),
  kind: fc.constantFrom('car', 'bus', 'Xe tải', null),
  count: fc.option(fc.integer()),
  share: fc.option(fc.float()),
  isOn: fc.option(fc.boolean()),
  at: fc.option(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })),
});
const TYPES = {
  ...{ id: 'INT64', lat: 'DOUBLE', lng: 'DOUBLE', name: 'STRING', kind: 'STRING', count: 'INT32' },
  ...{ share: 'FLOAT', isOn: 'BOOLEAN', at: 'TIMESTAMP' },
} as const;

test.each(['csv', 'tsv', 'ndjson', 'geojson'])(
  'Parquet to %s',
  async (to) => {
    let byRows = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(typedRow, { minLength: 1, maxLength: 60 }),
        policies(to),
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
          const [fast, slow] = ['fast', 'slow'].map((name) => join(scratch, `${name}.${to}`));
          const quick = await converted([path], fast!, { errors, columns });
          const careful = await converted([path], slow!, { errors, columns, road: 'columns' });
          if (isRows(quick)) byRows++;
          expect(isRows(careful)).toBe(false);
          await expectAlike(quick, careful, to);
        },
      ),
      { numRuns: 25 },
    );
    expect(byRows).toBeGreaterThan(0);
  },
  240_000,
);

const jsonNumber = (least: number, most: number) =>
  fc.oneof(
    { weight: 9, arbitrary: usualNumber(least, most) },
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    fc.constantFrom('1.50', '-0', '0', '2.1e1', '1E2', '12345678901234567890', 'null', '0.0000001'),
  );
const jsonLine = fc
  .tuple(
    jsonNumber(0, 9),
    jsonNumber(8, 23),
    jsonNumber(102, 109),
    field,
    fc.constantFrom('true', 'false', 'null'),
    fc.nat(9),
  )
  .map(([id, lat, lng, name, isOn, way]) => {
    const members = [
      `"id":${id}`,
      `"lat":${lat}`,
      `"lng":${lng}`,
      `"name":${JSON.stringify(name)}`,
      `"is on":${isOn}`,
    ];
    if (way === 0) members.reverse();
    if (way === 1) members.pop();
    if (way === 2) members.splice(1, 1);
    return way === 3 ? ` { ${members.join(' , ')} } ` : `{${members.join(',')}}`;
  });
const oddLine = fc.constantFrom(
  ...[
    '',
    '  ',
    '\r',
    '{}',
    '{"lat":21,"lng":105.8}\r',
    '\u001e{"lat":21,"lng":105.8}',
    '{"lat":21,"lng":105.8,"lat":22}',
  ],
  ...[
    '{"lat":21,"lng":105.8,"n\\u0061me":"x"}',
    '{"lat":21,"lng":105.8,"name":"\\ud800"}',
    '{"lat":21,"lng":105.8,"name":null}',
  ],
);
const brokenLine = fc.constantFrom(
  ...[
    '{"lat":21',
    '{"lat":21,"lng":105.8,"other":1}',
    '{"lat":21,"lng":105.8,"name":5}',
    '{"lat":"21","lng":105.8}',
    '[1]',
  ],
  ...[
    '{"lat":21,}',
    '{"lat":21,"lng":105.8,"name":"a\0"}',
    '{"lat":021,"lng":1}',
    '{"id":true}',
    '{"lat":1e400,"lng":1}',
    'null',
  ],
  ...[
    '{"lat":21,"lng":105.8,"name":"a\u0001"}',
    '{"lat":21,"lng":105.8,"name":["a"]}',
    '{"lat":21,"lng":105.8}x',
    '{"lat":21 "lng":1}',
  ],
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
        policies(to),
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
          const [fast, slow] = ['fast', 'slow'].map((name) => join(scratch, `${name}.${to}`));
          const quick = await converted([path], fast!, { errors, columns });
          const careful = await converted([path], slow!, { errors, columns, road: 'columns' });
          if (isRows(quick)) byRows++;
          expect(isRows(careful)).toBe(false);
          await expectAlike(quick, careful, to);
        },
      ),
      { numRuns: 40 },
    );
    expect(byRows).toBeGreaterThan(0);
  },
  240_000,
);
