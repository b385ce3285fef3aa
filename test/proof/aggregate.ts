// Ten million rows by cell of resolution 8 and province, compared row for row with DuckDB's grouping of the same rows
// with our codes in them; and five million groups, of which the peak of memory is read. Prints the times of both.
import { spawn } from 'node:child_process';
import { closeSync, createReadStream, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { randomFrom } from '../support/open-world.js';
import { optionsOf } from './run-length.js';

const MAIN = resolve('dist/cli/main.js');
const SEED = 20261122;

export default async function proof(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: undefined, seed: undefined });
  const rows = Number(values.size ?? 10_000_000);
  const seed = Number(values.seed ?? SEED);
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-proof-'));
  try {
    const points = join(folder, 'points.csv');
    writePoints(points, rows, seed);
    await command(['encode', points, '-r', '8', '-q', '-o', join(folder, 'coded.csv')]);
    const options = ['-r', '8', '--count', '--sum', 'load', '--avg', 'speed', '-q'];
    const ours = await command(['aggregate', points, ...options, '-o', join(folder, 'cells.csv')]);
    const theirs = await compare(folder);
    const ratio = (ours.seconds / theirs.seconds).toFixed(1);
    console.log(
      `${rows} rows: ${theirs.groups} groups, equal; ${ours.seconds.toFixed(1)} s and ${ours.peakMib} MiB`,
    );
    console.log(`DuckDB over rows that have the code: ${theirs.seconds.toFixed(1)} s; ratio ${ratio}`);
    const fine = ['-r', '13', '--sum', 'load', '--avg', 'speed', '-q'];
    const many = await command(['aggregate', points, ...fine, '-o', join(folder, 'fine.csv')]);
    const groups = await linesOf(join(folder, 'fine.csv'));
    console.log(`resolution 13: ${groups - 1} groups, ${many.seconds.toFixed(1)} s and ${many.peakMib} MiB`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function linesOf(path: string): Promise<number> {
  let lines = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>)
    for (const byte of chunk) if (byte === 10) lines++;
  return lines;
}

/** Half of the rows lie around two cities, half anywhere in a box of the country. */
function writePoints(path: string, rows: number, seed: number): void {
  const random = randomFrom(seed);
  const file = openSync(path, 'w');
  let lines = ['id,lat,lng,speed,load\n'];
  for (let row = 0; row < rows; row++) {
    const [south, west, size] = [[20.9, 105.7, 0.3] as const, [10.6, 106.5, 0.4] as const][row % 2]!;
    const isCity = row % 4 < 2;
    const lat = isCity ? south + random() * size : 11 + random() * 4;
    const lng = isCity ? west + random() * size : 107.6 + random() * 1.1;
    const values = `${(random() * 90).toFixed(1)},${Math.floor(random() * 2000) - 1000}`;
    lines.push(`v${row % 500},${lat.toFixed(6)},${lng.toFixed(6)},${values}\n`);
    if (lines.length < 50_000) continue;
    writeSync(file, lines.join(''));
    lines = [];
  }
  writeSync(file, lines.join(''));
  closeSync(file);
}

/** Runs the command, and reads its peak of memory while it runs. */
function command(args: readonly string[]): Promise<{ seconds: number; peakMib: number }> {
  const startMs = performance.now();
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  let peakMib = 0;
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peakMib = Math.max(peakMib, Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024));
    } catch {
      // It has ended, or this system has no /proc.
    }
  }, 100);
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (code) => {
      clearInterval(timer);
      if (code === 0) done({ seconds: (performance.now() - startMs) / 1000, peakMib });
      else failed(new Error(`${args[0]} ended with ${code}`));
    });
  });
}

/** @throws Error where DuckDB's groups are others */
async function compare(folder: string): Promise<{ groups: number; seconds: number }> {
  const connection = await (
    await DuckDBInstance.create(undefined, { threads: '1', memory_limit: '1GB' })
  ).connect();
  const query = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
  const types = "types = {'speed': 'DOUBLE', 'load': 'BIGINT'}";
  const startMs = performance.now();
  await query(`CREATE TABLE wanted AS SELECT hexcodes, admin_code, count(*) AS count, sum(load)::BIGINT AS sum_load,
    avg(speed) AS avg_speed FROM read_csv('${join(folder, 'coded.csv')}', ${types}) WHERE status = 'OK' GROUP BY ALL`);
  const seconds = (performance.now() - startMs) / 1000;
  const found = `SELECT hexcodes, admin_code, count, sum_load::BIGINT, round(avg_speed, 9) FROM read_csv('${join(folder, 'cells.csv')}')`;
  const wanted = 'SELECT hexcodes, admin_code, count, sum_load, round(avg_speed, 9) FROM wanted';
  const [row] = await query(`SELECT (SELECT count(*) FROM wanted) AS groups,
    (SELECT count(*) FROM (${found} EXCEPT ALL ${wanted})) + (SELECT count(*) FROM (${wanted} EXCEPT ALL ${found})) AS other`);
  if (Number(row!.other) !== 0 || Number(row!.groups) === 0) throw new Error(`${row!.other} groups differ`);
  return { groups: Number(row!.groups), seconds };
}
