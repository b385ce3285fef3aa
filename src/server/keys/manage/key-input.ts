// Reads settings of keys from outside: JSON of the admin port and of exported files, and flags of the command, which
// makes the same JSON. Names every fault at once.

import { isNetwork } from '../../../config/networks.js';
import { repeatedMember } from '../../../hexcodes/wire/params/json-grammar.js';
import { DIFFERS } from '../../../hexcodes/wire/params/query.js';
import {
  isOrigin,
  type KeyLimits,
  type KeySettings,
  type KeyState,
  NEW_KEY,
  SCOPES,
  type Scope,
  type StoredKey,
} from '../key-record.js';
import { pepperCheckOf } from '../secret.js';

/** Limits, as members and in JSON. */
export const LIMIT_NAMES: readonly (readonly [keyof KeyLimits, string])[] = [
  ['pointsPerSecond', 'points_per_second'],
  ['pointsBurst', 'points_burst'],
  ['requestsPerSecond', 'requests_per_second'],
  ['requestsBurst', 'requests_burst'],
  ['pointsPerDay', 'points_per_day'],
  ['pointsPerMonth', 'points_per_month'],
];

/** Times are ISO 8601 in UTC, null where there is none. Has neither secret nor digest. */
export interface KeyJson {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly scopes: readonly string[];
  readonly created: string;
  readonly expires: string | null;
  readonly last_used: string | null;
  readonly origins: readonly string[];
  readonly cidrs: readonly string[];
  /** Limits that are set; 0: none, whatever the service's default is. */
  readonly limits: Readonly<Record<string, number>>;
  readonly generation: number;
  /** Until when the secret before the last rotation is accepted. */
  readonly overlap_until: string | null;
}

const isoOf = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(ms).toISOString();

export function keyJson(key: StoredKey): KeyJson {
  return {
    id: key.id,
    name: key.name,
    state: key.state,
    scopes: key.scopes,
    created: isoOf(key.createdMs) as string,
    expires: isoOf(key.expiresMs),
    last_used: isoOf(key.lastUsedMs),
    origins: key.origins,
    cidrs: key.cidrs,
    limits: limitsJson(key.limits),
    generation: key.generation,
    overlap_until: isoOf(key.formerUntilMs),
  };
}

function limitsJson(limits: KeyLimits): Record<string, number> {
  return Object.fromEntries(
    LIMIT_NAMES.flatMap(([member, inJson]) => {
      const limit = limits[member];
      return limit === undefined ? [] : [[inJson, limit]];
    }),
  );
}

export interface SettingFault {
  /** As JSON names it: `expires`, `limits.points_per_second`. */
  readonly setting: string;
  /** The end of a sentence: `must be …`. */
  readonly message: string;
}

