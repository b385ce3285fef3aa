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
