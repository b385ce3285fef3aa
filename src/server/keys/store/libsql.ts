// A connection to an SQLite file of the data folder, by libsql. Its methods are declared async, but block. The file
// has no write-ahead log beside it, so that it can be moved, replaced or removed, and a backup moved over it is not
// mixed with old content.
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { report } from 'node:process';
import type Libsql from 'libsql';
import { ensureDataDir } from '../secret.js';
import { Connection, type Dialect, type Value } from './connection.js';

// libsql asks Node for a process report, to find the C library, and a report with network interfaces looks up their
// names: 12 ms of CPU in each thread, and 160 ms where no name server answers.
const reports = process.report as typeof report & { excludeNetwork: boolean };
reports.excludeNetwork = true;

const Database = (await import('libsql')).default;

const SQLITE: Dialect = {
  tables: {
    key: 'api_key',
    head: 'key_head',
    usage: 'usage',
    used: 'used',
    rate: 'rate',
    holder: 'holder',
    flushed: 'flushed',
  },
  begin: 'BEGIN IMMEDIATE',
  beginReading: 'BEGIN',
  locksRows: false,
  forUpdate: '',
  skipLocked: () => '',
  least: 'min',
  greatest: 'max',
  nowMs: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  epoch: 'epoch',
  hex: (column) => `lower(hex(${column}))`,
  listJson: (column) => column,
  objectJson: (column) => column,
  list: (texts) => JSON.stringify(texts),
  isIn: (column, parameter) => `${column} IN (SELECT value FROM json_each(${parameter}))`,
  select: (columns, from) => `SELECT json_group_array(json_array(${columns})) AS rows FROM ${from}`,
  elements: 'json_each',
};

/** A change is seen well within a second; asking costs microseconds. */
const POLL_MS = 250;

export interface SqliteFile {
  readonly path: string;
  /**
   * SQL statements of migrations. Each is run once, in order, and never edited after a release; `user_version` counts
   * them.
   */
  readonly steps: readonly string[];
  /** Timeout after which a file that another process writes to counts as locked. */
  readonly busyTimeoutMs: number;
  /** The fault of a file of a later version, as a sentence. */
  readonly later: (version: number) => string;
}

/** The errors of its methods are those of libsql. */
export class LibsqlConnection extends Connection {
  readonly sql = SQLITE;
  readonly pollMs = POLL_MS;
  readonly address: string;
  readonly #db: Libsql.Database;
  /**
   * Each statement is prepared once: libsql frees what a statement took (some 20 KB) only in a later turn of the event
   * loop, so that 100,000 of one transaction would hold 2 GB.
   */
  readonly #statements = new Map<string, Libsql.Statement>();
  /** The file that is open, and when it was last changed. */
  #stamp: string;
  /** Changes after another connection has changed the file. */
  readonly #dataVersion: number;

  private constructor(private readonly file: SqliteFile) {
    super();
    this.address = file.path;
    this.#stamp = this.#fileStamp();
    this.#db = new Database(file.path);
    try {
      this.#db.pragma(`busy_timeout = ${file.busyTimeoutMs}`);
      this.#db.pragma('journal_mode = DELETE');
      refuseOtherSchema(this.#db, file);
      this.#version();
      this.#dataVersion = this.#pragma('data_version');
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Opens an existing file. Read access to the folder is enough for reading. */
  static open(file: SqliteFile): LibsqlConnection {
    const { path } = file;
    if (!existsSync(path))
      throw Object.assign(new Error(`there is no ${basename(path)} in ${dirname(path)}`), { code: 'ENOENT' });
    // An empty file is not a store, though libsql would make one of it: it may be the result of damage.
    if (statSync(path).size === 0) throw Object.assign(new Error('it is empty'), { code: 'SQLITE_NOTADB' });
    return new LibsqlConnection(file);
  }

  /** Opens the file, creating it if needed. */
  static async openOrMake(file: SqliteFile): Promise<LibsqlConnection> {
    ensureDataDir(dirname(file.path));
    // Created by us first, so that only the owner can read the file and its journal.
    if (!existsSync(file.path)) closeSync(openSync(file.path, 'a', 0o600));
    return new LibsqlConnection(file).migrate();
  }

  /** Runs the steps that are missing. A file that is up to date is not written to. */
  async migrate(): Promise<this> {
    const { steps } = this.file;
    try {
      if (this.#version() < steps.length) {
        await this.inTransaction(async () => {
          // Another process may have migrated it meanwhile.
          for (const step of steps.slice(this.#version())) this.#db.exec(step);
          this.#db.pragma(`user_version = ${steps.length}`);
        });
      }
      return this;
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Whether no step is missing. */
  get isOfThisVersion(): boolean {
    return this.#version() === this.file.steps.length;
  }

  get isCurrent(): boolean {
    try {
      return fileOf(this.#fileStamp()) === fileOf(this.#stamp);
    } catch {
      return false;
    }
  }

  /**
   * A file that is replaced or written to is opened again: it may be another, or damaged. The version changes once
   * another connection has written, even where `quietly` has mistaken that for its own write.
   */
  news(): 'none' | 'gone' {
    const isAsOpened =
      this.#fileStamp() === this.#stamp && this.#pragma('data_version') === this.#dataVersion;
    return isAsOpened ? 'none' : 'gone';
  }

  async all<R>(text: string, values: readonly Value[] = []): Promise<R[]> {
    return this.#statement(text).all(values) as R[];
  }

  async run(text: string, values?: readonly Value[]): Promise<void> {
    if (values === undefined) this.#db.exec(text);
    else this.#statement(text).run(values);
  }

  async quietly(work: () => Promise<void>): Promise<void> {
    let isAsOpened = false;
    await this.inTransaction(async () => {
      isAsOpened = this.news() === 'none';
      await work();
    });
    const stamp = this.#fileStamp();
    if (isAsOpened && fileOf(stamp) === fileOf(this.#stamp)) this.#stamp = stamp;
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  #statement(text: string): Libsql.Statement {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      statement = this.#db.prepare(text.replaceAll(/\$(\d)/g, '?$1'));
      this.#statements.set(text, statement);
    }
    return statement;
  }

  #pragma(name: string): number {
    return (this.#statement(`PRAGMA ${name}`).get() as Record<string, number>)[name] as number;
  }

  /** The number of applied migrations. Throws if a later version has written the file. */
  #version(): number {
    const version = this.#pragma('user_version');
    if (version > this.file.steps.length) throw new Error(this.file.later(version));
    return version;
  }

  #fileStamp(): string {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(this.address, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  }
}

/** Device and inode of a stamp. */
const fileOf = (stamp: string): string => stamp.split(',').slice(0, 2).join();

/**
 * A view in place of a table, or a foreign trigger, runs any statement, and an endless one would block its thread for
 * good.
 * @throws Error with a sentence that names the file and the foreign object
 */
function refuseOtherSchema(db: Libsql.Database, { path, steps }: SqliteFile): void {
  const tables = steps.flatMap((step) =>
    [...step.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g)].map(([, name]) => name as string),
  );
  const found = db
    .prepare(`SELECT type, name, tbl_name AS of, sql FROM sqlite_master WHERE type IN ('view', 'trigger')`)
    .all() as { type: string; name: string; of: string; sql: string }[];
  const other = found.find(({ type, name, of, sql }) =>
    type === 'view'
      ? tables.includes(name)
      : tables.includes(of) && !steps.some((step) => step.includes(sql)),
  );
  if (other === undefined) return;
  throw new Error(
    `${path} has a ${other.type} ${JSON.stringify(other.name)}, which is not of hexcodes: remove it, or restore a backup`,
  );
}