/** The message is a sentence for people. */
export class KeyFault extends Error {
  constructor(
    /** 'conflict': the request contradicts the store. */
    readonly kind: 'unknown' | 'revoked' | 'conflict' | 'invalid',
    message: string,
    /** All faults of an 'invalid' request. */
    readonly faults: readonly SettingFault[] = [],
  ) {
    super(message);
  }
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Later years have a sign in ISO 8601, and are not read again. */
const YEAR_10000_MS = Date.UTC(10_000, 0);

/** In milliseconds; undefined for an invalid text, or an end after the year 9999. */
export function parseDuration(text: string, nowMs = Date.now()): number | undefined {
  if (text === '0') return 0;
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const durationMs = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  return nowMs + durationMs < YEAR_10000_MS ? durationMs : undefined;
}

const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * In milliseconds since 1970; a date alone is its midnight in UTC, a duration counts from now. Undefined if it is not
 * one.
 */
function parseTime(text: string, nowMs = Date.now()): number | undefined {
  const durationMs = parseDuration(text, nowMs);
  if (durationMs !== undefined) return nowMs + durationMs;
  const timeMs = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (!(timeMs < YEAR_10000_MS)) return undefined;
  // Date.parse reads 31 February as a day in March.
  return new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(text.slice(0, 10))
    ? timeMs
    : undefined;
}

const MAX_NAME_LENGTH = 200;
const MAX_ENTRIES = 100;
const MAX_LIMIT = 1e15;

/** Reads the value of a present member, or throws a Fault. */
type Reader<T> = (value: unknown) => T;

class Fault extends Error {}

const READERS: { readonly [K in keyof KeySettings as JsonName<K>]: Reader<KeySettings[K]> } = {
  name: (value) => {
    if (typeof value !== 'string' || value.trim() === '') throw new Fault('must be a text that is not empty');
    if (value.length > MAX_NAME_LENGTH) throw new Fault(`must have at most ${MAX_NAME_LENGTH} characters`);
    // A NUL ends a text in a database, an escape changes a terminal, half of a pair is not UTF-8.
    if (/[\p{Cc}\p{Cs}]/u.test(value)) throw new Fault('must have no control characters');
    return value;
  },
  scopes: (value) => {
    const isScope = (text: string): boolean => (SCOPES as readonly string[]).includes(text);
    const scopes = texts(value, isScope, `one or more of ${SCOPES.join(', ')}`) as Scope[];
    if (scopes.length === 0) throw new Fault(`must be one or more of ${SCOPES.join(', ')}`);
    return SCOPES.filter((scope) => scopes.includes(scope));
  },
  expires: (value) => {
    if (value === null || value === 'never') return undefined;
    const timeMs = typeof value === 'string' ? parseTime(value) : undefined;
    if (timeMs === undefined)
      throw new Fault(
        'must be a time before the year 10000 as 2027-01-31 or 2027-01-31T17:00:00Z, a duration as 90d, or never',
      );
    return timeMs;
  },
  origins: (value) => texts(value, isOrigin, 'web origins as https://a.vn or https://*.a.vn'),
  cidrs: (value) => texts(value, isNetwork, 'networks as 192.0.2.0/24 or 2001:db8::/32'),
  limits: (value) => readLimits(value),
};

/** Names of the settings' members in JSON. */
type JsonName<K> = K extends 'expiresMs' ? 'expires' : K;

/**
 * @param given an object; absent members are taken from `base`
 * @param nowMs earliest end of a key; undefined: any end is allowed
 * @param others members that are read elsewhere
 * @throws KeyFault 'invalid'
 */
export function readKeySettings(
  given: unknown,
  base: KeySettings,
  nowMs: number | undefined,
  others: readonly string[] = [],
): KeySettings {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new KeyFault('invalid', 'the settings of a key must be an object');
  const faults: SettingFault[] = [];
  const settings: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(given)) {
    if (others.includes(name)) continue;
    try {
      if (!Object.hasOwn(READERS, name)) throw new Fault('is not a setting of a key');
      const member = name === 'expires' ? 'expiresMs' : name;
      settings[member] = READERS[name as keyof typeof READERS](value);
    } catch (error) {
      if (error instanceof KeyFault) faults.push(...error.faults);
      else if (error instanceof Fault) faults.push({ setting: name, message: error.message });
      else throw error;
    }
  }
  const read = settings as unknown as KeySettings;
  if (read.name === '' && faults.every(({ setting }) => setting !== 'name'))
    faults.push({ setting: 'name', message: 'is required' });
  if (Object.hasOwn(given, 'expires') && nowMs !== undefined && (read.expiresMs ?? nowMs + 1) <= nowMs)
    faults.push({ setting: 'expires', message: 'must be a time to come' });
  if (faults.length > 0) throw invalid(faults);
  return {
    name: read.name,
    scopes: read.scopes,
    expiresMs: read.expiresMs,
    origins: read.origins,
    cidrs: read.cidrs,
    limits: read.limits,
  };
}

export const invalid = (faults: readonly SettingFault[]): KeyFault =>
  new KeyFault('invalid', faults.map(({ setting, message }) => `${setting} ${message}`).join('; '), faults);

function texts(value: unknown, isRight: (text: string) => boolean, what: string): string[] {
  if (!Array.isArray(value) || !value.every((text) => typeof text === 'string' && isRight(text)))
    throw new Fault(`must be ${what}`);
  if (value.length > MAX_ENTRIES) throw new Fault(`must have at most ${MAX_ENTRIES} entries`);
  return [...new Set(value as string[])];
}

function readLimits(value: unknown): KeyLimits {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Fault('must be an object');
  const limits: Record<string, number> = {};
  const faults: SettingFault[] = [];
  for (const [name, limit] of Object.entries(value)) {
    const member = LIMIT_NAMES.find(([, inJson]) => inJson === name)?.[0];
    if (member === undefined) faults.push({ setting: `limits.${name}`, message: 'is not a limit' });
    else if (limit === null) continue;
    else if (typeof limit !== 'number' || !(limit >= 0 && limit <= MAX_LIMIT))
      faults.push({ setting: `limits.${name}`, message: `must be a number from 0 to ${MAX_LIMIT}` });
    else if (!Number.isInteger(limit) && !name.endsWith('_per_second'))
      faults.push({ setting: `limits.${name}`, message: 'must be an integer' });
    else limits[member] = limit;
  }
  if (faults.length > 0) throw invalid(faults);
  return limits;
}

