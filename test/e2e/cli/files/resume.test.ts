// Interrupted runs of the real command: SIGKILL, Ctrl-C, and --resume.
import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CliFolder, type Ran } from '../../../support/cli.js';
import { runKilled } from '../../../support/files/kill.js';
import { writePointsCsv } from '../../../support/files/points-csv.js';
import { randomFrom } from '../../../support/open-world.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

beforeAll(() => {
  writePointsCsv(folder.file('big.csv'), 120_000, 2);
  writePointsCsv(folder.file('few.csv'), 6, 1);
  const [header, ...rows] = readFileSync(folder.file('big.csv'), 'utf8').trim().split('\n');
  const names = header!.split(',');
  const lines = rows.map((row) => {
    const values = row.split(',');
    return `{${names.map((name, i) => `"${name}":${name === 'id' ? JSON.stringify(values[i]) : values[i]}`).join(',')}}\n`;
  });
  writeFileSync(folder.file('big.ndjson'), lines.join(''));
});

/** Loaded before the command: its process gets SIGINT when it has written its journal for the first time. */
const INTERRUPT_AT_JOURNAL = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { renameSync } = fs;
fs.renameSync = (from, to) => {
  renameSync(from, to);
  if (!String(to).endsWith('.journal')) return;
  fs.renameSync = renameSync;
  syncBuiltinESMExports();
  process.kill(process.pid, 'SIGINT');
};
syncBuiltinESMExports();
`;

function interrupted(args: readonly string[]): Promise<Ran> {
  folder.write('interrupt.mjs', INTERRUPT_AT_JOURNAL);
  const env = { HEXCODES_CHECKPOINT_BYTES: '65536', NODE_OPTIONS: '--import ./interrupt.mjs' };
  return folder.run(args, { env });
}

test.each([
  ['csv', ['encode', 'big.csv', '--errors', 'rejected.csv', '-q']],
  ['ndjson', ['encode', 'big.csv', '--to', 'ndjson', '-q']],
  ['tsv', ['encode', 'big.ndjson', '--errors', 'rejected.tsv', '-q']],
] as const)('killed five times and resumed: the same bytes as without (%s)', async (format, args) => {
  const seed = 3;
  console.log(`kill: seed ${seed}`);
  const start = performance.now();
  expect((await folder.run([...args, '-o', `whole.${format}`])).code).toBe(0);
  const spanMs = performance.now() - start;
  const rejects = args.find((arg) => arg.startsWith('rejected.'));
  const rejected = rejects === undefined ? null : folder.bytes(rejects);
  const { kills } = await runKilled(
    [...args, '-o', `killed.${format}`],
    folder.path,
    5,
    spanMs,
    randomFrom(seed),
  );
  expect(kills).toBeGreaterThan(0);
  expect(folder.bytes(`killed.${format}`).equals(folder.bytes(`whole.${format}`))).toBe(true);
  if (rejected !== null) expect(folder.bytes(rejects!).equals(rejected)).toBe(true);
  expect(folder.names().filter((name) => name.includes('partial'))).toEqual([]);
});

test('Ctrl-C keeps the rows so far and names --resume; --resume with other options is refused', async () => {
  const args = ['encode', 'big.csv', '--to', 'ndjson', '-o', 'stopped.ndjson'];
  const broken = await interrupted(args);
  expect(broken.code).toBe(130);
  expect(broken.stderr).toMatch(
    /interrupted after [\d,]+ rows, which are kept\n.*--resume goes on from there/,
  );
  expect(existsSync(folder.file('stopped.ndjson'))).toBe(false);
  const other = await folder.run([...args, '--resume', '-r', '9']);
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('had other options')]);
  const resumed = await folder.run([...args, '--resume']);
  expect(resumed.code).toBe(0);
  expect(resumed.stderr).toContain('120,000 rows');
  const [, kept] = /interrupted after ([\d,]+) rows/.exec(broken.stderr)!;
  expect(resumed.stderr).toContain(`Going on after row ${kept}.\n`);
  expect((await folder.run([...args.slice(0, -1), 'straight.ndjson', '-q'])).code).toBe(0);
  expect(folder.bytes('stopped.ndjson').equals(folder.bytes('straight.ndjson'))).toBe(true);
});

test.each(['csv', 'ndjson'])(
  'a resumed run counts the rows from the start of the input: %s',
  async (format) => {
    const rows = Array.from({ length: 60_000 }, (_, i) =>
      format === 'csv' ? `${i},21.0306,105.8489` : `{"id":${i},"lat":21.0306,"lng":105.8489}`,
    );
    rows[59_998] = format === 'csv' ? '59998,21' : '{"id":59998';
    const head = format === 'csv' ? 'id,lat,lng\n' : '';
    folder.write(`broken.${format}`, `${head}${rows.join('\n')}\n`);
    const args = [
      'encode',
      `shared.${format}`,
      `broken.${format}`,
      '-o',
      `broken.hex.${format}`,
      '--threads',
      '1',
    ];
    folder.write(`shared.${format}`, `${head}${rows[0]}\n${rows[1]}\n`);
    expect((await interrupted(args)).code).toBe(130);
    const resumed = await folder.run([...args, '--resume']);
    const [code, where] = format === 'csv' ? [0, ': 2 fields, the header has 3'] : [3, ''];
    expect([resumed.code, resumed.stderr]).toEqual([
      code,
      expect.stringContaining(`broken.${format}, row 59999${where}`),
    ]);
    expect(resumed.stderr).toContain('Going on after row');
  },
);

test('a run that cannot be resumed says so and starts again', async () => {
  const ran = await folder.run(['encode', 'few.csv', '-o', 'again.parquet', '--resume']);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('Output in parquet cannot be resumed: starting again');
  for (const name of ['again.csv.gz', '.gz']) {
    const zipped = await folder.run(['encode', 'few.csv', '-o', name, '--resume']);
    expect([name, zipped.stderr]).toEqual([
      name,
      expect.stringContaining('Output in gzip cannot be resumed'),
    ]);
  }
  const fresh = await folder.run(['encode', 'few.csv', '-o', 'fresh.csv', '--resume']);
  expect(fresh.stderr).toContain('Nothing to resume');
});

test('a finished run says so and is not done again, unless an input is newer', async () => {
  folder.write('in.csv', 'lat,lng\n21,105.5\n');
  const args = ['encode', 'in.csv', '-o', 'done.csv', '--resume'];
  expect((await folder.run(args)).code).toBe(0);
  const before = statSync(folder.file('done.csv'));
  const again = await folder.run(args);
  expect([again.code, again.stdout, again.stderr]).toEqual([
    0,
    '',
    'done.csv is finished, and newer than what it was made of: there is nothing to do. Without --resume it is made again.\n',
  ]);
  expect(statSync(folder.file('done.csv')).ino).toBe(before.ino);
  utimesSync(folder.file('done.csv'), before.atime, new Date(0));
  expect((await folder.run(args)).stderr).toContain('Nothing to resume');
  expect((await folder.run(args.slice(0, -1))).stderr).toContain('1 row');
});
