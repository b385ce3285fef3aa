// `npm run proof -- fuzz-files [--size 100000] [--for 30m] [--seed S]`: damaged files of every format through the
// command's readers, in a process of its own with a heap of 256 MiB: each gives rows or a sentence, and none takes more
// than 1 GiB or 60 s. The first two are the files that took 4.2 and 1.08 GB. The small twin is
// test/property/cli/files/damaged-files.test.ts.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Hexcodes } from '#hexcodes';
import {
  arrowWithCount,
  BAD_INPUT,
  DAMAGES,
  type Damage,
  damagedBytes,
  longTexts,
  NAMES,
  outcomeOf,
  workbook,
} from '../support/files/damaged.js';
import { hostilePiece, LinearWork } from '../support/files/linear.js';
import { randomFrom } from '../support/open-world.js';
import { pick } from '../support/random.js';
import { optionsOf, RunLength, report } from './run-length.js';

/** Files of all types and packings, whose rows are not counted. */
const KEPT = (
  'types/types.parquet types/int96.parquet types/types.arrows types/arrow-only.arrows ' +
  'arrow/lz4.feather arrow/zstd.feather points.xlsx'
).split(' ');
const ROWS = 300;
const HEAP_MIB = 256;
const MAX_PEAK_KIB = 1024 * 1024;
const MAX_MS = 60_000;
const WORKER = '--worker';

interface Answer {
  readonly outcome?: { rows: number } | { fault: string; exitCode: number };
  readonly thrown?: string;
  readonly peakKib: number;
}

export async function proveFuzzFiles(args: string[]): Promise<void> {
  const values = optionsOf(args, { size: '100000', seed: '1', for: undefined });
  const seed = Number(values.seed);
  const length = new RunLength(Number(values.size), values.for);
  const random = randomFrom(seed);
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-damaged-'));
  const reader = new Reader();
  const faults: string[] = [];
  let files = 0;
  let refused = 0;
  try {
    const wholes = wholeFiles(folder);
    const names = [...wholes.keys()];
    const tryOne = async (name: string, damage: Damage | 'made', bytes: Buffer): Promise<void> => {
      const path = join(folder, `damaged-${name}`);
      writeFileSync(path, bytes);
      const fault = faultOf(await reader.read(path), name, damage);
      if (fault === 'refused') refused++;
      else if (fault !== undefined)
        faults.push(`${fault}: ${name} ${damage} ${bytes.toString('base64').slice(0, 2000)}`);
    };
    await tryOne('count.arrows', 'made', arrowWithCount('buffers'));
    await tryOne('long.parquet', 'made', longTexts());
    for (; length.goesOn(files) && faults.length < 20; files++) {
      const name = names[files % names.length]!;
      const damage = pick(DAMAGES, random);
      await tryOne(name, damage, damagedBytes(wholes.get(name)!, damage, random));
    }
  } finally {
    reader.end();
    rmSync(folder, { recursive: true });
  }
  const peak = `peak ${Math.round(reader.peakKib / 1024)} MiB`;
  report('fuzz-files', `${files} files, ${refused} refused, ${peak}`, seed, faults);
}

/** A process that reads files, and another one where it has ended. */
class Reader {
  peakKib = 0;
  #child: ChildProcess | null = null;
  #answered: (answer: Answer) => void = () => undefined;

  read(path: string): Promise<Answer> {
    const child = this.#child ?? this.#started();
    return new Promise((done) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), MAX_MS);
      this.#answered = (answer) => {
        clearTimeout(timer);
        this.peakKib = Math.max(this.peakKib, answer.peakKib);
        done(answer);
      };
      child.stdin?.write(`${path}\n`);
    });
  }

  end(): void {
    this.#child?.kill();
  }

  #started(): ChildProcess {
    const words = [`--max-old-space-size=${HEAP_MIB}`, fileURLToPath(import.meta.url), WORKER];
    const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'ignore'] });
    createInterface({ input: child.stdout }).on('line', (line) => this.#answered(JSON.parse(line) as Answer));
    child.on('exit', (code, signal) => {
      this.#child = null;
      this.#answered({ thrown: `the process ended with ${code ?? signal}`, peakKib: 0 });
    });
    this.#child = child;
    return child;
  }
}

async function answerFiles(): Promise<void> {
  for await (const path of createInterface({ input: process.stdin })) {
    const answer: Answer = await outcomeOf(path).then(
      (outcome) => ({ outcome, peakKib: process.resourceUsage().maxRSS }),
      (error: unknown) => ({ thrown: String(error), peakKib: process.resourceUsage().maxRSS }),
    );
    console.log(JSON.stringify(answer));
  }
}

/** Where the format can tell, damage may not pass for a whole file. */
function faultOf({ outcome, thrown, peakKib }: Answer, name: string, damage: string): string | undefined {
  if (outcome === undefined) return `thrown: ${thrown}`;
  if (peakKib > MAX_PEAK_KIB) return `${Math.round(peakKib / 1024)} MiB held`;
  if ('fault' in outcome) {
    // A file that was not opened was not read.
    if (/call stack|string length|array length|allocation failed|cannot read \//i.test(outcome.fault))
      return outcome.fault;
    return outcome.exitCode === BAD_INPUT ? 'refused' : `exit code ${outcome.exitCode}`;
  }
  const canTell = name === 'whole.csv.gz' || (damage === 'cut off' && /^whole\.(parquet|arrow)$/.test(name));
  return canTell && outcome.rows !== ROWS ? `${outcome.rows} rows without a word` : undefined;
}

function wholeFiles(folder: string): ReadonlyMap<string, Buffer> {
  const rows = Array.from({ length: ROWS }, (_, i) => `${i},"tên ${i}",${21 + i / 1000},${105 + i / 900}\n`);
  const csv = join(folder, 'whole.csv');
  writeFileSync(csv, `id,name,lat,lng\n${rows.join('')}`);
  for (const name of NAMES.slice(1)) {
    if (name.endsWith('.gz')) writeFileSync(join(folder, name), gzipSync(readFileSync(csv)));
    else execFileSync(process.execPath, ['dist/cli/main.js', 'encode', csv, '-o', join(folder, name), '-q']);
  }
  return new Map([
    ...NAMES.map((name) => [name, readFileSync(join(folder, name))] as const),
    ...KEPT.map((name) => [name.replace('/', '-'), readFileSync(join('test/fixtures', name))] as const),
    ['made.xlsx', workbook()] as const,
  ]);
}

if (process.argv[2] === WORKER) await answerFiles();

// `npm run proof -- linear [--for 10m] [--seed S]`: the work of every textual reader is bounded by its bytes. A piece
// of text that readers stop or turn round at is repeated at every place of every format: four times the bytes take less
// than eight times the CPU. The small twin is test/e2e/cli/files/cost.test.ts; the SQL of GeoPackages
// has tests of its own, damaged binary files the proof `fuzz-files`.

export async function proveLinear(args: string[]): Promise<void> {
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
