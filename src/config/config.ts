// Configuration of the commands from flags, environment and one file, in this order: the first that gives a setting
// wins. All faults are named at once. The settings are in config/, a file for each topic; a new one is an entry
// there, from which its type, its flag and its line of help follow.

import { readFileSync } from 'node:fs';
import { BUS, KAFKA } from './bus.js';
import { BOUNDS, KEYS, LIMITS } from './limits.js';
import { CONSOLE, LIFE_CYCLE, LISTENING, sharedPort } from './listening.js';
import { isNetwork } from './networks.js';
import {
  type ConfigOf,
  Fault,
  flagOf,
  integerOr,
  oneOf,
  type Setting,
  unknownVariable,
  unknownVariables,
  yesOrNo,
} from './setting.js';
import { TRACCAR } from './sink.js';

// Settings: what the service logs and traces of its requests, and which proxies it trusts about clients.

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const LOGGING = {
  logLevel: {
    variable: 'HEXCODES_LOG_LEVEL',
    argument: '<level>',
    help: `${LOG_LEVELS.join(', ')} (info); at debug every request has a line`,
    read: oneOf(LOG_LEVELS, 'info'),
  },
};

const MAX_LINES = 1_000_000;

const OBSERVATION = {
  /** Addresses of trusted proxies, and networks of them. */
  trustedProxies: {
    variable: 'HEXCODES_TRUSTED_PROXIES',
    argument: '<networks>',
    help: 'proxies whose X-Forwarded-For is believed, as 10.0.0.0/8,192.0.2.7 (none)',
    read: readNetworks,
  },
  logRequestsPerSecond: {
    variable: 'HEXCODES_LOG_REQUESTS_PER_SECOND',
    argument: '<number>',
    help: 'requests that have a log line of their own in a second, below debug level (100)',
    read: integerOr(100, 0, MAX_LINES),
  },
  /** Whether log lines of single calls have their position or code. */
  logPositions: {
    variable: 'HEXCODES_LOG_POSITIONS',
    flag: '--log-positions',
    help: 'log the position or code of single calls (false)',
    read: yesOrNo,
  },
  /** Base address of a collector of OpenTelemetry traces; undefined: none are made. */
  otlpEndpoint: {
    variable: 'HEXCODES_OTLP_ENDPOINT',
    standardVariable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    argument: '<url>',
    help: 'collector of OpenTelemetry traces, as http://127.0.0.1:4318 (none)',
    read: readEndpoint,
  },
  /** Share of requests that are traced where the caller does not say whether it records a trace. */
  traceRatio: {
    variable: 'HEXCODES_TRACE_RATIO',
    argument: '<0..1>',
    help: 'share of requests with a trace of their own (0.01)',
    read: readRatio,
  },
};

function readNetworks(text: string | undefined): string[] {
  if (text === undefined || text.trim() === '') return [];
  const networks = text.split(',').map((network) => network.trim());
  const wrong = networks.find((network) => !isNetwork(network));
  if (wrong !== undefined)
    throw new Fault(`names ${JSON.stringify(wrong)}, which is not an address or network`);
  return networks;
}

function readEndpoint(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable =
    url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!isUsable || url.username !== '' || url.password !== '') {
    throw new Fault('must be an address of http or https without user, query and fragment');
  }
  return text.replace(/\/+$/, '');
}

