// Points of which some columns are wanted, read by the kernel or from single columns of Parquet, against the same bytes
// read value by value, as from a pipe or from a Parquet file in gzip: what `aggregate` and `track` say and write, over
// fields and rows of every kind.
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { sharedCommand } from '../../../support/shared.js';

const SEED = 20_261_128;
const folder = sharedCommand();

const SUMS = 'aggregate --by cell,province -r 15 --count --sum speed'.split(' ');
const COMMANDS = [
  SUMS,
  [...SUMS, '--where', 'name >= n'],
  'aggregate --by province -r 15 --sum speed --avg id --time at'.split(' '),
  'track --id name --time at -r 15'.split(' '),
];

/** Output and words of a command, without names of files and times. */
async function said(command: readonly string[], input: string, bytes?: Buffer): Promise<unknown> {
  const given = bytes === undefined ? [input] : ['-', '--from', input];
  const { code, stdout, stderr } = await folder.run([...command, ...given], bytes && { stdin: bytes });
  const words = stderr
    .replaceAll(bytes === undefined ? input : '(stdin)', 'FILE')
    .replaceAll(/ in [\d.]+ s/g, '');
  return [code, stdout, words.replaceAll(/^.*rows\/s.*\n/gm, '')];
}

/** Reads a file by every command, in both ways. @returns the code and output of the first command */
async function compare(format: 'csv' | 'ndjson' | 'parquet', content: string | Uint8Array) {
  const bytes = Buffer.from(content as string);
  folder.write(`in.${format}`, bytes);
  if (format === 'parquet') folder.write('packed.parquet.gz', gzipSync(bytes));
  const answers: unknown[] = [];
  for (const command of COMMANDS) {
    const fast = await said(command, `in.${format}`);
    const slow =
      format === 'parquet' ? await said(command, 'packed.parquet.gz') : await said(command, format, bytes);
    expect([command, fast]).toEqual([command, slow]);
    answers.push(fast);
  }
  return answers[0] as [code: number, stdout: string, stderr: string];
}

const degrees = (least: number): fc.Arbitrary<string> =>
  fc.double({ min: least, max: least + 1, noNaN: true }).map(String);
const coordinate = (least: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: degrees(least) },
    fc.constantFrom(
      ...`|  ${least}.03|${least}.03 |"${least},03"|"${least}.03"|"${least}.03"x|${least}°01'43"|+${least}.03|-21|1e1`.split(
        '|',
      ),
      ...`${least}.|.5|NaN|Infinity|1e999|${least}.0300000000000000000001|0x15|${least}.85E|\u00a0${least}|x|"2""1"|-`.split(
        '|',
      ),
    ),
  );
const time = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 2e9 }).map((s) => new Date(1000 * s).toISOString()) },
  fc.constantFrom('', '1700000000', '"1700000000"', '2026-01-02', ' 2026-01-02T00:00:00Z', 'x', '-1'),
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
    arbitrary: fc
      .tuple(text, time, coordinate(21), text, coordinate(105), text)
      .map((fields) => fields.join(',')),
  },
  fc.constantFrom('', '\r', ' ', '1,2,21,5', '1,2,21,5,105,b,c', '"a,2,21,5,105,b'),
);

test('CSV of every kind', async () => {
  let whole = 0;
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
        const usual = Array.from(
          { length: fill },
          (_, i) => `${i},2026-01-02,21.${i},${i % 70}.5,105.8,n${i}`,
        );
        const rows = ['id,at,lat,speed,lng,name', '1,2026-01-02,21,2,105.8,a', ...usual, ...lines];
        if ((await compare('csv', rows.join(feed) + last))[0] === 0) whole++;
      },
    ),
    { seed: SEED, numRuns: 25, examples: [[['\r'], '\n', '\r', 0]] },
  );
  expect(whole).toBeGreaterThan(10);
});

test('broken text, no rows, several files', async () => {
  for (const body of [
    'lat,lng,speed,name\n',
    'lat,lng,speed,name',
    'lat,lng,speed,name\n21,105.8,1,\0\n',
    'lat,lat,speed\n1,2,3\n',
    'speed,name\n1,2\n',
  ])
    await compare('csv', body);
  await compare('csv', Buffer.from('lat,lng,speed,name\n21,105.8,1,T\xeen\n', 'latin1'));
  folder.write('a.csv', 'lat,lng,speed,name\n21,105.8,1,x\n');
  folder.write('b.csv', 'name;lng;lat;speed\ny;105,8;21,03;1,5\nz;105.8;21.03;7\n');
  const { stdout } = await folder.run('aggregate --by province --count --sum speed a.csv b.csv a.csv -q');
  expect(stdout).toBe('admin_code,province,count,sum_speed\nHN,Hà Nội,4,10.5\n');
});

test('Parquet: doubles, floats, nulls, other types, several row groups', async () => {
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
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: 'id', data: each((row) => row), type: 'DOUBLE' },
        { name: 'at', data: each((row) => new Date(1e12 + 1000 * row)), type: 'TIMESTAMP' },
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
    expect((await compare('parquet', Buffer.from(bytes)))[0]).toBe(0);
    await compare('parquet', Buffer.from(bytes).subarray(0, 900));
  }
});

const usualLine = fc
  .tuple(fc.integer(), fc.nat(999_999), fc.nat(999_999), fc.double({ noDefaultInfinity: true }))
  .map(([speed, lat, lng, id]) => {
    const position = { lat: 21 + lat / 1e6, lng: 105 + lng / 1e6 };
    return JSON.stringify({
      id,
      at: '2026-01-02',
      ...position,
      speed,
      ...(speed % 3 === 0 ? {} : { name: `xe ${speed}` }),
    });
  });
const oddLine = fc.constantFrom(
  ...['', '  ', ' {"lat":21,"lng":105.8} ', '{"lat":21,"lng":105.8}\r', '{"lat":"21,03","lng":"105.8"}'],
  ...['{"lat":null,"lng":105.8}', '{"lng":105.8}', '{}', '{"lat":21,"lng":105.8,"lat":22}', '[21,105.8]'],
  ...['{"lat":2.10e1,"lng":1058E-1,"big":123456789012345678901}', '{"lat":21,"lng":105.8,"name":"Hà Nội"}'],
  ...[`{"lat":21,"lng":105.8,"long":"${'x'.repeat(2000)}"}`, '{"lat":21,"lng":105.8,"h\\u0065":1}', '{'],
  ...[
    '{"lat":21,"lng":105.8,"speed":[5]}',
    '{"lat":21,"lng":105.8,"speed":"7"}',
    '{"lat":21,"lng":105.8,"speed":true}',
  ],
  ...[
    '{"lat":21,"lng":105.8,"speed":9007199254740993}',
    '{"lat":21,"lng":105.8,"speed":-0.0,"name":"a\\"b"}',
  ],
  ...['{"lat":21,"lng":105.8}x', 'null', '{"lat":true,"lng":[1]}', '\u001e{"lat":21,"lng":105.8}'],
);

test('NDJSON of every kind', async () => {
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
        const lines = [...first, ...filler, ...middle, ...filler].join('\n') + (hasEnd ? '\n' : '');
        if ((await compare('ndjson', lines))[0] === 0) whole++;
      },
    ),
    { seed: SEED, numRuns: 10, endOnFailure: true },
  );
  expect(whole).toBeGreaterThan(5);
});
