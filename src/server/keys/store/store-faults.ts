// Faults of the embedded store, as sentences for people.
import { join } from 'node:path';

const FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'takes no connections',
  ECONNRESET: 'has closed the connection',
  EPIPE: 'has closed the connection',
  ENOENT: 'is not there: its socket does not exist',
  ENOTFOUND: 'is not there: its name is unknown',
  EAI_AGAIN: 'is not there: its name cannot be looked up',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ETIMEDOUT: 'does not answer',
  '28P01': 'refuses the password of HEXCODES_STORE',
  '28000': 'refuses the user of HEXCODES_STORE',
  '3D000': 'has no such database',
  '42501': 'refuses this user: permission denied',
  '53300': 'has no connection left',
  '57P01': 'is being shut down',
  '57P02': 'is being shut down',
  '57P03': 'is starting up or shutting down',
  '25006': 'is read-only: perhaps a standby',
  '53100': 'cannot be written: its disk is full',
};

/** Codes of OpenSSL and of Node's check of names. */
const CERTIFICATE = /CERT|ALTNAME|UNABLE_TO_VERIFY/;

/** Words of errors without a code. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/timeout/i, 'does not answer'],
  [/connection terminated|not queryable|was closed/i, 'has closed the connection'],
];

export function postgresFault(url: string, error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const text = typeof message === 'string' ? message : String(error);
  const sentence =
    FAULTS[String(code)] ??
    (code === undefined ? MESSAGES.find(([pattern]) => pattern.test(text))?.[1] : undefined);
  if (sentence !== undefined) return `the database of HEXCODES_STORE ${sentence}`;
  if (CERTIFICATE.test(String(code)))
    return `the certificate of the database of HEXCODES_STORE is not trusted (${text})`;
  return withoutSecrets(url, text);
}

/** The user's name is not a secret; its password is. */
function withoutSecrets(url: string, text: string): string {
  const [, password] = /^[a-z]+:\/\/[^/@]*?:([^@]*)@/i.exec(url) ?? [];
  const secrets = [url, password, password === undefined ? undefined : decoded(password)];
  return secrets.reduce<string>((masked, secret) => (secret ? masked.replaceAll(secret, '…') : masked), text);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Words by code, without its details. A file of another kind names the store. */
const SENTENCES: Readonly<Record<string, string>> = {
  SQLITE_CORRUPT: 'is damaged',
  SQLITE_FULL: 'cannot be written: the disk is full',
  SQLITE_READONLY: 'cannot be written: it is read-only',
  SQLITE_CANTOPEN: 'cannot be opened',
  SQLITE_BUSY: 'is locked by another process',
  SQLITE_IOERR: 'cannot be read or written: the disk reports an error, or is full',
};

/**
 * The fault of a file, after its path; undefined for an error that is none of SQLite's.
 * @param store what the file should be: `key store`
 */
export function sqliteSentence(code: unknown, store: string): string | undefined {
  const kind = /^SQLITE_(?:IOERR|[A-Z]+)/.exec(String(code))?.[0] ?? '';
  return /NOTADB|ERROR/.test(kind) ? `is damaged, or no ${store}` : SENTENCES[kind];
}

/** Words for errors of the file system. */
const FOLDER_FAULTS: Readonly<Record<string, string>> = {
  EACCES: 'cannot be made or written to: permission denied',
  EPERM: 'cannot be made or written to: permission denied',
  EROFS: 'cannot be made or written to: the disk is read-only',
  EEXIST: 'is a file, not a folder',
  ENOTDIR: 'lies below a file, not a folder',
};

/** Fault for an error of libsql or of the file system. */
export function sqliteFault(dataDir: string, error: unknown): string {
  const path = join(dataDir, 'keys.db');
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === 'ENOENT') return `${path} is not there`;
  const folderFault = FOLDER_FAULTS[String(code)];
  if (folderFault !== undefined) return `the data folder ${dataDir} ${folderFault}`;
  if (code === 'ENOSPC') return `the disk of ${dataDir} is full`;
  const sentence = sqliteSentence(code, 'key store');
  if (sentence === undefined) return typeof message === 'string' ? message : String(error);
  return `${path} ${sentence} (${message})`;
}

/** The file is not a store, or a damaged one. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(NOTADB|CORRUPT|ERROR)/.test(String((error as { code?: unknown }).code));
}
