// Settings: how the service stops.
import { integerOr } from './readers.js';

export const LIFE_CYCLE = {
  /** How long a stop waits for answers under way. */
  graceMs: {
    variable: 'HEXCODES_GRACE_MS',
    flag: '--grace-ms',
    argument: '<milliseconds>',
    help: 'how long a stop waits for answers under way (10000)',
    read: integerOr(10_000, 0, 600_000),
  },
};
