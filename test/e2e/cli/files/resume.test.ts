// Interrupted runs of the real command: SIGKILL, Ctrl-C, --resume, and the line of docs/recipes.md for a folder.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import type { Ran } from '../../../support/cli.js';
import { writePointsCsv } from '../../../support/files/points-csv.js';
import { randomFrom } from '../../../support/open-world.js';
import { blocksOf } from '../../../support/page-blocks.js';
import { sharedCommand } from '../../../support/shared.js';

// Kills the command at random moments and resumes it until it finishes.

const MAIN = resolve('dist/cli/main.js');

interface KilledRun {
  /** How often it was killed while it ran. */
  readonly kills: number;
  /** Runs that resumed from a journal. */
  readonly resumed: number;
}

/**
 * Runs `hexcodes ARGS -o OUT --resume`. Kills it (SIGKILL) `kills` times: when the journal first appears, then each
 * time after a random part of `spanMs`. Then lets it finish.
 */
async function runKilled(
  args: readonly string[],
  cwd: string,
  kills: number,
  spanMs: number,
  random: () => number,
): Promise<KilledRun> {
  let killed = 0;
  let resumed = 0;
  for (let run = 0; ; run++) {
    const isLast = killed >= kills || run > 20 * kills;
    // The first run is killed when the journal appears, so that there is always something to resume.
    const isFirst = run === 0 && kills > 0;
    const outcome = await runOnce(args, cwd, isLast ? null : isFirst ? 'journal' : random() * spanMs);
    if (!/Nothing to resume/.test(outcome.stderr) && run > 0) resumed++;
    if (outcome.signal === 'SIGKILL') killed++;
    else if (outcome.code !== 0) throw new Error(`exit ${outcome.code}: ${outcome.stderr}`);
    else return { kills: killed, resumed };
  }
}

interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

function runOnce(args: readonly string[], cwd: string, kill: number | 'journal' | null): Promise<Outcome> {
  return new Promise((done) => {
    const child = spawn(process.execPath, [MAIN, ...args, '--resume'], {
      cwd,
      env: { ...process.env, HEXCODES_CHECKPOINT_BYTES: String(256 * 1024) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (bytes: Buffer) => {
      stderr += bytes.toString();
    });
    const timer = typeof kill === 'number' ? setTimeout(() => child.kill('SIGKILL'), kill) : undefined;
    const journal = join(cwd, `${args[args.indexOf('-o') + 1]}.partial.journal`);
    const poll =
      kill === 'journal' ? setInterval(() => existsSync(journal) && child.kill('SIGKILL'), 1) : undefined;
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      clearInterval(poll);
      done({ code, signal, stderr });
    });
  });
}

