// `encode --former`: the column in every way of conversion and format, and one position on the command line.
import { parse } from 'csv-parse/sync';
import { afterAll, expect, test } from 'vitest';
import { CliFolder } from '../../../support/cli.js';
import { OPEN_INDEX } from '../../../support/open-world.js';
import { rowsOf } from '../../../support/region/fixtures.js';

const folder = new CliFolder();
afterAll(() => folder.remove());
const places = rowsOf('places');
folder.write(
  'places.csv',
  `name,lat,lng\n${places.map(({ name, lat, lng }) => `${name},${lat},${lng}`).join('\n')}\n`,
);
const wanted = places.map(({ former_province }) => (former_province === '-' ? '' : former_province));

test.each([[['--to', 'csv']], [['--keep', 'name']]])(
  'CSV with %j: a column before status',
  async (options) => {
    const { stdout, code } = await folder.run(['encode', 'places.csv', '--former', '--quiet', ...options]);
    expect(code).toBe(0);
    expect(stdout.slice(0, stdout.indexOf('\n'))).toMatch(/,admin_code,former_province,status$/);
    const rows = parse(stdout, { columns: true }) as { former_province: string }[];
    expect(rows.map((row) => row.former_province)).toEqual(wanted);
  },
);

test('NDJSON and Parquet', async () => {
  const { stdout } = await folder.run(['encode', 'places.csv', '--former', '--quiet', '--to', 'ndjson']);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map((row) => row.former_province ?? '')).toEqual(wanted);
  await folder.run(['encode', 'places.csv', '--former', '--quiet', '-o', 'places.parquet']);
  const back = await folder.run(['encode', 'places.parquet', '--prefix', 'x_', '--quiet', '--to', 'ndjson']);
  const again = back.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(again.map((row) => row.former_province ?? '')).toEqual(wanted);
});

test('one position', async () => {
  expect((await folder.run(['encode', '20.4463,106.3366', '--former'])).stdout).toMatch(
    /^HY-\S+ {2}Thái Bình\n$/,
  );
  const { stdout } = await folder.run(['encode', '20.4463,106.3366', '--former', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ admin_code: 'HY', former_province: 'Thái Bình' });
});

test('an index without them is refused', async () => {
  folder.write('open.bin', OPEN_INDEX);
  for (const what of ['places.csv', '20.4463,106.3366']) {
    const ran = await folder.run(['encode', what, '--former'], { env: { HEXCODES_INDEX: 'open.bin' } });
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toContain('the boundary index has no provinces of before July 2025');
  }
});
