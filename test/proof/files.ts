// `npm run proof -- files [--size ROWS] [--seed S]`: a CSV through the command and through the peer script, in the same
// run: speed, memory, and the two outputs compared row by row. Full size: 10 million rows.

import { type ChildProcess, spawn } from 'node:child_process';
import { createReadStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { readIndexArcs } from '#dist/hexcodes/kernel/index-file.js';
import { writePointsCsv } from '../support/files/points-csv.js';

const MIN_RATIO = 10;
const MAX_MEMORY_MB = 300;
/** Runs of the command around the peer's one: before and after it. */
const OWN_RUNS = 3;

interface Measured {
  readonly seconds: number;
  readonly peakMb: number;
}

export default async function files(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { size: { type: 'string', default: '1e7' }, seed: { type: 'string', default: '1' } },
  });
  const rows = Number(values.size);
  const seed = Number(values.seed);
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-proof-'));
  const input = join(folder, 'in.csv');
  try {
    writePointsCsv(input, rows, seed);
    const sizeMb = statSync(input).size / 1e6;
    console.log(
      `files: ${rows} rows, ${sizeMb.toFixed(0)} MB, seed ${seed}, ${availableParallelism()} cores, ${process.version}`,
    );
    const own: Measured[] = [];
    const runOwn = async (): Promise<void> => {
      const measured = await measure(resolve('dist/cli/main.js'), [
        'encode',
        input,
        '-o',
        join(folder, 'ours.csv'),
        '-q',
      ]);
      own.push(measured);
      report('hexcodes encode', measured, rows);
    };
    await runOwn();
    const peer = await measure(resolve('build/test/support/peers/files-script.js'), [
      input,
      join(folder, 'theirs.csv'),
    ]);
    report('peer script', peer, rows);
    while (own.length < OWN_RUNS) await runOwn();
    const seconds = own.map((each) => each.seconds).sort((a, b) => a - b)[OWN_RUNS >> 1] as number;
    const peakMb = Math.max(...own.map((each) => each.peakMb));
    const ratio = peer.seconds / seconds;
    const different = await differentRows(join(folder, 'ours.csv'), join(folder, 'theirs.csv'), rows);
    console.log(
      `ratio ${ratio.toFixed(1)} (median of ${OWN_RUNS}), peak ${peakMb.toFixed(0)} MB, ${different} rows differ`,
    );
    if (different > 0 || ratio < MIN_RATIO || peakMb > MAX_MEMORY_MB) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(name: string, { seconds, peakMb }: Measured, rows: number): void {
  const rate = Math.round(rows / seconds).toLocaleString('en');
  console.log(
    `${name.padEnd(16)} ${seconds.toFixed(2).padStart(8)} s  ${rate.padStart(10)} rows/s  ${peakMb.toFixed(0)} MB`,
  );
}

function measure(script: string, args: readonly string[]): Promise<Measured> {
  return new Promise((done, failed) => {
    const start = performance.now();
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
    let peakMb = 0;
    const poll = setInterval(() => {
      peakMb = Math.max(peakMb, peakOf(child));
    }, 50);
    child.on('error', failed);
    child.on('close', (code) => {
      clearInterval(poll);
      const seconds = (performance.now() - start) / 1000;
      if (code === 0) done({ seconds, peakMb });
      else failed(new Error(`${script} ended with ${code}`));
    });
  });
}

/** Peak resident memory of a process so far, from Linux; 0 elsewhere. */
function peakOf(child: ChildProcess): number {
  try {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/**
 * Rows that are not the same bytes, but for points exactly on a border line: there the script's floating-point test may
 * fall on either side, while ours has one answer by definition. They are listed.
 */
async function differentRows(ours: string, theirs: string, rows: number): Promise<number> {
  const linesOf = (path: string) =>
    createInterface({
      input: createReadStream(path, { highWaterMark: 1 << 20 }),
      crlfDelay: Number.POSITIVE_INFINITY,
    })[Symbol.asyncIterator]();
  const a = linesOf(ours);
  const b = linesOf(theirs);
  let different = 0;
  for (let row = 0; ; row++) {
    const [left, right] = await Promise.all([a.next(), b.next()]);
    if (left.done === true && right.done === true) {
      if (row !== rows + 1) throw new Error(`${row} lines, ${rows + 1} expected`);
      return different;
    }
    if (left.value === right.value) continue;
    const [, lat, lng] = String(left.value).split(',') as string[];
    const isTie = isOnBorder(Math.round(Number(lng) * 1e6), Math.round(Number(lat) * 1e6));
    if (!isTie) different++;
    console.log(`row ${row}${isTie ? ', exactly on a border line' : ''}: ${left.value} | ${right.value}`);
    if (different > 10) return different;
  }
}

/** Whether a position in whole micro-degrees lies on a line of the shipped boundaries; exact. */
function isOnBorder(x: number, y: number): boolean {
  for (const { vertices } of readIndexArcs(readFileSync('data/index.bin'))) {
    for (let i = 0; i + 3 < vertices.length; i += 2) {
      const [x0, y0, x1, y1] = vertices.subarray(i, i + 4) as unknown as [number, number, number, number];
      if (y < Math.min(y0, y1) || y > Math.max(y0, y1) || x < Math.min(x0, x1) || x > Math.max(x0, x1))
        continue;
      // Differences are below 2^25, so the products are exact.
      if ((x1 - x0) * (y - y0) === (y1 - y0) * (x - x0)) return true;
    }
  }
  return false;
}
