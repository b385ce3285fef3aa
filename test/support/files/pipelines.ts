// Two pipelines of a conversion side by side: rows of hostile text and numbers, and what readers see of the files that
// come of them.
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Batch,
  bool,
  Column,
  columnFromArray,
  type DataType,
  float32,
  float64,
  int16,
  int32,
  int64,
  TimeUnit,
  tableFromColumns,
  tableFromIPC,
  tableToIPC,
  timestamp,
  uint8,
  utf8,
  utf8View,
} from '@uwdata/flechette';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import type { Hexcodes } from '#hexcodes';
import { anyLetter } from '../any-letter.js';
import { convert, type Request } from './convert.js';

export type { Request };

export interface Converted {
  readonly lines: string[];
  readonly tally?: string;
  readonly bytes?: Buffer;
  readonly rejected?: Buffer | null;
  readonly fault?: string;
}

/** Converts by this process. @returns what was said, counted and written, or the fault */
export async function converted(
  hexcodes: Hexcodes,
  inputs: string[],
  output: string,
  given: Partial<Request>,
): Promise<Converted> {
  const lines: string[] = [];
  const request = { inputs, output, resolution: 12, isVerbose: true, ...given };
  try {
    const { tally } = await convert(hexcodes, request, (line) => lines.push(line));
    const { errors } = given;
    return {
      lines,
      tally: tallyText(tally),
      bytes: readFileSync(output),
      rejected: errors?.kind === 'file' ? readFileSync(errors.path) : null,
    };
  } catch (error) {
    return { lines, fault: (error as Error).message };
  }
}

/**
 * Rows as text, with numbers that JSON does not have: comparing a million values one by one takes minutes. Zeros have
 * no sign here, since dictionaries of hyparquet-writer, which the other pipeline uses, hold one of the two.
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
      const isJson = schema.some(({ name, converted_type: type }) => name === path?.[0] && type === 'JSON');
      if (typeof least === 'string' && typeof most === 'string' && !isJson) {
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

/** A file of Arrow: its schema, its rows and nulls. Where a batch ends is left to each pipeline. */
function arrowSeen(bytes: Buffer) {
  const table = tableFromIPC(new Uint8Array(bytes), { useBigInt: true, useDecimalInt: true });
  const counts = table.children.map(({ data }) => [
    data.reduce((sum, { length }) => sum + length, 0),
    data.reduce((sum, { nullCount }) => sum + nullCount, 0),
  ]);
  const rows = textOfRows(table.toArray() as Record<string, unknown>[]);
  return { fields: table.schema.fields, counts, rows };
}

/** @throws AssertionError where two pipelines differ in what they say, count or write */
export async function expectAlike(one: Converted, other: Converted, to: string): Promise<void> {
  strictEqual(one.fault, other.fault);
  strictEqual(one.tally, other.tally);
  for (const part of ['bytes', 'rejected'] as const) {
    const [mine, theirs] = [one[part] ?? null, other[part] ?? null];
    if (mine === null || theirs === null) strictEqual(mine, theirs);
    else if (to === 'parquet') {
      const { rows, textsOutside, ...rest } = await seen(mine);
      const { rows: theirRows, textsOutside: _, ...theirRest } = await seen(theirs);
      strictEqual(textsOutside, 0);
      deepStrictEqual(rest, theirRest);
      ok(rows === theirRows, 'other rows');
    } else if (to === 'arrow') {
      const { rows, ...rest } = arrowSeen(mine);
      const { rows: theirRows, ...theirRest } = arrowSeen(theirs);
      deepStrictEqual(rest, theirRest);
      ok(rows === theirRows, 'other rows');
    } else ok(mine.equals(theirs), 'other bytes');
  }
}

/** Whether rows or lines were converted as bytes, not value by value. */
export const isRows = ({ lines }: Converted): boolean =>
  lines.some((line) => /^Converted by (?:rows|bytes)/.test(line));

export const policies = (scratch: string, to: string) =>
  fc.constantFrom<Request['errors']>(
    { kind: 'keep' },
    { kind: 'skip' },
    { kind: 'stop' },
    { kind: 'file', path: join(scratch, `rejects.${to}`) },
  );

/** Whether and in how much memory rows are sorted, where the target is sorted at all. */
export const sorts = (to: string) =>
  to === 'parquet'
    ? fc.constantFrom<Request['sort']>(null, null, { memoryBytes: 1 }, { memoryBytes: 1e9 })
    : fc.constant(null);

