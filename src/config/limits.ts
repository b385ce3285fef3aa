// Settings: limits of keys that have none of their own, of the whole process, and usage.
import { Fault, integerOr, MAX_BYTES, MAX_CONNECTIONS, MIB, oneOf, textOr } from './setting.js';

const GIB = 1024 * MIB;

export const BOUNDS = {
  /** Bytes of an upload that may come after its reading was stopped; more, and the connection is closed. */
  maxPastStopBytes: {
    variable: 'HEXCODES_MAX_PAST_STOP',
    flag: '--max-past-stop',
    argument: '<bytes>',
    help: 'bytes an upload may bring while its reading is stopped (268435456)',
    read: integerOr(256 * MIB, MIB, 999_999_999),
  },
  /** Bytes held in memory for one connection, for one key, for all: more is refused. */
  maxConnectionBytes: {
    variable: 'HEXCODES_MAX_CONNECTION_BYTES',
    flag: '--max-connection-bytes',
    argument: '<bytes>',
    help: 'bytes held in memory for one connection (402653184)',
    read: integerOr(384 * MIB, 8 * MIB, MAX_BYTES),
  },
  maxKeyBytes: {
    variable: 'HEXCODES_MAX_KEY_BYTES',
    flag: '--max-key-bytes',
    argument: '<bytes>',
    help: 'bytes held in memory for all connections of one key (536870912)',
    read: integerOr(512 * MIB, 8 * MIB, MAX_BYTES),
  },
  maxHeldBytes: {
    variable: 'HEXCODES_MAX_HELD_BYTES',
    flag: '--max-held-bytes',
    argument: '<bytes>',
    help: 'bytes held in memory for all connections (1073741824)',
    read: integerOr(1024 * MIB, 8 * MIB, MAX_BYTES),
  },
  /** Bytes of answers on disk that their readers have not taken yet, of one request and of all. */
  spoolRequestBytes: {
    variable: 'HEXCODES_SPOOL_REQUEST_BYTES',
    flag: '--spool-request-bytes',
    argument: '<bytes>',
    help: 'bytes of one bulk answer that wait on disk for their reader (3221225472)',
    read: integerOr(3 * GIB, MIB, MAX_BYTES),
  },
  spoolBytes: {
    variable: 'HEXCODES_SPOOL_BYTES',
    flag: '--spool-bytes',
    argument: '<bytes>',
    help: 'bytes of all bulk answers that wait on disk (8589934592)',
    read: integerOr(8 * GIB, MIB, MAX_BYTES),
  },
  maxRequestsPerKey: {
    variable: 'HEXCODES_MAX_REQUESTS_PER_KEY',
    flag: '--max-requests-per-key',
    argument: '<number>',
    help: 'requests of one key that are under way at a time (1000)',
    read: integerOr(1000, 1, MAX_CONNECTIONS),
  },
  maxSocketsPerKey: {
    variable: 'HEXCODES_MAX_SOCKETS_PER_KEY',
    flag: '--max-sockets-per-key',
    argument: '<number>',
    help: 'open WebSockets of one key (20000)',
    read: integerOr(20_000, 1, MAX_CONNECTIONS),
  },
  /** WebSockets included. */
  maxConnections: {
    variable: 'HEXCODES_MAX_CONNECTIONS',
    flag: '--max-connections',
    argument: '<number>',
    help: 'open connections, WebSockets included (50000)',
    read: integerOr(50_000, 1, MAX_CONNECTIONS),
  },
  /** Addresses of trusted proxies have no such bound. */
  maxKeylessPerAddress: {
    variable: 'HEXCODES_MAX_KEYLESS_PER_ADDRESS',
    flag: '--max-keyless-per-address',
    argument: '<number>',
    help: 'connections that one address, or one /64 of IPv6, opens at once while half of all are open (5000)',
    read: integerOr(5000, 1, MAX_CONNECTIONS),
  },
};

const MAX_POINTS = 999_999_999_999;

function timeZone(text: string | undefined): string {
  const zone = textOr('Asia/Ho_Chi_Minh')(text);
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
  } catch {
    throw new Fault(`is not a time zone: ${zone}`);
  }
  return zone;
}

export const LIMITS = {
  /** Rate of keys that have none of their own; 0: none. */
  defaultPointsPerSecond: {
    variable: 'HEXCODES_DEFAULT_POINTS_PER_SECOND',
    flag: '--default-points-per-second',
    argument: '<number>',
    help: 'points a second of a key without a limit of its own (0: no limit)',
    read: integerOr(0, 0, MAX_POINTS),
  },
  defaultRequestsPerSecond: {
    variable: 'HEXCODES_DEFAULT_REQUESTS_PER_SECOND',
    flag: '--default-requests-per-second',
    argument: '<number>',
    help: 'requests a second of a key without a limit of its own (0: no limit)',
    read: integerOr(0, 0, MAX_POINTS),
  },
  defaultPointsPerDay: {
    variable: 'HEXCODES_DEFAULT_POINTS_PER_DAY',
    flag: '--default-points-per-day',
    argument: '<number>',
    help: 'points a day of a key without a quota of its own (0: no quota)',
    read: integerOr(0, 0, MAX_POINTS),
  },
  defaultPointsPerMonth: {
    variable: 'HEXCODES_DEFAULT_POINTS_PER_MONTH',
    flag: '--default-points-per-month',
    argument: '<number>',
    help: 'points a month of a key without a quota of its own (0: no quota)',
    read: integerOr(0, 0, MAX_POINTS),
  },
  /** Rate of all keys together; 0: none. */
  maxPointsPerSecond: {
    variable: 'HEXCODES_MAX_POINTS_PER_SECOND',
    flag: '--max-points-per-second',
    argument: '<number>',
    help: 'points a second of all keys together (0: no limit)',
    read: integerOr(0, 0, MAX_POINTS),
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
