// Files through the shipped command, and the CPU time of a row: the slope between a small and a large file, so that the
// start of the command is not in it.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConversionResult } from '../measure/results.js';

const COMMAND = fileURLToPath(new URL('../../cli/main.js', import.meta.url));
const CONVERSION_FORMATS = ['csv', 'ndjson', 'parquet', 'arrow'] as const;
const ROWS_AT_ONCE = 100_000;
/** Prints the CPU time of all threads of the process at its end, in microseconds. */
const TELL_CPU = `data:text/javascript,process.on('exit',()=>{const{user,system}=process.cpuUsage();process.stdout.write(String(user+system))})`;

/** @param pairsDeg lat, lng, … in degrees, used again and again @param rows of the large file, 1000 or more */
export async function measureConversions(pairsDeg: Float64Array, rows: number): Promise<ConversionResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-conversions-'));
  try {
    const sizes = [Math.round(rows / 8), rows] as const;
    const made = sizes.map((count) => {
      const path = join(folder, `${count}.csv`);
      writeFileSync(path, 'id,lat,lng\n');
      for (let from = 0; from < count; from += ROWS_AT_ONCE) {
        const lines = Array.from({ length: Math.min(ROWS_AT_ONCE, count - from) }, (_, i) => {
          const at = (2 * (from + i)) % pairsDeg.length;
          return `${from + i},${pairsDeg[at]},${pairsDeg[at + 1]}\n`;
        });
        appendFileSync(path, lines.join(''));
      }
      return path;
    });
    const all: ConversionResult[] = [];
    for (const format of CONVERSION_FORMATS) {
      const runs: { us: number; readBytes: number; writtenBytes: number }[] = [];
      for (const csv of made) {
        const input = format === 'csv' ? csv : csv.replace(/csv$/, format);
        if (format !== 'csv')
          // A column `resolution` would set the resolution of each row, which few files do.
          execFileSync(
            process.execPath,
            [COMMAND, 'encode', csv, '--prefix', 'old_', '--quiet', '-o', input],
            {
              stdio: 'ignore',
            },
          );
        const output = join(folder, `out.${format}`);
        rmSync(output, { force: true });
        const us = await cpuUsOf(['encode', input, '--prefix', 'new_', '--quiet', '-o', output]);
        runs.push({ us, readBytes: statSync(input).size, writtenBytes: statSync(output).size });
      }
      const [small, large] = runs as [(typeof runs)[number], (typeof runs)[number]];
      const more = sizes[1] - sizes[0];
      all.push({
        format,
        nsPerRow: Math.max(1, (1000 * (large.us - small.us)) / more),
        readBytesPerRow: large.readBytes / sizes[1],
        writtenBytesPerRow: large.writtenBytes / sizes[1],
      });
    }
    return all;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function cpuUsOf(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, ['--import', TELL_CPU, COMMAND, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (err += bytes.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`hexcodes ${args.join(' ')}: ${err.trim()}`);
  return Number(out);
}