export const rarely = <Value>(broken: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: broken });

export const usualNumber = (least: number, most: number) =>
  fc.integer({ min: least * 1e6, max: most * 1e6 }).map((value) => String(value / 1e6));
export const oddNumber = fc.oneof(
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
export const field = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'b', 'Hà Nội', '', '0012', '1e5', '-') },
  {
    weight: 2,
    arbitrary: fc.string({ unit: anyLetter, maxLength: 12 }).map((text) => text.replaceAll('\0', '')),
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
export const degrees = (least: number, most: number) =>
  fc.oneof(
    { weight: 8, arbitrary: usualNumber(least, most).map(Number) },
    fc.double(),
    fc.constantFrom(null, 0, -0, 1e21, 1e-7, 5e-324, 1e15, 123456.7890123, 0.1 + 0.2, Number.NaN, -1 / 0),
  );
export const typedRow = fc.record({
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
export const TYPES = {
  ...{ id: 'INT64', lat: 'DOUBLE', lng: 'DOUBLE', name: 'STRING', kind: 'STRING', count: 'INT32' },
  ...{ share: 'FLOAT', isOn: 'BOOLEAN', at: 'TIMESTAMP' },
} as const;

export type TypedRow = typeof typedRow extends fc.Arbitrary<infer Row> ? Row : never;

/** Texts as views, as Polars writes them: short ones within them, others in two buffers by turns. */
function viewsOf(texts: readonly (string | null)[], batchRows: number): Column<unknown> {
  const batches = Array.from({ length: Math.ceil(texts.length / batchRows) }, (_, i) => {
    const part = texts.slice(batchRows * i, batchRows * (i + 1));
    const views = Buffer.alloc(16 * part.length);
    const validity = new Uint8Array((part.length + 7) >> 3);
    const buffers: [Buffer[], Buffer[]] = [[], []];
    const sizes = [0, 0];
    part.forEach((text, row) => {
      if (text === null) return;
      validity[row >> 3]! |= 1 << (row & 7);
      const bytes = Buffer.from(text);
      views.writeUInt32LE(bytes.length, 16 * row);
      bytes.copy(views, 16 * row + 4, 0, bytes.length > 12 ? 4 : 12);
      if (bytes.length <= 12) return;
      const into = row & 1;
      views.writeUInt32LE(into, 16 * row + 8);
      views.writeUInt32LE(sizes[into]!, 16 * row + 12);
      buffers[into]!.push(bytes);
      sizes[into]! += bytes.length;
    });
    const nullCount = part.filter((text) => text === null).length;
    const batch = new Batch({ length: part.length, nullCount, type: utf8View(), validity, values: views });
    return Object.assign(batch, { data: buffers.map((each) => new Uint8Array(Buffer.concat(each))) });
  });
  return new Column(batches as never, utf8View() as never);
}

/** Rows as a file of Arrow. @param isSmall writes small integers and floats */
export function arrowOf(rows: readonly TypedRow[], batchRows: number, isSmall: boolean): Uint8Array {
  const types: Record<string, DataType> = {
    ...{ id: int64(), lat: float64(), lng: isSmall ? float32() : float64(), name: utf8(), kind: utf8() },
    ...{ count: isSmall ? int16() : int32(), share: float32(), isOn: bool() },
    ...{ at: timestamp(isSmall ? TimeUnit.MILLISECOND : TimeUnit.MICROSECOND), small: uint8() },
  };
  const columns = Object.entries(types).map(([name, type]) => {
    const values = rows.map((row) => {
      if (name === 'small') return row.count === null ? null : row.count & 255;
      if (name === 'count' && isSmall) return row.count === null ? null : (row.count << 16) >> 16;
      return row[name as keyof TypedRow];
    });
    if (name === 'name' && isSmall)
      return [
        name,
        viewsOf(
          rows.map((row) => row.name),
          batchRows,
        ),
      ];
    return [name, columnFromArray(values as never, type as never, { maxBatchRows: batchRows })];
  });
  return tableToIPC(tableFromColumns(columns as never), {
    format: isSmall ? 'stream' : 'file',
  }) as Uint8Array;
}

export const jsonNumber = (least: number, most: number) =>
  fc.oneof(
    { weight: 9, arbitrary: usualNumber(least, most) },
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    fc.constantFrom('1.50', '-0', '0', '2.1e1', '1E2', '12345678901234567890', 'null', '0.0000001'),
  );
export const jsonLine = fc
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
export const oddLine = fc.constantFrom(
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
    '{"lat":21,"lng":105.8}\t',
    '{"lat":2.10e1,"lng":1058E-1}',
    '{"lat":21,"lng":105.8,"name":null}',
  ],
);
export const brokenLine = fc.constantFrom(
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

/** Codes of every length and spelling, and texts that are none. */
export const codeText = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.constantFrom(
      ...['HN-2J', 'HCM-8J', 'HN-6G7H', 'HCM-GXC4V-9', 'HN-6GHP4-7V9', 'HCM-GXC6J-96QGC'],
      ...['HN-6GHP4-7V47V-2V', 'DNG-KQXR2-8H265-PV', 'HN-6GHP4-83RFR', 'SL-65RJV-RRPH3'],
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...['hn-6ghp4-83rfr', 'HN6GHP483RFR', ' HN-6GHP4-83RFR ', 'HN_6GHP4.83RFR', 'dng kqxr2 8h265 pv'],
      ...[
        '    HN-6GHP4-83RFR      ',
        'H N - 6 G H P 4 - 8 3 R F R',
        'ＨＮ-6GHP4-83RFR',
        'HN\u00a06GHP4\u00ad83RFR',
      ],
      ...[
        'đng-kqxr2-8h265-pv',
        'HN-6GHP4-83RFS',
        'HN-6GHP4',
        'HN6-GHP483RFR',
        '',
        ' ',
        'NULL',
        'null',
        '-',
        'HN',
      ],
      ...[
        'x'.repeat(19),
        'x'.repeat(20),
        'HN-6GHP4-83RFR x',
        ' '.repeat(80),
        'HN-2J\u200b',
        '\u{1f600}',
        '5',
      ],
    ),
  },
  field,
);

/** A line with a code instead of its latitude; a second latitude becomes another code. */
function lineOfCode(line: string, code: string): string {
  let isFirst = true;
  return line.replace(/"lat":(?:"[^"]*"|[^,} ]+)/g, () => {
    const value = isFirst ? code : 'HN-2J';
    isFirst = false;
    return `"hexcodes":${JSON.stringify(value)}`;
  });
}

