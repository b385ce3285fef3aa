// Keys in a file: exported (digests under the same pepper) or as a backup (the pepper with them). Never a key's text.
import { repeatedMember } from '../../../hexcodes/wire/params/json-grammar.js';
import { DIFFERS } from '../../../hexcodes/wire/params/query.js';
import { type KeyState, NEW_KEY, SCOPES, type StoredKey } from '../key-record.js';
import { pepperCheckOf } from '../secret.js';
import { KeyFault, keyJson, parseTime, readKeySettings } from './key-input.js';

const FORMAT = 'hexcodes-keys';
const VERSION = 2;
/** Format of version 0.2.0. Look-ups had no scope then, so its keys keep them. */
const FORMER_VERSION = 1;

export interface KeyArchive {
  readonly keys: readonly StoredKey[];
  /** Check of the pepper under which the digests are made. */
  readonly pepperCheck: string;
  /** Pepper of a backup. */
  readonly pepper: string | undefined;
}

/** @param pepper goes into the archive if `isBackup` */
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

function objectOf(value: unknown, what: string): Record<string, unknown> {
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
