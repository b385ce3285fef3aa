// Settings: in how many processes and threads the service runs, and how it stops.
import { integerOr, yesOrNo } from './readers.js';
import { Fault } from './setting.js';

const MOST_PROCESSES = 256;
const MOST_THREADS = 1024;

export const LIFE_CYCLE = {
  /** Processes under a supervisor; undefined: the service runs in the process of the command itself. */
  processes: {
    variable: 'HEXCODES_PROCESSES',
    flag: '--processes',
    argument: '<number>',
    help: 'processes that share the port, under a supervisor (none: the command itself serves)',
    read: readProcesses,
  },
  /** Each process listens on `port` + its number, from 1, as well. */
  ownPorts: {
    variable: 'HEXCODES_OWN_PORTS',
    flag: '--own-ports',
    help: 'each process listens on a port of its own, too: port + 1, port + 2, …',
    read: yesOrNo,
  },
  /** Threads of each process; undefined: as many as it may use cores, up to four. */
  poolThreads: {
    variable: 'HEXCODES_POOL_THREADS',
    flag: '--pool-threads',
    argument: '<number>',
    help: 'most worker threads of a process for large work, made when needed (one a core, up to 4)',
    read: integerOr(undefined, 1, MOST_THREADS),
  },
  /** How long the service goes on as ever, but for /readyz, once it is told to stop. */
  drainMs: {
    variable: 'HEXCODES_DRAIN_MS',
    flag: '--drain-ms',
    argument: '<milliseconds>',
    help: 'how long /readyz is 503 before a stop closes the port (2000)',
    read: integerOr(2000, 0, 600_000),
  },
  /** How long a stop waits for answers under way. */
  graceMs: {
    variable: 'HEXCODES_GRACE_MS',
    flag: '--grace-ms',
    argument: '<milliseconds>',
    help: 'how long a stop waits for answers under way (10000)',
    read: integerOr(10_000, 0, 600_000),
  },
};

function readProcesses(text: string | undefined): number | undefined {
  const count = integerOr(undefined, 1, MOST_PROCESSES)(text);
  if (count !== undefined && process.platform !== 'linux') {
    throw new Fault('works on Linux only, where processes can share a port');
  }
  return count;
}