function readRatio(text: string | undefined): number {
  if (text === undefined) return 0.01;
  const ratio = /^(?:[01]|0?\.\d+|[01]\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (!(ratio >= 0 && ratio <= 1)) throw new Fault('must be a number from 0 to 1');
  return ratio;
}

// The configuration file: lines `HEXCODES_NAME=value`, in the format of systemd (EnvironmentFile=) and `docker
// --env-file`. Blank lines and lines that begin with # are skipped; quotes around a whole value are removed; there
// are no escapes.

/** A value with the line that gave it. */
interface FileLine {
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

interface ConfigFile {
  readonly path: string;
  /** Lines by variable. */
  readonly lines: ReadonlyMap<string, FileLine>;
  /** A sentence for each invalid line; values are never repeated. */
  readonly faults: readonly string[];
}

const ASSIGNMENT = /^([A-Z][A-Z0-9_]*)\s*=\s*(.*)$/;

/** An unreadable file has a fault, and no lines. */
function readConfigFile(path: string): ConfigFile {
  try {
    return { path, ...parseConfig(path, readFileSync(path, 'utf8')) };
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const why =
      code === 'ENOENT' ? 'is not there' : code === 'EISDIR' ? 'is a folder' : `cannot be read: ${code}`;
    return { path, lines: new Map(), faults: [`the configuration file ${path} ${why}`] };
  }
}

function parseConfig(path: string, text: string): Omit<ConfigFile, 'path'> {
  const lines = new Map<string, FileLine>();
  const faults: string[] = [];
  for (const [at, row] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = at + 1;
    const content = row.trim();
    if (content === '' || content.startsWith('#')) continue;
    const match = ASSIGNMENT.exec(content);
    const variable = match?.[1] ?? '';
    const earlier = lines.get(variable);
    if (match === null) faults.push(`${path}:${line} is neither HEXCODES_NAME=value nor a comment`);
    else if (earlier !== undefined)
      faults.push(`${path}:${line} ${variable} is in line ${earlier.line} already`);
    else lines.set(variable, { text: unquoted(match[2] as string), line });
  }
  return { lines, faults };
}

function unquoted(text: string): string {
  return /^(["'])(.*)\1$/.exec(text)?.[2] ?? text;
}

const SERVICE = {
  ...LISTENING,
  ...KEYS,
  ...BOUNDS,
  ...LIMITS,
  ...LOGGING,
  ...OBSERVATION,
  ...LIFE_CYCLE,
  ...CONSOLE,
  ...TRACCAR,
};
const SETTINGS = { ...SERVICE, ...BUS, ...KAFKA };

export type Config = ConfigOf<typeof SETTINGS>;
export type SettingName = keyof Config;
export type ServeConfig = ConfigOf<typeof SERVICE>;
export type BusConfig = ConfigOf<typeof BUS & typeof KAFKA>;

/** Names of the service's settings. */
export const SETTING_NAMES = Object.keys(SERVICE) as (keyof ServeConfig)[];
/** Names of the settings of commands that work on a message bus. */
export const BUS_NAMES = Object.keys({ ...BUS, ...KAFKA }) as (keyof BusConfig)[];
/** Names of the settings of commands that work on NATS alone. */
export const NATS_NAMES = Object.keys(BUS) as (keyof ConfigOf<typeof BUS>)[];

/** Names the file; the only setting that cannot be in the file. */
const FILE_SETTING: Setting<unknown> = {
  variable: 'HEXCODES_CONFIG',
  argument: '<file>',
  help: 'file of lines HEXCODES_NAME=value; flags and environment go before it',
  read: (text) => text,
};

const VARIABLES = Object.values(SETTINGS).map(({ variable }) => variable);

/** Every fault of a configuration, one line each. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

/** The source of a setting's value. */
interface Origin {
  readonly text: string;
  /** Names the setting in a fault: `--port`, `HEXCODES_PORT`, `FILE:3 HEXCODES_PORT`. */
  readonly name: string;
  /** `--port`, `environment`, `FILE:3`. */
  readonly source: string;
}

export interface ReadSettings<K extends SettingName> {
  readonly config: Pick<Config, K>;
  /** One line for each setting: variable, value and source, aligned; a secret is `***`. */
  readonly shown: readonly string[];
}

/** The flags of some settings, in commander's notation, after that of the file. */
export function flagsOf(names: readonly SettingName[]): { flags: string; help: string }[] {
  return [FILE_SETTING, ...names.map((name): Setting<unknown> => SETTINGS[name])].flatMap((setting) => {
    const { argument, variable, help } = setting;
    const flag = flagOf(setting);
    if (flag === undefined) return [];
    const flags = argument === undefined ? flag : `${flag} ${argument}`;
    return [{ flags, help: `${help} [${variable}]` }];
  });
}

/** The settings among them that have no flag. */
export function flaglessOf(
  names: readonly SettingName[],
): { variable: string; help: string; isSecret: boolean }[] {
  return names.flatMap((name) => {
    const setting: Setting<unknown> = SETTINGS[name];
    const { variable, help, isSecret = false } = setting;
    return flagOf(setting) === undefined ? [{ variable, help, isSecret }] : [];
  });
}

/** Reads some settings; throws a ConfigError that names every fault. */
export function readConfig<K extends SettingName>(
  names: readonly K[],
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): Pick<Config, K> {
  return readSettings(names, flags, env).config;
}

/**
 * Reads all settings, with the source of each value. `flags` are by commander's names: `maxPastStop` for
 * `--max-past-stop`. Unknown variables are always faults; an invalid value is one only if its setting is among
 * `names`.
 */
export function readSettings<K extends SettingName>(
  names: readonly K[],
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): ReadSettings<K> {
  const path = originOf(FILE_SETTING, flags, env);
  const file = path === undefined ? undefined : readConfigFile(path.text);
  const faults = [...(file?.faults ?? [])];
  const config: Partial<Record<K, unknown>> = {};
  const shown: string[] = [];
  for (const name of names) {
    const setting: Setting<unknown> = SETTINGS[name];
    const origin = originOf(setting, flags, env, file);
    try {
      config[name] = setting.read(origin?.text);
      shown.push(shownAs(setting, origin, config[name]));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      faults.push(`${origin?.name ?? setting.variable} ${error.message}`);
    }
  }
  faults.push(...sharedPort(config as Parameters<typeof sharedPort>[0]));
  faults.push(...unknownVariables([...VARIABLES, FILE_SETTING.variable], env));
  for (const [variable, { line }] of file?.lines ?? []) {
    if (!VARIABLES.includes(variable))
      faults.push(unknownVariable(VARIABLES, variable, `${file?.path}:${line} `));
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return { config: config as Pick<Config, K>, shown };
}

function originOf(
  setting: Setting<unknown>,
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
  file?: ConfigFile,
): Origin | undefined {
  const { variable, standardVariable } = setting;
  const flag = flagOf(setting);
  const byFlag = flag === undefined ? undefined : flags[attributeOf(flag)];
  if (flag !== undefined && byFlag !== undefined) return { text: String(byFlag), name: flag, source: flag };
  const text = env[variable];
  if (text !== undefined) return { text, name: variable, source: 'environment' };
  const row = file?.lines.get(variable);
  if (file !== undefined && row !== undefined) {
    const source = `${file.path}:${row.line}`;
    return { text: row.text, name: `${source} ${variable}`, source };
  }
  const standard = standardVariable === undefined ? undefined : env[standardVariable];
  if (standardVariable === undefined || standard === undefined) return undefined;
  return { text: standard, name: standardVariable, source: standardVariable };
}

/** The name under which commander keeps the value of a flag. */
function attributeOf(flag: string): string {
  return flag.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const SHOWN_WIDTH = 48;

function shownAs(
  { variable, isSecret, shown = (text) => text }: Setting<unknown>,
  origin: Origin | undefined,
  value: unknown,
): string {
  const standard = typeof value === 'object' || value === undefined ? '' : String(value);
  const text = origin === undefined ? standard : isSecret ? '***' : shown(origin.text);
  return `${`${variable}=${text}`.padEnd(SHOWN_WIDTH)}  # ${origin?.source ?? 'default'}`;
}
