// What every bench prints: a head with machine, versions and commit, one table in Markdown, and the same as JSON in
// build/bench/.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** Half the distance between the quartiles. */
export function spread(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] as number;
  return (at(0.75) - at(0.25)) / 2;
}

function commit(): string {
  try {
    const head = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
    const changed = execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' }).trim() !== '';
    return changed ? `${head} and changes` : head;
  } catch {
    return 'unknown';
  }
}

export interface Report {
  readonly name: string;
  /** Corpus, seed, sizes: what makes the numbers repeatable. */
  readonly setting: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** Prints the report and writes build/bench/NAME.json. */
export function publish({ name, setting, columns, rows }: Report): void {
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform}`;
  const head = { machine, node: process.version, v8: process.versions.v8, commit: commit(), setting };
  console.log(`\n${name}: ${machine}; Node ${process.version}; commit ${head.commit}\n${setting}\n`);
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  console.log([line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n'));
  mkdirSync('build/bench', { recursive: true });
  const objects = rows.map((row) => Object.fromEntries(row.map((cell, i) => [columns[i], cell])));
  writeFileSync(`build/bench/${name}.json`, `${JSON.stringify({ name, ...head, rows: objects }, null, 2)}\n`);
}
