// One connection to a database, and the SQL in which SQLite and PostgreSQL differ: all other SQL of keys and usage is
// written once. Parameters are `$1`, `$2`, … in both.

import { join } from 'node:path';

/** A parameter value; `Dialect.list` makes one of a list of texts. */
export type Value = string | number | null | Buffer | readonly string[];

export interface Dialect {
  readonly tables: Readonly<
    Record<'key' | 'head' | 'usage' | 'used' | 'rate' | 'holder' | 'flushed', string>
  >;
  /** Statements that begin a write transaction, and a transaction that reads one snapshot. */
  readonly begin: string;
  readonly beginReading: string;
  /** Whether write transactions run concurrently and lock rows; otherwise one runs at a time. */
  readonly locksRows: boolean;
  /** Suffix of a SELECT that locks its rows until the end of the transaction. */
  readonly forUpdate: string;
  /** Suffix of a SELECT that skips rows of a table which another transaction has locked. */
  skipLocked(table: string): string;
  /** Functions for the smaller and the greater of two numbers. */
  readonly least: string;
  readonly greatest: string;
  /** The database's clock, in milliseconds since 1970. */
  readonly nowMs: string;
  /** The epoch of the table `head`. */
  readonly epoch: string;
  /** Bytes as hexadecimal digits. */
  hex(column: string): string;
  /** A list of texts, or an object, as JSON. */
  listJson(column: string): string;
  objectJson(column: string): string;
  list(texts: readonly string[]): Value;
  /** Whether a text is in a list. */
  isIn(column: string, parameter: string): string;
  /**
   * A SELECT whose rows are returned as one JSON text, for `rows`: fetching value by value costs several times as
   * much.
   */
  select(columns: string, from: string): string;
  /** The function that turns a JSON list into a table with the column `value`. */
  readonly elements: string;
}

/**
 * The SQL table `given`, from a parameter that is a JSON list of rows, each a list of values.
 * @param columns names and types of the values, as `key_id text, points bigint`
 */
export function given({ elements }: Dialect, parameter: string, columns: string): string {
  const values = columns.split(', ').map((column, at) => {
    const [name, type] = column.split(' ');
    return `CAST(value ->> ${at} AS ${type}) AS ${name}`;
  });
  return `(SELECT ${values.join(', ')} FROM ${elements}(${parameter})) AS given`;
}

export abstract class Connection {
  /** Address of the database for messages, without credentials. */
  abstract readonly address: string;
  abstract readonly sql: Dialect;
  /** Interval at which changes by others are looked for. */
  abstract readonly pollMs: number;
  /** Set from before its first statement until after its last. */
  protected isInTransaction = false;

  /** Whether the open database is still the one at its address; if not, it must be opened again. */
  abstract get isCurrent(): boolean;
  /** Whether others may have written since the connection was opened. 'gone': it must be opened again. */
  abstract news(): 'none' | 'perhaps' | 'gone';
  abstract all<R>(text: string, values?: readonly Value[]): Promise<R[]>;
  abstract run(text: string, values?: readonly Value[]): Promise<void>;
  /** Runs writes that nobody has to read again: `news` does not report them, only earlier writes of others. */
  abstract quietly(work: () => Promise<void>): Promise<void>;
  abstract close(): Promise<void>;

  /** The rows of a statement made by `Dialect.select`. */
  async rows<R>(text: string, values?: readonly Value[]): Promise<R[]> {
    const [row] = await this.all<{ rows: string }>(text, values);
    return JSON.parse(row!.rows) as R[];
  }

  async inTransaction<T>(work: () => Promise<T>, begin = this.sql.begin): Promise<T> {
    this.isInTransaction = true;
    let isBegun = false;
    try {
      await this.run(begin);
      isBegun = true;
      const result = await work();
      await this.run('COMMIT');
      return result;
    } catch (error) {
      // The database may have rolled back by itself: SQLite after some errors, a full disk among them.
      if (isBegun) await this.run('ROLLBACK').catch(() => {});
      throw error;
    } finally {
      this.isInTransaction = false;
    }
  }

  /** Runs `work` on one snapshot of the database. */
  reading<T>(work: () => Promise<T>): Promise<T> {
    return this.isInTransaction ? work() : this.inTransaction(work, this.sql.beginReading);
  }
}

// Faults of the embedded store, as sentences for people.

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
  '57014': 'does not answer',
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

/** Codes of OpenSSL and of Node's check of host names. */
const CERTIFICATE = /CERT|ALTNAME|UNABLE_TO_VERIFY/;

/** Sentences for errors without a code, by their message. */
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

/** Masks the password; the user name is not a secret. */
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

/** Sentences by primary error code, the first two words of SQLite's codes. */
const SENTENCES: Readonly<Record<string, string>> = {
  SQLITE_CORRUPT: 'is damaged',
  SQLITE_FULL: 'cannot be written: the disk is full',
  SQLITE_READONLY: 'cannot be written: it is read-only',
  SQLITE_CANTOPEN: 'cannot be opened',
  SQLITE_BUSY: 'is locked by another process',
  SQLITE_IOERR: 'cannot be read or written: the disk reports an error, or is full',
};

/**
 * The fault of a file, as the end of a sentence that begins with its path; undefined for errors that are not
 * SQLite's.
 * @param store what the file should be: `key store`
 */
export function sqliteSentence(code: unknown, store: string): string | undefined {
  const kind = /^SQLITE_(?:IOERR|[A-Z]+)/.exec(String(code))?.[0] ?? '';
  return /NOTADB|ERROR/.test(kind) ? `is damaged, or no ${store}` : SENTENCES[kind];
}

/** Sentences for errors of the file system. */
const FOLDER_FAULTS: Readonly<Record<string, string>> = {
  EACCES: 'cannot be made or written to: permission denied',
  EPERM: 'cannot be made or written to: permission denied',
  EROFS: 'cannot be made or written to: the disk is read-only',
  EEXIST: 'is a file, not a folder',
  ENOTDIR: 'lies below a file, not a folder',
};

/** The fault behind an error of libsql or of the file system. */
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

/** Whether the file is damaged or not a store at all. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(NOTADB|CORRUPT|ERROR)/.test(String((error as { code?: unknown }).code));
}
