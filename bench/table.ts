// The table of a run: its head (machine, versions, commit), its rows as they are measured, and the JSON that it leaves.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';

// Lower quartiles, spreads of values that are not times of tasks, ratios and tables: what the benches need beside
// tinybench.

export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * How many times as long `slow` takes as `fast`: ratio of medians, and the spread of either against the other's median.
 */
export function ratio(slow: Spread, fast: Spread): Spread {
  return {
    median: slow.median / fast.median,
    low: Math.min(slow.low / fast.median, slow.median / fast.high),
    high: Math.max(slow.high / fast.median, slow.median / fast.low),
  };
}

/** Median and quartiles. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: quantile(sorted, 0.5), low: quantile(sorted, 0.25), high: quantile(sorted, 0.75) };
}

/** The value at a share from 0 to 1 of ascending values, the nearest one. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.round(share * (sorted.length - 1))]!;
}

/** Titles of rows that state a figure over all loads that were measured: README.md and bench/README.md take these. */
export const OVER_LOADS = 'median over loads';

/** The middle one of costs that were measured under several loads; the dearer of two. */
export const overLoads = (costs: readonly number[]): number =>
  [...costs].sort((a, b) => a - b)[Math.floor(costs.length / 2)]!;

/** `41.3 (40.2-43.0)`: median and quartiles. */
export function spreadText({ median, low, high }: Spread, digits = 1): string {
  const text = (value: number) => value.toFixed(value >= 100 ? 0 : digits);
  return `${text(median)} (${text(low)}-${text(high)})`;
}

/** Rows as a Markdown table. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n');
}

export interface Head {
  readonly machine: string;
  readonly node: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly commit: string;
  /** ISO 8601, UTC. */
  readonly date: string;
  /** Average number of runnable processes in the minute before. */
  readonly load: number;
}

/**
 * @param packages whose installed versions belong to the table
 * @param versions of what names itself, as the build of uWebSockets.js that serves
 */
export function head(packages: readonly string[], versions: Readonly<Record<string, string>> = {}): Head {
  const cores = cpus();
  const memoryGiB = (totalmem() / 2 ** 30).toFixed(0);
  return {
    machine: `${cores.length} × ${cores[0]?.model.trim() ?? 'unknown'}, ${memoryGiB} GiB, ${process.platform} ${process.arch}`,
    node: process.version,
    versions: { ...versions, ...Object.fromEntries(packages.map((name) => [name, versionOf(name)])) },
    commit: commit(),
    date: new Date().toISOString().slice(0, 19).concat('Z'),
    load: loadavg()[0] ?? 0,
  };
}

export function headLine({ machine, node, versions, commit, date, load }: Head): string {
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${machine} · Node ${node} · ${packages.join(' · ')} · commit ${commit} · ${date} · load ${load.toFixed(1)}`;
}

/** Share of the time in which a task waits for a core above which a row is marked. */
const BUSY_SHARE = 0.1;
/** Rows that are printed within this time were measured together. */
const TOGETHER_MS = 50;

/** Microseconds in which some task of the machine waited for a core, since its start; undefined where nobody counts. */
function waitedMicros(): number | undefined {
  try {
    return Number(/^some .*total=(\d+)/.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1]);
  } catch {
    return undefined;
  }
}

/** How busy the machine was beside what was measured, in a word. */
function busyWord(waited: number | undefined, wallMs: number): string {
  if (waited === undefined) return (loadavg()[0] ?? 0) > cpus().length ? '**busy**' : '';
  const share = Math.min(1, waited / 1000 / wallMs);
  return share > BUSY_SHARE ? `**busy ${(100 * share).toFixed(0)} %**` : `${(100 * share).toFixed(0)} %`;
}

/**
 * The table of a run. Each row is printed when it is measured, marked where the machine was busy: the share of the time
 * in which a task waited for a core. The JSON in build/bench/ is written after each row, so that a run that is
 * interrupted leaves what it has.
 */
export class BenchTable {
  readonly #path: string;
  readonly #rows: unknown[] = [];
  #sinceMs = performance.now();
  #waited = waitedMicros();
  /** The word of the last row: several rows may be measured together. */
  #machine = '';

  /** @param notes lines above the table */
  constructor(
    private readonly bench: string,
    private readonly headOfRun: Head,
    titles: readonly string[],
    notes = '',
    private readonly facts: Readonly<Record<string, unknown>> = {},
  ) {
    mkdirSync('build/bench', { recursive: true });
    this.#path = `build/bench/${bench}-${headOfRun.date.replaceAll(':', '')}.json`;
    console.log(`${headLine(headOfRun)}\n${notes === '' ? '' : `\n${notes}\n`}`);
    console.log(table([...titles, 'machine'], []));
    this.#write();
  }

  /** @param data of the row, for the JSON. @returns how busy the machine was */
  row(cells: readonly string[], data: Readonly<Record<string, unknown>> = {}): string {
    const nowMs = performance.now();
    const waited = waitedMicros();
    const since = waited === undefined || this.#waited === undefined ? undefined : waited - this.#waited;
    if (nowMs - this.#sinceMs > TOGETHER_MS) this.#machine = busyWord(since, nowMs - this.#sinceMs);
    console.log(`| ${[...cells, this.#machine].join(' | ')} |`);
    const machine = this.#machine.replaceAll('*', '');
    this.#rows.push({ cells, ...data, machine });
    this.#write();
    [this.#sinceMs, this.#waited] = [performance.now(), waitedMicros()];
    return machine;
  }

  /** Says where the JSON is. */
  end(facts: Readonly<Record<string, unknown>> = {}): void {
    this.#write(facts);
    console.log(`\n${this.#path}`);
  }

  #write(facts: Readonly<Record<string, unknown>> = {}): void {
    const { bench, headOfRun, facts: given } = this;
    const result = { bench, head: headOfRun, ...given, ...facts, rows: this.#rows };
    writeFileSync(this.#path, `${JSON.stringify(result, null, 2)}\n`);
  }
}

/** The version of a package of this checkout, or of those that measurements alone need. */
function versionOf(name: string): string {
  const folder = ['node_modules', 'build/node_modules'].find((each) => existsSync(`${each}/${name}`));
  return (JSON.parse(readFileSync(`${folder}/${name}/package.json`, 'utf8')) as { version: string }).version;
}

/** Short hash, with a plus where files are not as committed. */
function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+');
  } catch {
    return 'unknown';
  }
}
