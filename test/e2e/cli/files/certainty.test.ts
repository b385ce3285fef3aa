// `encode --certainty`: the columns in every way of conversion and format, and one position on the command line.
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { afterAll, expect, test } from 'vitest';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { CliFolder } from '../../../support/cli.js';
import { rowsOf } from '../../../support/region/fixtures.js';
import { shippedKernel } from '../../../support/shipped.js';

const folder = new CliFolder();
afterAll(() => folder.remove());
const library = new Hexcodes(shippedKernel());
const places = [{ name: 'near', lat: '21.0757', lng: '105.9872' }, ...rowsOf('places')];
folder.write(
  'places.csv',
  `name,lat,lng\n${places.map(({ name, lat, lng }) => `${name},${lat},${lng}`).join('\n')}\n`,
);
const wanted = places.map(({ lat, lng }) => {
  const border = library.borderOf(Number(lat), Number(lng));
  return [border?.border_m ?? null, border?.certainty ?? null];
});
const asTexts = wanted.map((pair) => pair.map((each) => (each === null ? '' : String(each))));

test.each([[['--to', 'csv']], [['--keep', 'name']]])(
  'CSV with %j: two columns before status',
  async (options) => {
    const { stdout, code } = await folder.run(['encode', 'places.csv', '--certainty', '--quiet', ...options]);
    expect(code).toBe(0);
    expect(stdout.slice(0, stdout.indexOf('\n'))).toMatch(/,admin_code,border_m,certainty,status$/);
    const rows = parse(stdout, { columns: true }) as { border_m: string; certainty: string }[];
    expect(rows.map((row) => [row.border_m, row.certainty])).toEqual(asTexts);
  },
);

test('NDJSON and Parquet', async () => {
  const read = (text: string): unknown[] =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map((row) => [row.border_m ?? null, row.certainty ?? null]);
  const { stdout } = await folder.run(['encode', 'places.csv', '--certainty', '--quiet', '--to', 'ndjson']);
  expect(read(stdout)).toEqual(wanted);
  await folder.run(['encode', 'places.csv', '--certainty', '--quiet', '-o', 'places.parquet']);
  const back = await folder.run(['encode', 'places.parquet', '--prefix', 'x_', '--quiet', '--to', 'ndjson']);
  expect(read(back.stdout)).toEqual(wanted);
});

test('one position', async () => {
  const [border_m, certainty] = wanted[0]!;
  const near = await folder.run(['encode', '21.0757,105.9872', '--certainty']);
  expect(near.stdout).toMatch(new RegExp(`^\\S+ {2}border at ${border_m} m, certainty ${certainty}\n$`));
  const far = await folder.run(['encode', '12.6667,108.05', '--certainty']);
  expect(far.stdout).toMatch(/^DLK-\S+ {2}no border within 5 km, certainty 0\.9999\n$/);
  const { stdout } = await folder.run(['encode', '21.0757,105.9872', '--certainty', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ border_m, certainty });
});

test('an index without bands: the distance alone', async () => {
  const index = Buffer.from(
    readFileSync('data/index.bin').toString('latin1').replace('"bands"', '"bandz"'),
    'latin1',
  );
  index.writeUInt32LE(crc32(index.subarray(16)), 12);
  folder.write('other.bin', index);
  const ran = await folder.run(['encode', '21.0757,105.9872', '--certainty'], {
    env: { HEXCODES_INDEX: 'other.bin' },
  });
  expect(ran.stdout).toMatch(new RegExp(`^\\S+ {2}border at ${wanted[0]![0]} m\n$`));
});
