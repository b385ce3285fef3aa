// `npm run proof -- spellings [--size 400] [--rounds 9] [--seed S] [--only PATTERN] [--beside FOLDER] [--all]`: CPU of
// rows in every spelling of test/support/spellings.ts against rows with the same members and values written compactly,
// in turns in one process: by /bulk, batches, JSON frames and messages. Fails where the median ratio of a spelling is
// above 1.6, which is measured three times as long again first, or a row is left to the host. With --beside, the
// spelled rows go through another checkout in the same turns; --all prints every cell.

import { DifferentialEngine } from '../support/differential/engine.js';
import { quantile } from '../support/metrics.js';
import {
  codeSpellings,
  csvSpellings,
  jsonSpellings,
  positionsOf,
  type SpelledRows,
} from '../support/spellings.js';
import { type BulkFormat, type Operation, Wire } from '../support/wire.js';
import { optionsOf, report } from './run-length.js';

const MAX_RATIO = 1.6;
/** Least time of a turn: many times the resolution of the clock of CPU. */
const MIN_TURN_US = 400;

/** One way from rows to an answer. */
interface Cell {
  readonly name: string;
  readonly spelled: Uint8Array;
  readonly compact: Uint8Array;
  readonly run: (build: Wire, body: Uint8Array) => unknown;
}

const RULES = { resolution: 13, prefix: '' } as const;

function* cellsOf(spelling: SpelledRows, operation: Operation): Generator<Cell> {
  const { name, rows, compact, isArrayAlone } = spelling;
  const both = (bodyOf: (items: readonly string[]) => string) => ({
    spelled: Buffer.from(bodyOf(rows)),
    compact: Buffer.from(bodyOf(compact)),
  });
  const member = operation === 'encode' ? 'points' : 'hexcodes';
  yield {
    name: `batch, ${operation}: ${name}`,
    ...both((items) => `{"${member}":[${items.join()}]}`),
    run: (build, body) => build.batch(operation, body),
  };
  yield {
    name: `JSON frame, ${operation}: ${name}`,
    ...both((items) => `{"seq":1,"op":"${operation}","${member}":[${items.join()}]}`),
    run: (build, body) => build.jsonFrame(body),
  };
  if (isArrayAlone) return;
  for (const output of ['ndjson', 'csv'] as const) yield bulkCell('ndjson', output, operation, name, both);
}

function bulkCell(
  input: BulkFormat,
  output: BulkFormat,
  operation: Operation,
  name: string,
  both: (bodyOf: (items: readonly string[]) => string) => Pick<Cell, 'spelled' | 'compact'>,
): Cell {
  const request = { operation, input, output, ...RULES };
  return {
    name: `/bulk from ${input} to ${output}, ${operation}: ${name}`,
    ...both((items) => `${items.join('\n')}\n`),
    run: (build, body) => build.bulk(request, body),
  };
}

/** Every cell of the corpus. */
function* allCells(seed: number, size: number, codes: readonly string[]): Generator<Cell> {
  for (const spelling of jsonSpellings(positionsOf(seed, size))) yield* cellsOf(spelling, 'encode');
  for (const spelling of codeSpellings(codes)) yield* cellsOf(spelling, 'decode');
  for (const { name, header, rows, compact } of csvSpellings(positionsOf(seed, size)))
    for (const output of ['csv', 'ndjson'] as const)
      yield bulkCell('csv', output, 'encode', name, (bodyOf) => ({
        spelled: Buffer.from(bodyOf([header, ...rows])),
        compact: Buffer.from(bodyOf([header.trimEnd(), ...compact])),
      }));
}

