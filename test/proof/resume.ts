// `npm run proof -- resume [--kills N] [--size ROWS] [--seed S]`: the command killed (SIGKILL) at random moments and
// resumed until it comes through; the result byte-equal to an uninterrupted run.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runKilled } from '../support/files/kill.js';
import { writePointsCsv } from '../support/files/points-csv.js';
import { randomFrom } from '../support/open-world.js';
import { optionsOf } from './run-length.js';

/** Kills of one file before the next is begun. */
const KILLS_A_FILE = 10;

export default async function resume(args: string[]): Promise<void> {
  const values = optionsOf(args, { kills: '50', size: '1e6', seed: '1' });
  const wanted = Number(values.kills);
  const seed = Number(values.seed);
  const random = randomFrom(seed);
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-proof-'));
  const ways: readonly (readonly string[])[] = [
    ['encode', 'in.csv', '-q'],
    ['encode', 'in.csv', '--errors', 'REJECTS', '-q'],
    ['encode', 'in.csv', '--to', 'ndjson', '-q'],
  ];
  try {
    writePointsCsv(join(folder, 'in.csv'), Number(values.size), seed);
    console.log(`resume: ${values.size} rows, seed ${seed}`);
    let kills = 0;
    let resumed = 0;
    for (let file = 0; kills < wanted; file++) {
      const way = ways[file % ways.length] as readonly string[];
      const named = (name: string): string[] =>
        way.map((word) => (word === 'REJECTS' ? `rejects-${name}` : word));
      const start = performance.now();
      const whole = spawnSync(
        process.execPath,
        [resolve('dist/cli/main.js'), ...named('whole'), '-o', 'whole'],
        {
          cwd: folder,
        },
      );
      if (whole.status !== 0) throw new Error(whole.stderr.toString());
      const spanMs = performance.now() - start;
      const rounds = Math.min(KILLS_A_FILE, wanted - kills);
      const run = await runKilled([...named('killed'), '-o', 'killed'], folder, rounds, spanMs, random);
      kills += run.kills;
      resumed += run.resumed;
      const pairs = way.includes('REJECTS') ? ['', 'rejects-'] : [''];
      for (const prefix of pairs) {
        const isEqual = readFileSync(join(folder, `${prefix}killed`)).equals(
          readFileSync(join(folder, `${prefix}whole`)),
        );
        if (!isEqual) throw new Error(`${way.join(' ')}: the ${prefix}file differs after ${run.kills} kills`);
      }
      console.log(`${way.join(' ')}: ${run.kills} kills, ${run.resumed} resumed, byte-equal`);
    }
    console.log(`${kills} kills, ${resumed} runs went on from a journal, every file byte-equal`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
