// Interrupted runs of the real command: SIGKILL, Ctrl-C, and --resume.
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CliFolder } from '../../../support/cli.js';
import { runKilled } from '../../../support/files/kill.js';
import { writePointsCsv } from '../../../support/files/points-csv.js';
import { randomFrom } from '../../../support/open-world.js';

const folder = new CliFolder();
afterAll(() => folder.remove());

beforeAll(() => {
  writePointsCsv(folder.file('big.csv'), 120_000, 2);
  writePointsCsv(folder.file('few.csv'), 6, 1);
});

test.each([
  ['csv', ['encode', 'big.csv', '--errors', 'rejected.csv', '-q']],
  ['ndjson', ['encode', 'big.csv', '--to', 'ndjson', '-q']],
] as const)('killed five times and resumed: the same bytes as without (%s)', async (format, args) => {
  const seed = 3;
  console.log(`kill: seed ${seed}`);
  const start = performance.now();
  expect((await folder.run([...args, '-o', `whole.${format}`])).code).toBe(0);
  const spanMs = performance.now() - start;
  const rejected = args.includes('rejected.csv' as never) ? folder.bytes('rejected.csv') : null;
  const { kills } = await runKilled(
    [...args, '-o', `killed.${format}`],
    folder.path,
    5,
    spanMs,
    randomFrom(seed),
  );
  expect(kills).toBeGreaterThan(0);
  expect(folder.bytes(`killed.${format}`).equals(folder.bytes(`whole.${format}`))).toBe(true);
  if (rejected !== null) expect(folder.bytes('rejected.csv').equals(rejected)).toBe(true);
  expect(folder.names().filter((name) => name.includes('partial'))).toEqual([]);
});

test('Ctrl-C keeps the rows so far and names --resume; --resume with other options is refused', async () => {
  const args = ['encode', 'big.csv', '--to', 'ndjson', '-o', 'stopped.ndjson'];
  const broken = await folder.run(args, {
    env: { HEXCODES_CHECKPOINT_BYTES: '65536' },
    started: (child) => {
      const poll = setInterval(() => {
        if (!existsSync(folder.file('stopped.ndjson.partial.journal')) && child.exitCode === null) return;
        clearInterval(poll);
        child.kill('SIGINT');
      }, 5);
    },
  });
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
  expect(folder.bytes('stopped.ndjson').equals(folder.bytes('whole.ndjson'))).toBe(true);
});

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
