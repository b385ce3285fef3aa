// Settings: limits of keys that have none of their own, of the whole process, and usage.
import { integerOr, oneOf, textOr } from './readers.js';
import { Fault } from './setting.js';

const MOST_POINTS = 999_999_999_999;

function timeZone(text: string | undefined): string {
  const zone = textOr('Asia/Ho_Chi_Minh')(text);
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
  } catch {
    throw new Fault(`is no time zone: ${zone}`);
  }
  return zone;
}

export const LIMITS = {
  /** Rate of keys that have none of their own; 0: none. */
  defaultPointsPerSecond: {
    variable: 'HEXCODES_DEFAULT_POINTS_PER_SECOND',
    flag: '--default-points-per-second',
    argument: '<number>',
    help: 'points a second of a key that has no such limit of its own (0: no limit)',
    read: integerOr(0, 0, MOST_POINTS),
  },
  defaultRequestsPerSecond: {
    variable: 'HEXCODES_DEFAULT_REQUESTS_PER_SECOND',
    flag: '--default-requests-per-second',
    argument: '<number>',
    help: 'the same of requests (0: no limit)',
    read: integerOr(0, 0, MOST_POINTS),
  },
  defaultPointsPerDay: {
    variable: 'HEXCODES_DEFAULT_POINTS_PER_DAY',
    flag: '--default-points-per-day',
    argument: '<number>',
    help: 'points a day of a key that has no such quota of its own (0: no quota)',
    read: integerOr(0, 0, MOST_POINTS),
  },
  defaultPointsPerMonth: {
    variable: 'HEXCODES_DEFAULT_POINTS_PER_MONTH',
    flag: '--default-points-per-month',
    argument: '<number>',
    help: 'the same of a month (0: no quota)',
    read: integerOr(0, 0, MOST_POINTS),
  },
  /** Rate of all keys together; 0: none. */
  maxPointsPerSecond: {
    variable: 'HEXCODES_MAX_POINTS_PER_SECOND',
    flag: '--max-points-per-second',
    argument: '<number>',
    help: 'points a second of all keys together (0: no limit)',
    read: integerOr(0, 0, MOST_POINTS),
  },
  /** Days and months of quotas begin in it. */
  quotaTimeZone: {
    variable: 'HEXCODES_QUOTA_TIME_ZONE',
    flag: '--quota-time-zone',
    argument: '<zone>',
    help: 'where days and months of quotas begin (Asia/Ho_Chi_Minh)',
    read: timeZone,
  },
  usageFlushMs: {
    variable: 'HEXCODES_USAGE_FLUSH_MS',
    flag: '--usage-flush-ms',
    argument: '<milliseconds>',
    help: 'how often usage is stored (2000)',
    read: integerOr(2000, 50, 600_000),
  },
  /** Counts of hours; 0: for good. */
  usageDays: {
    variable: 'HEXCODES_USAGE_DAYS',
    flag: '--usage-days',
    argument: '<number>',
    help: 'how many days usage by the hour is kept (400; 0: for good)',
    read: integerOr(400, 0, 100_000),
  },
  /** Time whose share of a rate may be used before the store of all processes knows. */
  limitsLeaseMs: {
    variable: 'HEXCODES_LIMITS_LEASE_MS',
    flag: '--limits-lease-ms',
    argument: '<milliseconds>',
    help: 'a process uses as much of a rate that several share as comes in this time, before it settles with the others (1000)',
    read: integerOr(1000, 1, 60_000),
  },
  limitsWhenAway: {
    variable: 'HEXCODES_LIMITS_WHEN_AWAY',
    flag: '--limits-when-away',
    argument: '<open|closed>',
    help: 'while the store of limits that several processes share is away, let each go on by itself, or refuse with 503 (open)',
    read: oneOf(['open', 'closed'], 'open'),
  },
};
