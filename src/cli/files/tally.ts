// What a run has done so far: rows, failures by reason, rows by province. Kept in the journal of a resumable run.

import { ADMIN_UNITS } from '../../admin-units.js';
import { CliFailure, EXIT } from '../exit-codes.js';

/** Reasons in the words of the `status` column. */
export const ROW_FAILURES = {
  NOT_FOUND: 'in no province of Viet Nam nor its sea',
  INVALID_REQUEST: 'not a position in degrees, not a resolution, or no code',
  INVALID_HEXCODES: 'not a hexcode',
} as const;

export type RowFailure = keyof typeof ROW_FAILURES;

/** The failure of `--errors stop`. */
export function stopped(file: string, row: number, word: RowFailure): CliFailure {
  return new CliFailure(
    EXIT.FAILED,
    `${file}, row ${row}: ${word}, ${ROW_FAILURES[word]}`,
    'Stopped as --errors stop asks; nothing was written under the final name.',
  );
}

interface SavedTally {
  rows: number;
  failed: Partial<Record<RowFailure, number>>;
  byAdmin: number[];
  swapped: number;
  elapsedMs: number;
}

export class Tally {
  rows = 0;
  readonly failed = new Map<RowFailure, number>();
  /** Rows by place in table 2.4. */
  readonly byAdmin = new Float64Array(ADMIN_UNITS.length);
  /** Of the failed rows that were looked at, how many have a code with lat and lng exchanged. */
  swapped = 0;
  /** Of earlier runs that this one goes on from. */
  elapsedBeforeMs = 0;

  get failedRows(): number {
    let sum = 0;
    for (const count of this.failed.values()) sum += count;
    return sum;
  }

  fail(reason: RowFailure, count = 1): void {
    if (count > 0) this.failed.set(reason, (this.failed.get(reason) ?? 0) + count);
  }

  save(elapsedMs: number): SavedTally {
    return {
      rows: this.rows,
      failed: Object.fromEntries(this.failed),
      byAdmin: Array.from(this.byAdmin),
      swapped: this.swapped,
      elapsedMs: this.elapsedBeforeMs + elapsedMs,
    };
  }

  static restore(saved: unknown): Tally {
    const { rows, failed, byAdmin, swapped, elapsedMs } = saved as SavedTally;
    const tally = new Tally();
    tally.rows = rows;
    for (const [reason, count] of Object.entries(failed)) tally.failed.set(reason as RowFailure, count);
    tally.byAdmin.set(byAdmin);
    tally.swapped = swapped;
    tally.elapsedBeforeMs = elapsedMs;
    return tally;
  }
}
