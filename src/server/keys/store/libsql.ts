// Loads libsql. It asks Node for a report of the process, to know which libc there is, and a report with the interfaces
// of the network looks up their names: 12 ms of CPU in each thread, and 160 ms where no server of names answers.
import type { report } from 'node:process';
import type Libsql from 'libsql';

export type { Libsql };

const reports = process.report as typeof report & { excludeNetwork: boolean };
reports.excludeNetwork = true;

export const Database = (await import('libsql')).default;

/**
 * The statements of one connection, each prepared once: libsql frees what a statement took (some 20 KB) only in a later
 * turn of the event loop, so that 100,000 of one transaction would hold 2 GB.
 */
export class Statements {
  readonly #byText = new Map<string, Libsql.Statement>();

  constructor(private readonly db: Libsql.Database) {}

  of(text: string): Libsql.Statement {
    let statement = this.#byText.get(text);
    if (statement === undefined) {
      statement = this.db.prepare(text);
      this.#byText.set(text, statement);
    }
    return statement;
  }
}

// Whether the tables of an embedded store are this program's: a view in the place of a table, or a trigger of somebody
// else, runs any statement, and one that never ends would hold its thread for good.

/**
 * @param steps texts of SQL that have made the tables and triggers
 * @throws Error with a sentence that names the file and what does not belong there
 */
export function refuseOtherSchema(db: Libsql.Database, address: string, steps: readonly string[]): void {
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
    `${address} has a ${other.type} ${JSON.stringify(other.name)}, which is not of hexcodes: remove it, or restore a backup`,
  );
}
