// Settings: default limits of keys, limits of the whole process, and usage.

import {
  contentOf,
  Fault,
  integerOr,
  MAX_BYTES,
  MAX_CONNECTIONS,
  MIB,
  oneOf,
  requireDatabase,
  textOr,
} from './setting.js';

const GIB = 1024 * MIB;

export const BOUNDS = {
  /** Most bytes of an upload after its reading was stopped; beyond it the connection is closed. */
  maxPastStopBytes: {
    variable: 'HEXCODES_MAX_PAST_STOP',
    argument: '<bytes>',
    help: 'bytes an upload may bring while its reading is stopped (268435456)',
    read: integerOr(256 * MIB, MIB, 999_999_999),
  },
  /** Bytes held in memory for one connection, for one key, for all: more is refused. */
  maxConnectionBytes: {
    variable: 'HEXCODES_MAX_CONNECTION_BYTES',
    argument: '<bytes>',
    help: 'bytes held in memory for one connection (402653184)',
    read: integerOr(384 * MIB, 8 * MIB, MAX_BYTES),
  },
  maxKeyBytes: {
    variable: 'HEXCODES_MAX_KEY_BYTES',
    argument: '<bytes>',
    help: 'bytes held in memory for all connections of one key (536870912)',
    read: integerOr(512 * MIB, 8 * MIB, MAX_BYTES),
  },
  maxHeldBytes: {
    variable: 'HEXCODES_MAX_HELD_BYTES',
    argument: '<bytes>',
    help: 'bytes held in memory for all connections (1073741824)',
    read: integerOr(1024 * MIB, 8 * MIB, MAX_BYTES),
  },
  /** Bytes of answers on disk that are not yet read, of one request and of all. */
  spoolRequestBytes: {
    variable: 'HEXCODES_SPOOL_REQUEST_BYTES',
    argument: '<bytes>',
    help: 'bytes of one bulk answer that wait on disk for their reader (3221225472)',
    read: integerOr(3 * GIB, MIB, MAX_BYTES),
  },
  spoolBytes: {
    variable: 'HEXCODES_SPOOL_BYTES',
    argument: '<bytes>',
    help: 'bytes of all bulk answers that wait on disk (8589934592)',
    read: integerOr(8 * GIB, MIB, MAX_BYTES),
  },
  maxRequestsPerKey: {
    variable: 'HEXCODES_MAX_REQUESTS_PER_KEY',
    argument: '<number>',
    help: 'requests of one key that are under way at a time (1000)',
    read: integerOr(1000, 1, MAX_CONNECTIONS),
  },
  maxSocketsPerKey: {
    variable: 'HEXCODES_MAX_SOCKETS_PER_KEY',
    argument: '<number>',
    help: 'open WebSockets of one key (20000)',
    read: integerOr(20_000, 1, MAX_CONNECTIONS),
  },
  /** WebSockets included. */
  maxConnections: {
    variable: 'HEXCODES_MAX_CONNECTIONS',
    argument: '<number>',
    help: 'open connections, WebSockets included (50000)',
    read: integerOr(50_000, 1, MAX_CONNECTIONS),
  },
  /** Addresses of trusted proxies are exempt. */
  maxKeylessPerAddress: {
    variable: 'HEXCODES_MAX_KEYLESS_PER_ADDRESS',
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
  /** Default rate of keys; 0: none. */
  defaultPointsPerSecond: {
    variable: 'HEXCODES_DEFAULT_POINTS_PER_SECOND',
    argument: '<number>',
    help: 'points a second of a key without a limit of its own (0: no limit)',
    read: integerOr(0, 0, MAX_POINTS),
  },
  defaultRequestsPerSecond: {
    variable: 'HEXCODES_DEFAULT_REQUESTS_PER_SECOND',
    argument: '<number>',
    help: 'requests a second of a key without a limit of its own (0: no limit)',
    read: integerOr(0, 0, MAX_POINTS),
  },
  defaultPointsPerDay: {
    variable: 'HEXCODES_DEFAULT_POINTS_PER_DAY',
    argument: '<number>',
    help: 'points a day of a key without a quota of its own (0: no quota)',
    read: integerOr(0, 0, MAX_POINTS),
  },
  defaultPointsPerMonth: {
    variable: 'HEXCODES_DEFAULT_POINTS_PER_MONTH',
    argument: '<number>',
    help: 'points a month of a key without a quota of its own (0: no quota)',
    read: integerOr(0, 0, MAX_POINTS),
  },
  /** Rate of all keys together; 0: none. */
  maxPointsPerSecond: {
    variable: 'HEXCODES_MAX_POINTS_PER_SECOND',
    argument: '<number>',
    help: 'points a second of all keys together (0: no limit)',
    read: integerOr(0, 0, MAX_POINTS),
  },
  /** Time zone of the days and months of quotas. */
  quotaTimeZone: {
    variable: 'HEXCODES_QUOTA_TIME_ZONE',
    argument: '<zone>',
    help: 'where days and months of quotas begin (Asia/Ho_Chi_Minh)',
    read: timeZone,
  },
  usageFlushMs: {
    variable: 'HEXCODES_USAGE_FLUSH_MS',
    argument: '<milliseconds>',
    help: 'how often usage is stored (2000)',
    read: integerOr(2000, 50, 600_000),
  },
  /** Retention of hourly counts; 0: unlimited. */
  usageDays: {
    variable: 'HEXCODES_USAGE_DAYS',
    argument: '<number>',
    help: 'how many days usage by the hour is kept (400; 0: for good)',
    read: integerOr(400, 0, 100_000),
  },
  /** A lease is the part of a rate for this time, which may be used before the store of all processes knows. */
  limitsLeaseMs: {
    variable: 'HEXCODES_LIMITS_LEASE_MS',
    argument: '<milliseconds>',
    help: 'a process uses as much of a rate that several share as comes in this time, before it settles with the others (1000)',
    read: integerOr(1000, 1, 60_000),
  },
  limitsWhenAway: {
    variable: 'HEXCODES_LIMITS_WHEN_AWAY',
    argument: '<open|closed>',
    help: 'while the store of limits that several processes share is away, let each go on by itself, or refuse with 503 (open)',
    read: oneOf(['open', 'closed'], 'open'),
  },
};

// Settings: the key store and its secrets.

interface GivenKey {
  readonly name: string;
  readonly secret: string;
}

export const KEYS = {
  dataDir: {
    variable: 'HEXCODES_DATA_DIR',
    argument: '<folder>',
    help: 'folder of the key store (./var)',
    read: textOr('var'),
  },
  /** Undefined: the file in the data folder. */
  store: {
    variable: 'HEXCODES_STORE',
    isSecret: true,
    help: 'database that several nodes share, postgres://user:password@host/database (else a file of the data folder)',
    read: readStore,
  },
  keyPepper: {
    variable: 'HEXCODES_KEY_PEPPER',
    isSecret: true,
    help: 'keys are hashed under it (else a file of the data folder)',
    read: readPepper,
  },
  /** The content of the file. */
  keyPepperFile: {
    variable: 'HEXCODES_KEY_PEPPER_FILE',
    isSecret: true,
    help: 'file that holds what HEXCODES_KEY_PEPPER would',
    read: (path: string | undefined) => readPepper(readSecretFile(path)),
  },
  apiKeys: {
    variable: 'HEXCODES_API_KEYS',
    isSecret: true,
    help: 'further keys, name:secret,name:secret; kept in memory only',
    read: readApiKeys,
  },
  /** The content of the file. */
  apiKeysFile: {
    variable: 'HEXCODES_API_KEYS_FILE',
    isSecret: true,
    help: 'file that holds what HEXCODES_API_KEYS would, also one a line',
    read: (path: string | undefined) => readApiKeys(readSecretFile(path)?.replace(/[\r\n]+/g, ',')),
  },
};

/** The text of a file without the blanks at its ends; messages never repeat it. */
function readSecretFile(path: string | undefined): string | undefined {
  const text = contentOf(path)?.trim();
  if (text === '') throw new Fault(`names an empty file: ${path}`);
  return text;
}

function readStore(text: string | undefined): string | undefined {
  if (text !== undefined) requireDatabase(text);
  return text;
}

function readPepper(text: string | undefined): string | undefined {
  if (text !== undefined && text.length < 16) throw new Fault('must have at least 16 characters');
  return text;
}

/** `name:secret,…`; messages never repeat a secret. */
function readApiKeys(text: string | undefined): readonly GivenKey[] {
  if (text === undefined || text === '') return [];
  const keys = text.split(',').map((pair, index) => {
    const match = /^([^:\s]+):([A-Za-z0-9_-]{16,})$/.exec(pair.trim());
    if (match === null) {
      throw new Fault(
        `entry ${index + 1} must be name:secret, the secret at least 16 characters of A-Z a-z 0-9 _ -`,
      );
    }
    return { name: match[1] as string, secret: match[2] as string };
  });
  for (const part of ['name', 'secret'] as const) {
    if (new Set(keys.map((key) => key[part])).size < keys.length) throw new Fault(`has one ${part} twice`);
  }
  return keys;
}