const folder = sharedCommand();

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
  const random = randomFrom(4);
  const features = rows.map((row, n) => {
    const { lat, lng, ...properties } = Object.fromEntries(
      row.split(',').map((value, i) => [names[i]!, value]),
    );
    const geometry = { type: 'Point', coordinates: [Number(lng), Number(lat)] };
    return JSON.stringify({ type: 'Feature', properties: { ...properties, n }, geometry });
  });
  // Collections of any length, with members around their features, and features by themselves.
  const texts: string[] = [];
  for (let at = 0; at < features.length; ) {
    const count = random() < 0.3 ? 1 : Math.ceil(random() * 9000);
    const list = features.slice(at, at + count).join(random() < 0.5 ? ',' : ',\n');
    const name = JSON.stringify({ name: `from ${at}` }).slice(1, -1);
    texts.push(count === 1 ? list : `{"type":"FeatureCollection",${name},"features":[${list}],"at":${at}}`);
    at += count;
  }
  writeFileSync(folder.file('big.geojson'), texts.join('\n'));
  writeFileSync(folder.file('sequence.geojson'), texts.map((text) => `\x1e${text}\n`).join(''));
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
  ['ndjson', ['encode', 'big.geojson', '--errors', 'rejected.ndjson', '-q']],
  ['csv', ['encode', 'sequence.geojson', '--errors', 'rejected.csv', '-q']],
] as const)('killed five times and resumed: the same bytes as without (%s, %j)', async (format, args) => {
  const seed = 3;
  // A finished output of another test would stay.
  const [whole, killed] = ['whole', 'killed'].map((name) => `${name}-${args[1]}.${format}`) as [
    string,
    string,
  ];
  console.log(`kill: seed ${seed}`);
  const start = performance.now();
  expect((await folder.run([...args, '-o', whole])).code).toBe(0);
  const spanMs = performance.now() - start;
  const rejects = args.find((arg) => arg.startsWith('rejected.'));
  const rejected = rejects === undefined ? null : folder.bytes(rejects);
  const { kills } = await runKilled([...args, '-o', killed], folder.path, 5, spanMs, randomFrom(seed));
  expect(kills).toBeGreaterThan(0);
  expect(folder.bytes(killed).equals(folder.bytes(whole))).toBe(true);
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
  const env = { HEXCODES_INDEX: resolve('data/index.bin') };
  for (const other of [
    await folder.run([...args, '--resume', '-r', '9']),
    await folder.run([...args, '--resume'], { env }),
  ])
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
  const ran = await folder.run('encode few.csv -o again.parquet --resume');
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('Output in parquet cannot be resumed: starting again');
  for (const name of ['again.csv.gz', '.gz']) {
    const zipped = await folder.run(['encode', 'few.csv', '-o', name, '--resume']);
    expect([name, zipped.stderr]).toEqual([
      name,
      expect.stringContaining('Output in gzip cannot be resumed'),
    ]);
  }
  const fresh = await folder.run('encode few.csv -o fresh.csv --resume');
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

const FILES = ['a/1.csv', 'a/2.csv', 'b/3.csv', '4.csv'];

const [line = ''] = blocksOf('docs/recipes.md', 'sh')
  .map(({ text }) => text)
  .filter((text) => text.includes('xargs'));

/** A shell that leads a process group of its own. */
function start() {
  const path = `${folder.file('bin')}:${process.env.PATH}`;
  const env = { ...process.env, PATH: path, HEXCODES_CHECKPOINT_BYTES: '65536' };
  return spawn('bash', ['-c', line], { cwd: folder.path, env, detached: true, stdio: 'ignore' });
}

test('a folder by xargs, killed and resumed', async () => {
  mkdirSync(folder.file('bin'));
  const command = folder.commandLine([]).map((word) => `"${word}"`);
  writeFileSync(folder.file('bin/hexcodes'), `#!/bin/sh\nexec ${command.join(' ')} "$@"\n`, { mode: 0o755 });
  for (const name of FILES) {
    mkdirSync(join(folder.file('days'), name, '..'), { recursive: true });
    writePointsCsv(folder.file(`days/${name}`), 60_000, FILES.indexOf(name));
    expect((await folder.run(['encode', `days/${name}`, '-q', '-o', `${name.replace('/', '-')}`])).code).toBe(
      0,
    );
  }
  let kills = 0;
  for (let round = 0; round < 4; round++) {
    const shell = start();
    const ended = once(shell, 'close');
    // Until a file has come to a checkpoint, or the run is over.
    const hasJournal = () => FILES.some((name) => existsSync(folder.file(`coded/${name}.partial.journal`)));
    while (!hasJournal() && shell.exitCode === null) await sleep(2);
    await sleep(5 * round);
    if (shell.exitCode === null) {
      process.kill(-shell.pid!, 'SIGKILL');
      kills++;
    }
    await ended;
  }
  expect(kills).toBeGreaterThan(0);
  const [code] = (await once(start(), 'close')) as [number];
  expect(code).toBe(0);
  for (const name of FILES) {
    const made = folder.bytes(`coded/${name}`);
    expect(made.equals(folder.bytes(name.replace('/', '-'))), name).toBe(true);
  }
  const times = FILES.map((name) => statSync(folder.file(`coded/${name}`)).mtimeMs);
  const [again] = (await once(start(), 'close')) as [number];
  expect(again).toBe(0);
  expect(FILES.map((name) => statSync(folder.file(`coded/${name}`)).mtimeMs)).toEqual(times);
});
