// The cores that this process may use: its CPU affinity, or fewer where a control group limits its time, like the CPU
// limit of a container. Node ignores control groups.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const GROUPS = '/proc/self/cgroup';
const ROOT = '/sys/fs/cgroup';

type Read = (path: string) => string;
const readText: Read = (path) => readFileSync(path, 'latin1');

/** Most threads: more convert no faster than one event loop can distribute and send. */
const MAX_THREADS = 4;

/** Default number of worker threads of a pool, for each of the processes that share the machine. */
export function defaultThreads(processes = 1, cores = usableCores()): number {
  return Math.max(1, Math.min(MAX_THREADS, Math.floor(cores / processes)));
}

/**
 * @param cores on which the process may run
 * @param read gives the text of a file, or throws
 * @returns at least 1; a part of a core counts as one
 */
export function usableCores(cores = availableParallelism(), read = readText): number {
  const quotas = groupFolders(read).flatMap((folder) => quotaOf(folder, read));
  return Math.max(1, Math.min(cores, ...quotas.map(Math.ceil)));
}

/** The folders of the process's groups and of all above them: any of them may have a bound. */
function groupFolders(read: Read): string[] {
  const folders = new Set<string>();
  for (const line of textOf(GROUPS, read).split('\n')) {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    const isUnified = controllers === '';
    if (path === '' || !(isUnified || controllers.split(',').includes('cpu'))) continue;
    const roots = isUnified ? [ROOT] : [`${ROOT}/cpu`, `${ROOT}/${controllers}`];
    const names = path.split('/').filter((name) => name !== '');
    for (const root of roots)
      for (let depth = names.length; depth >= 0; depth--)
        folders.add([root, ...names.slice(0, depth)].join('/'));
  }
  return [...folders];
}

/** The bound of a group, in cores; none if it has none. */
function quotaOf(folder: string, read: Read): number[] {
  const [most, period] = textOf(`${folder}/cpu.max`, read).trim().split(' ');
  const given = [
    [Number(most), Number(period)],
    [Number(textOf(`${folder}/cpu.cfs_quota_us`, read)), Number(textOf(`${folder}/cpu.cfs_period_us`, read))],
  ] as const;
  return given.flatMap(([quota, each]) => (quota > 0 && each > 0 ? [quota / each] : []));
}

function textOf(path: string, read: Read): string {
  try {
    return read(path);
  } catch {
    return '';
  }
}