// Keys in a file: exported (digests under the same pepper) or as a backup (the pepper with them). Never a secret.

const FORMAT = 'hexcodes-keys';
const VERSION = 2;
/** Format of version 0.2.0. Look-ups had no scope then, so its keys keep access to them. */
const FORMER_VERSION = 1;

export interface KeyArchive {
  readonly keys: readonly StoredKey[];
  /** Check of the pepper under which the digests are made. */
  readonly pepperCheck: string;
  /** Pepper of a backup. */
  readonly pepper: string | undefined;
}

/** @param pepper included if `isBackup` */
export function archiveText(keys: readonly StoredKey[], pepper: string, isBackup: boolean): string {
  const archive = {
    format: FORMAT,
    version: VERSION,
    pepper_check: pepperCheckOf(pepper),
    ...(isBackup ? { pepper } : {}),
    keys: keys.map((key) => ({
      ...keyJson(key),
      digest: key.digestHex,
      former_digest: key.formerDigestHex ?? null,
    })),
  };
  return `${JSON.stringify(archive, undefined, 1)}\n`;
}

/** @throws KeyFault 'invalid' */
export function readArchive(text: string): KeyArchive {
  const archive = objectOf(parse(text), 'the file');
  if (archive.format !== FORMAT) throw wrong('the file holds no exported keys and no backup');
  const { version } = archive;
  if (version !== VERSION && version !== FORMER_VERSION)
    throw wrong(
      `the file has version ${String(version)}, this program reads ${FORMER_VERSION} and ${VERSION}`,
    );
  const { keys, pepper } = archive;
  if (!Array.isArray(keys)) throw wrong('keys is missing');
  if (pepper !== undefined && typeof pepper !== 'string') throw wrong('pepper is not text');
  const pepperCheck = digest(archive.pepper_check, 'pepper_check');
  if (pepper !== undefined && pepperCheckOf(pepper) !== pepperCheck)
    throw wrong('its pepper is not the one of its keys');
  const read = keys
    .map((key, index) => storedKeyOf(key, `key ${index + 1}`))
    .map((key) => (version === VERSION ? key : withLookups(key)));
  if (new Set(read.map(({ id }) => id)).size < read.length) throw wrong('it has one id twice');
  return { keys: read, pepperCheck, pepper };
}

const OTHERS = [
  'id',
  'state',
  'created',
  'last_used',
  'generation',
  'overlap_until',
  'digest',
  'former_digest',
];

function storedKeyOf(given: unknown, what: string): StoredKey {
  const key = objectOf(given, what);
  const { id, state, generation } = key;
  if (typeof id !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(id)) throw wrong(`${what} has no id`);
  if (!(['active', 'disabled', 'revoked'] as unknown[]).includes(state)) throw wrong(`${what} has no state`);
  if (!Number.isSafeInteger(generation)) throw wrong(`${what} has no generation`);
  return {
    ...readKeySettings(key, NEW_KEY, undefined, OTHERS),
    id,
    state: state as KeyState,
    createdMs: time(key.created, `created of ${what}`),
    lastUsedMs: optional(key.last_used, (value) => time(value, `last_used of ${what}`)),
    digestHex: digest(key.digest, `digest of ${what}`),
    generation: generation as number,
    formerDigestHex: optional(key.former_digest, (value) => digest(value, `former_digest of ${what}`)),
    formerUntilMs: optional(key.overlap_until, (value) => time(value, `overlap_until of ${what}`)),
  };
}

function withLookups(key: StoredKey): StoredKey {
  return { ...key, scopes: SCOPES.filter((scope) => scope === 'lookup' || key.scopes.includes(scope)) };
}

const wrong = (message: string): KeyFault => new KeyFault('invalid', message);

const optional = <T>(value: unknown, read: (value: unknown) => T): T | undefined =>
  value === null || value === undefined ? undefined : read(value);

function parse(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message of the parser would quote the file.
    throw wrong('the file is not JSON');
  }
  const twice = repeatedMember(text);
  if (twice !== undefined) throw wrong(`${twice} ${DIFFERS}`);
  return value;
}

export function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong(`${what} is not an object`);
  return value as Record<string, unknown>;
}

function digest(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value))
    throw wrong(`${what} must be 64 hexadecimal digits`);
  return value;
}

function time(value: unknown, what: string): number {
  const timeMs = typeof value === 'string' ? parseTime(value) : undefined;
  if (timeMs === undefined) throw wrong(`${what} is not a time`);
  return timeMs;
}
