// Cores that a process may use: a bound of its control group or of one above it counts, of both versions.
import { expect, test } from 'vitest';
import { defaultThreads, usableCores } from '#dist/pool/usable-cores.js';

const V1 = '3:cpuset:/\n2:cpu,cpuacct:/docker/a\n1:memory:/docker/a\n0::/\n';

test.each<[string, Record<string, string>, number]>([
  ['no groups', {}, 128],
  ['v2, no bound', { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': 'max 100000\n' }, 128],
  ['v2, 2.5 cores', { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '250000 100000\n' }, 3],
  ['v2, half a core', { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '50000 100000\n' }, 1],
  [
    'v2, the group above has the bound',
    {
      '/proc/self/cgroup': '0::/pods/one\n',
      '/sys/fs/cgroup/pods/one/cpu.max': 'max 100000\n',
      '/sys/fs/cgroup/pods/cpu.max': '600000 100000\n',
    },
    6,
  ],
  [
    'v1',
    {
      '/proc/self/cgroup': V1,
      '/sys/fs/cgroup/cpu/docker/a/cpu.cfs_quota_us': '400000\n',
      '/sys/fs/cgroup/cpu/docker/a/cpu.cfs_period_us': '100000\n',
    },
    4,
  ],
  [
    'v1 inside a container, which sees its group as the root; no bound is -1',
    {
      '/proc/self/cgroup': V1,
      '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us': '-1\n',
      '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us': '100000\n',
    },
    128,
  ],
])('%s', (_, files, cores) => {
  const read = (path: string): string => {
    const text = files[path];
    if (text === undefined) throw new Error('ENOENT');
    return text;
  };
  expect(usableCores(128, read)).toBe(cores);
});

test('a pool has a thread for each core of its process, up to four', () => {
  expect([1, 2, 3, 4, 16, 128].map((cores) => defaultThreads(1, cores))).toEqual([1, 2, 3, 4, 4, 4]);
  expect([1, 2, 8, 64].map((cores) => defaultThreads(8, cores))).toEqual([1, 1, 1, 4]);
});
