// Configuration of `serve` from flags and environment: one table, every fault named at once. A flag wins over its
// variable. Secrets have no flag: arguments can be read by every user of the machine.
import { accessSync, constants } from 'node:fs';

export interface GivenKey {
  readonly name: string;
  readonly secret: string;
}

export interface ServeConfig {
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  readonly dataDir: string;
  /** Path of a boundary index of the user's own; undefined: the shipped one. */
  readonly index: string | undefined;
  readonly keyPepper: string | undefined;
  readonly apiKeys: readonly GivenKey[];
  readonly logLevel: LogLevel;
  /** How long a stop waits for answers under way. */
  readonly graceMs: number;
  /** Bytes of an upload that may come after its reading was stopped; more, and the connection is closed. */
  readonly maxPastStopBytes: number;
  /** Bytes held in memory for one connection, for one key, for all: what would pass them is refused. */
  readonly maxConnectionBytes: number;
  readonly maxKeyBytes: number;
  readonly maxHeldBytes: number;
  readonly maxRequestsPerKey: number;
  readonly maxSocketsPerKey: number;
  /** WebSockets included. */
  readonly maxConnections: number;
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

interface Setting<T> {
  readonly variable: string;
  /** Absent for secrets. */
  readonly flag?: string;
  readonly argument?: string;
  readonly help: string;
  /** The value of a text, undefined if none is given. Throws a Fault, whose message follows the name of the setting. */
  readonly read: (text: string | undefined) => T;
}

class Fault extends Error {}

const MIB = 1024 * 1024;
const MOST_BYTES = 1_000_000 * MIB;
const MOST_CONNECTIONS = 10_000_000;

const textOr =
  <D extends string | undefined>(fallback: D) =>
  (text: string | undefined): string | D => {
    if (text === '') throw new Fault('is empty');
    return text ?? fallback;
  };

const integerOr = (fallback: number, least: number, most: number) => (text: string | undefined) => {
  if (text === undefined) return fallback;
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) throw new Fault(`must be an integer from ${least} to ${most}`);
  return value;
};

function readIndexPath(text: string | undefined): string | undefined {
  const path = textOr(undefined)(text);
  if (path === undefined) return undefined;
  try {
    accessSync(path, constants.R_OK);
  } catch {
    throw new Fault(`names a file that cannot be read: ${path}`);
  }
  return path;
}

function readPepper(text: string | undefined): string | undefined {
  if (text !== undefined && text.length < 16) throw new Fault('must have at least 16 characters');
  return text;
}

