// One connection to a database, and the words in which SQLite and PostgreSQL differ: the SQL of keys and of usage is
// written once. Parameters are `$1`, `$2`, … in both.

/** A value of a parameter; `Dialect.list` makes one of a list of texts. */
export type Value = string | number | null | Buffer | readonly string[];

export interface Dialect {
  readonly tables: Readonly<
    Record<'key' | 'head' | 'usage' | 'used' | 'rate' | 'holder' | 'flushed', string>
  >;
  /** Begins a transaction that writes, and one that reads what is there at its start. */
  readonly begin: string;
  readonly beginReading: string;
  /** Whether transactions that write run side by side, and lock rows: else they wait for one another as a whole. */
  readonly locksRows: boolean;
  /** At the end of a SELECT: locks its rows until the end of the transaction. */
  readonly forUpdate: string;
  /** The rows of one of its tables, but for those that another transaction holds. */
  skipLocked(table: string): string;
  /** The smaller and the greater of two numbers. */
  readonly least: string;
  readonly greatest: string;
  /** The time by the clock of the database, in milliseconds since 1970. */
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
  /** The rows of a SELECT as one text of JSON, which `rows` reads: each value by itself costs several times as much. */
  select(columns: string, from: string): string;
  /** The function that makes a JSON list a table with the column `value`. */
  readonly elements: string;
}

/**
 * The table `given` of SQL: a parameter that is a JSON list of rows, each a list of values.
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
  /** Where the database is, for people; without credentials. */
  abstract readonly address: string;
  abstract readonly sql: Dialect;
  /** How often to ask whether anybody has changed anything. */
  abstract readonly pollMs: number;
  #isInTransaction = false;

  /** Whether what is open is still what its address names; else it has to be opened again. */
  abstract get isCurrent(): boolean;
  /** Whether anybody may have written since the connection was opened. 'gone': it has to be opened again. */
  abstract news(): 'none' | 'perhaps' | 'gone';
  abstract all<R>(text: string, values?: readonly Value[]): Promise<R[]>;
  abstract run(text: string, values?: readonly Value[]): Promise<void>;
  /** Writes what nobody has to read again: `news` says nothing of it, but of what others have written before. */
  abstract quietly(work: () => Promise<void>): Promise<void>;
  abstract close(): Promise<void>;

  /** The rows of a statement that `Dialect.select` has made. */
  async rows<R>(text: string, values?: readonly Value[]): Promise<R[]> {
    const [row] = await this.all<{ rows: string }>(text, values);
    return JSON.parse(row!.rows) as R[];
  }

  async inTransaction<T>(work: () => Promise<T>, begin = this.sql.begin): Promise<T> {
    await this.run(begin);
    this.#isInTransaction = true;
    try {
      const result = await work();
      await this.run('COMMIT');
      return result;
    } catch (error) {
      // The database may have rolled back by itself: SQLite after some errors, a full disk among them.
      await this.run('ROLLBACK').catch(() => {});
      throw error;
    } finally {
      this.#isInTransaction = false;
    }
  }

  /** Nobody changes what `work` reads meanwhile. */
  reading<T>(work: () => Promise<T>): Promise<T> {
    return this.#isInTransaction ? work() : this.inTransaction(work, this.sql.beginReading);
  }
}
