// The summary at the end of a run, for people on stderr.

import { ADMIN_UNITS } from '../../admin-units.js';
import type { Operation } from '../../wire/job.js';
import { grouped, type Paint } from '../terminal/paint.js';
import { duration } from '../terminal/progress.js';
import { ROW_FAILURES, type Tally } from './tally.js';

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
    }
  }
  const provinces = ADMIN_UNITS.map(({ code, name }, admin) => ({ code, name, rows: tally.byAdmin[admin]! }))
    .filter(({ rows }) => rows > 0)
    .sort((a, b) => b.rows - a.rows || (a.code < b.code ? -1 : 1));
  for (const { code, name, rows } of provinces) {
    const share = ((100 * rows) / ok).toFixed(1).padStart(5);
    lines.push(`  ${grouped(rows).padStart(12)}  ${paint('dim', `${share} %`)}  ${code.padEnd(3)}  ${name}`);
  }
  if (tally.swapped > 0) {
    lines.push(
      paint(
        'yellow',
        `${grouped(tally.swapped)} of the failed positions lie in Viet Nam with lat and lng exchanged: are --lat and --lng the right way round?`,
      ),
    );
  }
  return `${lines.join('\n')}\n`;
}