/** `name:secret,…`; messages never repeat a secret. */
function readApiKeys(text: string | undefined): GivenKey[] {
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

function readLogLevel(text: string | undefined): LogLevel {
  const level = LOG_LEVELS.find((l) => l === (text ?? 'info'));
  if (level === undefined) throw new Fault(`must be one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

const SETTINGS: { readonly [K in keyof ServeConfig]: Setting<ServeConfig[K]> } = {
  host: {
    variable: 'HEXCODES_HOST',
    flag: '--host',
    argument: '<address>',
    help: 'address to listen on (127.0.0.1)',
    read: textOr('127.0.0.1'),
  },
  port: {
    variable: 'HEXCODES_PORT',
    flag: '--port',
    argument: '<number>',
    help: 'port to listen on (8080; 0: any free one)',
    read: integerOr(8080, 0, 65_535),
  },
  adminHost: {
    variable: 'HEXCODES_ADMIN_HOST',
    flag: '--admin-host',
    argument: '<address>',
    help: 'address of /livez and /readyz (127.0.0.1)',
    read: textOr('127.0.0.1'),
  },
  adminPort: {
    variable: 'HEXCODES_ADMIN_PORT',
    flag: '--admin-port',
    argument: '<number>',
    help: 'port of /livez and /readyz (9090; 0: any free one)',
    read: integerOr(9090, 0, 65_535),
  },
  dataDir: {
    variable: 'HEXCODES_DATA_DIR',
    flag: '--data-dir',
    argument: '<folder>',
    help: 'folder of the key store (./var)',
    read: textOr('var'),
  },
  index: {
    variable: 'HEXCODES_INDEX',
    flag: '--index',
    argument: '<file>',
    help: 'boundary index to use instead of the shipped one',
    read: readIndexPath,
  },
  maxPastStopBytes: {
    variable: 'HEXCODES_MAX_PAST_STOP',
    flag: '--max-past-stop',
    argument: '<bytes>',
    help: 'bytes an upload may bring while its reading is stopped (268435456)',
    read: integerOr(256 * MIB, MIB, 999_999_999),
  },
  maxConnectionBytes: {
    variable: 'HEXCODES_MAX_CONNECTION_BYTES',
    flag: '--max-connection-bytes',
    argument: '<bytes>',
    help: 'bytes held in memory for one connection (402653184)',
    read: integerOr(384 * MIB, 8 * MIB, MOST_BYTES),
  },
  maxKeyBytes: {
    variable: 'HEXCODES_MAX_KEY_BYTES',
    flag: '--max-key-bytes',
    argument: '<bytes>',
    help: 'bytes held in memory for all connections of one key (536870912)',
    read: integerOr(512 * MIB, 8 * MIB, MOST_BYTES),
  },
  maxHeldBytes: {
    variable: 'HEXCODES_MAX_HELD_BYTES',
    flag: '--max-held-bytes',
    argument: '<bytes>',
    help: 'bytes held in memory for all connections (1073741824)',
    read: integerOr(1024 * MIB, 8 * MIB, MOST_BYTES),
  },
  maxRequestsPerKey: {
    variable: 'HEXCODES_MAX_REQUESTS_PER_KEY',
    flag: '--max-requests-per-key',
    argument: '<number>',
    help: 'requests of one key that are under way at a time (1000)',
    read: integerOr(1000, 1, MOST_CONNECTIONS),
  },
  maxSocketsPerKey: {
    variable: 'HEXCODES_MAX_SOCKETS_PER_KEY',
    flag: '--max-sockets-per-key',
    argument: '<number>',
    help: 'open WebSockets of one key (20000)',
    read: integerOr(20_000, 1, MOST_CONNECTIONS),
  },
  maxConnections: {
    variable: 'HEXCODES_MAX_CONNECTIONS',
    flag: '--max-connections',
    argument: '<number>',
    help: 'open connections, WebSockets included (50000)',
    read: integerOr(50_000, 1, MOST_CONNECTIONS),
  },
  keyPepper: {
    variable: 'HEXCODES_KEY_PEPPER',
    help: 'keys are hashed under it (else a file of the data folder)',
    read: readPepper,
  },
  apiKeys: {
    variable: 'HEXCODES_API_KEYS',
    help: 'further keys, name:secret,name:secret; kept in memory only',
    read: readApiKeys,
  },
  logLevel: {
    variable: 'HEXCODES_LOG_LEVEL',
    flag: '--log-level',
    argument: '<level>',
    help: `${LOG_LEVELS.join(', ')} (info); debug has a line for every request`,
    read: readLogLevel,
  },
  graceMs: {
    variable: 'HEXCODES_GRACE_MS',
    flag: '--grace-ms',
    argument: '<milliseconds>',
    help: 'how long a stop waits for answers under way (10000)',
    read: integerOr(10_000, 0, 600_000),
  },
};

/** Every fault of a configuration, one line each. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

/** The flags of some settings, in commander's notation. */
export function flagsOf(names: readonly (keyof ServeConfig)[]): { flags: string; help: string }[] {
  return names.flatMap((name) => {
    const { flag, argument, variable, help } = SETTINGS[name];
    return flag === undefined ? [] : [{ flags: `${flag} ${argument}`, help: `${help} [${variable}]` }];
  });
}

/** The settings among them that come from the environment only. */
export function secretsOf(names: readonly (keyof ServeConfig)[]): { variable: string; help: string }[] {
  return names.flatMap((name) => {
    const { flag, variable, help } = SETTINGS[name];
    return flag === undefined ? [{ variable, help }] : [];
  });
}

export const SETTING_NAMES = Object.keys(SETTINGS) as (keyof ServeConfig)[];

/** Reads some settings; throws a ConfigError that names every fault. */
export function readConfig<K extends keyof ServeConfig>(
  names: readonly K[],
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): Pick<ServeConfig, K> {
  const faults: string[] = [];
  const config: Partial<Record<K, unknown>> = {};
  for (const name of names) {
    const setting: Setting<unknown> = SETTINGS[name];
    const byFlag = setting.flag === undefined ? undefined : (flags[name] as string | undefined);
    try {
      config[name] = setting.read(byFlag ?? env[setting.variable]);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      faults.push(`${byFlag === undefined ? setting.variable : setting.flag} ${error.message}`);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return config as Pick<ServeConfig, K>;
}
