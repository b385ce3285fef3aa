// Settings: the log.
import { oneOf } from './readers.js';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOGGING = {
  logLevel: {
    variable: 'HEXCODES_LOG_LEVEL',
    flag: '--log-level',
    argument: '<level>',
    help: `${LOG_LEVELS.join(', ')} (info); at debug every request has a line`,
    read: oneOf(LOG_LEVELS, 'info'),
  },
};
