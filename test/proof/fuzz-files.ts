// `npm run proof -- fuzz-files [--size 100000] [--for 30m] [--seed S]`: damaged files of every format through the command's
// readers, in process. The small twin is test/property/cli/files/damaged-files.test.ts.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { EXIT } from '#dist/cli/exit-codes.js';
import { damagedBytes, damagesOf, outcomeOf } from '../support/files/damaged.js';
import { pick } from '../support/mutate.js';
import { randomFrom } from '../support/open-world.js';
import { RunLength, report } from './run-length.js';

const NAMES = ['whole.csv', 'whole.ndjson', 'whole.geojson', 'whole.parquet', 'whole.arrow', 'whole.csv.gz'];
const ROWS = 300;

export default async function proveFuzzFiles(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      size: { type: 'string', default: '100000' },
      seed: { type: 'string', default: '1' },
      for: { type: 'string' },
    },
  });
  const seed = Number(values.seed);
  const length = new RunLength(Number(values.size), values.for);
  const random = randomFrom(seed);
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-damaged-'));
  const faults: string[] = [];
  let files = 0;
  let refused = 0;
  try {
    const wholes = wholeFiles(folder);
    for (; length.goesOn(files) && faults.length < 20; files++) {
      const name = NAMES[files % NAMES.length]!;
      const damage = pick(damagesOf(name), random);
      const bytes = damagedBytes(wholes.get(name)!, damage, random);
      const path = join(folder, `damaged-${name}`);
      writeFileSync(path, bytes);
      const fault = await faultOf(path, damage);
      if (fault === 'refused') refused++;
      else if (fault !== undefined)
        faults.push(`${fault}: ${name} ${damage} ${bytes.toString('base64').slice(0, 2000)}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  report('fuzz-files', `${files} files, ${refused} refused`, seed, faults);
}

/** Where the format can tell, damage may not pass for a whole file. */
async function faultOf(path: string, damage: string): Promise<string | undefined> {
  try {
    const outcome = await outcomeOf(path);
    if ('fault' in outcome) {
      return outcome.exitCode === EXIT.BAD_INPUT ? 'refused' : `exit code ${outcome.exitCode}`;
    }
    const canTell = path.endsWith('.gz') || (damage === 'cut off' && /\.(parquet|arrow)$/.test(path));
    return canTell && outcome.rows !== ROWS ? `${outcome.rows} rows without a word` : undefined;
  } catch (error) {
    return `thrown: ${String(error)}`;
  }
}

function wholeFiles(folder: string): ReadonlyMap<string, Buffer> {
  const rows = Array.from({ length: ROWS }, (_, i) => `${i},"tên ${i}",${21 + i / 1000},${105 + i / 900}\n`);
  const csv = join(folder, 'whole.csv');
  writeFileSync(csv, `id,name,lat,lng\n${rows.join('')}`);
  for (const name of NAMES.slice(1)) {
    if (name.endsWith('.gz')) writeFileSync(join(folder, name), gzipSync(readFileSync(csv)));
    else execFileSync(process.execPath, ['dist/cli/main.js', 'encode', csv, '-o', join(folder, name), '-q']);
  }
  return new Map(NAMES.map((name) => [name, readFileSync(join(folder, name))]));
}