/** Lines with codes. */
export const coded = (lines: fc.Arbitrary<string>) =>
  fc.tuple(lines, codeText).map(([line, code]) => lineOfCode(line, code));

const quoted = (text: string): string => (/[",\r\n\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
/** A row of CSV: id, hexcodes, lng, name, speed. */
export const codeRow = fc
  .tuple(fc.nat(1e6).map(String), codeText, field, fc.boolean())
  .map(([id, code, name, isQuoted]) =>
    [id, isQuoted ? `"${code.replaceAll('"', '""')}"` : quoted(code), '105.8', quoted(name), '1.50'].join(
      ',',
    ),
  );

/** A row of CSV: id, lat, lng, name, speed. */
export const row = fc
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

/**
 * Converts by rows of bytes and value by value, and compares what they make. Copied columns keep the types of their
 * file, so those of column chunks are not compared.
 * @param output a path without its ending @param sliceBytes of two threads, which convert the same once more
 * @returns whether the first went by rows
 */
export async function bothRoads(
  hexcodes: Hexcodes,
  inputs: string[],
  {
    output,
    to,
    sliceBytes,
  }: { readonly output: string; readonly to: string; readonly sliceBytes?: number | undefined },
  given: Partial<Request>,
): Promise<boolean> {
  const [fast, slow] = ['fast', 'slow'].map((name) => `${output}${name}.${to}`);
  const quick = await converted(hexcodes, inputs, fast!, given);
  if (sliceBytes !== undefined)
    await expectAlike(
      quick,
      await converted(hexcodes, inputs, slow!, { ...given, threads: 2, sliceBytes }),
      to,
    );
  const careful = await converted(hexcodes, inputs, slow!, { ...given, pipeline: 'values' });
  ok(!isRows(careful));
  if (quick.lines.some((line) => line.startsWith('Converted by column chunks'))) return false;
  await expectAlike(quick, careful, to);
  return isRows(quick);
}

/** The counts of a tally as text, without its time. Reasons are sorted, since slices may meet them in any order. */
function tallyText(tally: { save(bytes: number): unknown }): string {
  const inOrder = (_: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return JSON.stringify(tally.save(0), inOrder).replace(/"elapsedMs":\d+/, '');
}
