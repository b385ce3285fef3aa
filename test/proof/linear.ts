// `npm run proof -- linear [--for 10m] [--seed S]`: the work of every textual reader is bounded by its bytes. A piece
// of text that readers stop or turn round at is repeated at every place of every format: four times the bytes take less
// than eight times the CPU. The small twin is test/e2e/cli/files/linear.test.ts; the SQL of GeoPackages
// has tests of its own, damaged binary files the proof `fuzz-files`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hexcodes } from '#hexcodes';
import { hostilePiece, LinearWork } from '../support/files/linear.js';
import { randomFrom } from '../support/open-world.js';
import { optionsOf, RunLength, report } from './run-length.js';

export default async function proveLinear(args: string[]): Promise<void> {
  const values = optionsOf(args, { for: '10m', seed: '1' });
  const seed = Number(values.seed);
  const random = randomFrom(seed);
  const length = new RunLength(Number.POSITIVE_INFINITY, values.for);
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-linear-'));
  const work = new LinearWork(await Hexcodes.load(), folder);
  const faults: string[] = [];
  let pieces = 0;
  let runs = 0;
  try {
    for (; length.goesOn(pieces) && faults.length < 20; pieces++) {
      const piece = hostilePiece(random);
      for (const reader of ['message', 'head'] as const)
        faults.push(...asList(await work.faultOfText(reader, piece)));
      for (const place of LinearWork.places) faults.push(...asList(await work.faultOf(place, piece)));
      runs += LinearWork.places.length + 2;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  report(
    'linear',
    `${pieces} pieces, ${runs} pairs of n and 4n bytes, at ${LinearWork.places.length + 2} places`,
    seed,
    faults,
  );
}

const asList = (fault: string | undefined): string[] => (fault === undefined ? [] : [fault]);
