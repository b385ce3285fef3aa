// The summary at the end of a run, for people on stderr.

import { ADMIN_UNITS } from '../hexcodes/admin-units.js';
import type { Operation } from '../hexcodes/wire/job.js';
import { CliFailure, EXIT } from './exit-codes.js';
import { type FailedRow, ROW_FAILURES, type Tally } from './tally.js';
import { grouped, type Paint } from './terminal/paint.js';
import { duration } from './terminal/progress.js';
import { visible } from './terminal/visible.js';

/** Where a failed row is and what is wrong with it. */
export function wordsOf({ file, row, fault }: FailedRow): string {
  return `${file}, row ${row}: ${fault}`;
}

/**
 * @param elapsedMs of this run; the tally adds that of the runs before it
 * @param failedWent where the failed rows are now, in words
 */
export function summaryOf(
  tally: Tally,
  operation: Operation,
  elapsedMs: number,
  failedWent: string,
  paint: Paint,
): string {
  const total = tally.elapsedBeforeMs + elapsedMs;
  const done = operation === 'encode' ? 'encoded' : 'decoded';
  const ok = tally.rows - tally.failedRows;
  const lines = [
    `${grouped(tally.rows)} ${tally.rows === 1 ? 'row' : 'rows'} in ${duration(total)}: ${paint('green', `${grouped(ok)} ${done}`)}`,
  ];
  if (tally.failedRows > 0) {
    lines[0] += `, ${paint('red', `${grouped(tally.failedRows)} failed`)} (${failedWent})`;
    for (const [reason, count] of tally.failed) {
      lines.push(`  ${grouped(count).padStart(12)}  ${reason}: ${ROW_FAILURES[reason]}`);
      const first = tally.first.get(reason);
      if (first !== undefined)
        lines.push(`${' '.repeat(16)}${paint('dim', visible(`first: ${wordsOf(first)}`))}`);
    }
  }
  const provinces = ADMIN_UNITS.map(({ code, name }, admin) => ({ code, name, rows: tally.byAdmin[admin]! }))
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => b.rows - a.rows || (a.code < b.code ? -1 : 1));
  for (const { code, name, rows } of provinces) {
    const share = ((100 * rows) / ok).toFixed(1).padStart(5);
    lines.push(`  ${grouped(rows).padStart(12)}  ${paint('dim', `${share} %`)}  ${code.padEnd(3)}  ${name}`);
  }
  if (tally.swapped > 0) lines.push(paint('yellow', swappedHint(tally.swapped)));
  return `${lines.join('\n')}\n`;
}

function swappedHint(count: number): string {
  const lie = count === 1 ? 'position lies' : 'positions lie';
  return `${grouped(count)} failed ${lie} in Viet Nam with lat and lng exchanged: --lat and --lng name the columns, and GeoJSON has longitude first`;
}

/** The failure of a run that has written its output, but in which every row failed. */
export function nothingDone({ first }: Tally, operation: Operation): CliFailure {
  const [[reason, row] = []] = first;
  const of = row === undefined ? '' : `; the first: ${wordsOf(row)} (${reason})`;
  return new CliFailure(EXIT.FAILED, `no row was ${operation}d${of}`);
}
