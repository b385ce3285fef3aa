// The head of every table (machine, versions, commit) and the JSON file that a run leaves.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';

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

/** Writes a result to a new file, whose path it returns. */
export function saveResult(
  bench: string,
  result: { readonly head: Head; readonly [part: string]: unknown },
): string {
  const path = `build/bench/${bench}-${result.head.date.replaceAll(':', '')}.json`;
  mkdirSync('build/bench', { recursive: true });
  writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`);
  return path;
}

function versionOf(name: string): string {
  return (JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as { version: string })
    .version;
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