/** Codes of positions on land. */
function codesOf(build: Wire, seed: number, size: number): string[] {
  const points = positionsOf(seed, size * 4).map(([lat, lng]) => `[${lat},${lng}]`);
  const answer = Buffer.from(build.batch('encode', Buffer.from(`{"points":[${points.join()}]}`))).toString();
  const { results } = JSON.parse(answer) as { results: { hexcodes: string | null }[] };
  return results.flatMap(({ hexcodes }) => hexcodes ?? []).slice(0, size);
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

interface Measured {
  /** Median ratio of the spelled rows to the compact ones. */
  readonly ratio: number;
  /** Median ns a row of either, and of the spelled rows by the other checkout. */
  readonly ns: readonly number[];
}

function measure(cell: Cell, builds: readonly Wire[], size: number, rounds: number): Measured {
  const { run, spelled, compact } = cell;
  const [here] = builds as [Wire];
  const work = [() => run(here, compact), ...builds.map((build) => () => run(build, spelled))];
  for (let warm = 0; warm < 3; warm++) for (const each of work) each();
  const begin = cpuUs();
  work[0]!();
  const repeats = Math.max(1, Math.ceil(MIN_TURN_US / Math.max(1, cpuUs() - begin)));
  const times: number[][] = work.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (let k = 0; k < work.length; k++) {
      const which = (k + round) % work.length;
      const before = cpuUs();
      for (let n = 0; n < repeats; n++) work[which]!();
      times[which]!.push(((cpuUs() - before) * 1000) / (repeats * size));
    }
  }
  const ratios = times[1]!.map((ns, round) => ns / times[0]![round]!);
  return { ratio: quantile(ratios, 0.5), ns: times.map((each) => quantile(each, 0.5)) };
}

export async function proveSpellings(args: string[]): Promise<void> {
  const values = optionsOf(args, {
    size: '400',
    rounds: '9',
    seed: '20261126',
    only: '',
    beside: '',
    all: false,
  });
  const [size, rounds, seed] = [Number(values.size), Number(values.rounds), Number(values.seed)];
  const only = new RegExp(values.only);
  const builds = await Promise.all(
    ['.', ...(values.beside === '' ? [] : [values.beside])].map((folder) => Wire.ofCheckout(folder)),
  );
  const [here] = builds as [Wire];
  const faults: string[] = [];
  const worst = new Map<string, { ratio: number; text: string }>();
  let cells = 0;
  for (const cell of allCells(seed, size, codesOf(here, seed, size))) {
    if (!only.test(cell.name)) continue;
    cells++;
    const before = here.slowRows();
    cell.run(here, cell.spelled);
    const slow = here.slowRows() - before;
    if (slow > 0) faults.push(`${cell.name}: ${slow} of ${size} rows are left to the host`);
    let measured = measure(cell, builds, size, rounds);
    if (measured.ratio > MAX_RATIO) measured = measure(cell, builds, size, 3 * rounds);
    const { ratio, ns } = measured;
    const text = `${ratio.toFixed(2)}: ${cell.name} (${ns.map((each) => each.toFixed(0)).join(', ')} ns)`;
    if (ratio > MAX_RATIO) faults.push(text);
    if (values.all) console.log(text);
    const endpoint = cell.name.slice(0, cell.name.indexOf(':'));
    if (ratio > (worst.get(endpoint)?.ratio ?? 0)) worst.set(endpoint, { ratio, text });
  }
  for (const { text } of worst.values()) console.log(`worst ${text}`);
  report('spellings', `${cells} cells of ${size} rows, ${rounds} rounds`, seed, faults);
}

// `npm run proof -- differential [--seed S] [--share 0.2] [--files 6] [--folder CHECKOUT]`: the differential engine of
// test/support/differential over more cases than the test, or over another checkout that is built. Fails where an
// answer differs, and prints which cells left the fast path.

export async function proveDifferential(args: string[]): Promise<void> {
  const values = optionsOf(args, { seed: '20261126', share: '0.2', files: '6', folder: '.' });
  const engine = await DifferentialEngine.of(values.folder);
  const seed = Number(values.seed);
  try {
    await engine.wire(seed, Number(values.share));
    await engine.fileCases(seed, Number(values.files));
  } finally {
    engine.close();
  }
  const { cases, rows, differences, slow } = engine.findings();
  for (const [cell, { rows: left, spellings }] of slow) {
    const [example] = spellings;
    console.log(`slow: ${cell}: ${left} rows in ${spellings.size} spellings, as ${example}`);
  }
  const faults = differences.map(({ what, got, due }) => `${what}\n    got ${got}\n    due ${due}`);
  report('differential', `${cases} cases, ${rows} rows`, seed, faults);
}
