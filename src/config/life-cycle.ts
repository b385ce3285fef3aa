// Settings: in how many processes the service runs, and how it stops.
import { integerOr, yesOrNo } from './readers.js';
import { Fault } from './setting.js';

const MOST_PROCESSES = 256;

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
  /** How long the service goes on as ever, but for /readyz, once it is told to stop. */
  drainMs: {
    variable: 'HEXCODES_DRAIN_MS',
    flag: '--drain-ms',
    argument: '<milliseconds>',
    help: 'how long /readyz is 503 before a stop closes the port (0)',
    read: integerOr(0, 0, 600_000),
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
