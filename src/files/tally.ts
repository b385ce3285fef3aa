// The counts of a run: rows, failures by reason, rows by province. The journal of a resumable run keeps them.

import { ADMIN_UNITS } from '../hexcodes/admin-units.js';
import { hasUnclearS } from '../hexcodes/wire/rows/angle-text.js';
import { type SlowReason, slowRowCounts } from '../hexcodes/wire/rows/row-report.js';
import { CliFailure, EXIT } from './exit-codes.js';
import { grouped } from './terminal/say.js';

// The fault of a failed row as a sentence: the columns that were read and their values. For the summary and for
// `--errors stop`.

export interface Field {
  readonly name: string;
  readonly text: string;
}

export interface Degrees extends Field {
  /** NaN where the text is not a number. */
  readonly degrees: number;
}

/** The fields of a row that its conversion read. */
export type ReadFields =
  | { readonly kind: 'pair'; readonly lat: Degrees; readonly lng: Degrees; readonly resolution: Field | null }
  /** A whole position or a code. */
  | { readonly kind: 'whole'; readonly field: Field; readonly resolution: Field | null };

/** Shown UTF-16 units of a name or a value. */
const SHOWN = 60;

/**
 * The fields that made the row fail; all of them if no single field is at fault.
 * @param fields `resolution` only if it is not 0 to 15
 */
export function faultIn(status: RowFailure, fields: ReadFields): string {
  const { resolution } = fields;
  if (status === 'INVALID_REQUEST' && resolution !== null) return shown(resolution);
  if (fields.kind === 'whole') return shown(fields.field);
  const { lat, lng } = fields;
  const wrong = [...(isWithin(lat, 90) ? [] : [lat]), ...(isWithin(lng, 180) ? [] : [lng])];
  const blamed = status === 'INVALID_REQUEST' && wrong.length > 0 ? wrong : [lat, lng];
  return blamed.map(shown).join(', ');
}

function isWithin({ text, degrees }: Degrees, most: number): boolean {
  return text.trim() !== '' && Math.abs(degrees) <= most;
}

function shown({ name, text }: Field): string {
  if (text.trim() === '') return `${cut(name)} is empty`;
  const why = hasUnclearS(text) ? ' (S may be seconds or south)' : '';
  return `${cut(name)} ${JSON.stringify(cut(text))}${why}`;
}

function cut(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}

/** Reasons by the words of the `status` column. */
export const ROW_FAILURES = {
  NOT_FOUND: 'in no province of Viet Nam nor its sea',
  INVALID_REQUEST: 'not a position in degrees, not a resolution, or no code',
  INVALID_HEXCODES: 'not a hexcode',
} as const;

export type RowFailure = keyof typeof ROW_FAILURES;

/** Number of failed rows of a run that are tried with lat and lng exchanged. */
export const SWAP_TRIES = 1000;

/** A failed row in its file, from 1. */
export interface FailedRow {
  readonly file: string;
  readonly row: number;
  /** The columns at fault, with their values. */
  readonly fault: string;
}

/** The failure of `--errors stop`. */
export function stopped({ file, row, fault }: FailedRow, word: RowFailure): CliFailure {
  return new CliFailure(
    EXIT.FAILED,
    `${file}, row ${row}: ${word}, ${fault}: ${ROW_FAILURES[word]}`,
    'Stopped as --errors stop asks; nothing was written under the final name.',
  );
}

interface SavedTally {
  rows: number;
  failed: Partial<Record<RowFailure, number>>;
  first: Partial<Record<RowFailure, FailedRow>>;
  byAdmin: number[];
  swapped: number;
  views?: number;
  elapsedMs: number;
}

export class Tally {
  rows = 0;
  readonly failed = new Map<RowFailure, number>();
  readonly first = new Map<RowFailure, FailedRow>();
  /** Rows of each province, by its index in ADMIN_UNITS. */
  readonly byAdmin = new Float64Array(ADMIN_UNITS.length);
  /** Number of these SWAP_TRIES rows that have a code with lat and lng exchanged. */
  swapped = 0;
  /** Positions that are the middle of a map's view: their links have no pin. */
  views = 0;
  /** Time of earlier runs, if this one continues them. */
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
      first: Object.fromEntries(this.first),
      byAdmin: Array.from(this.byAdmin),
      swapped: this.swapped,
      views: this.views,
      elapsedMs: this.elapsedBeforeMs + elapsedMs,
    };
  }

  static restore(saved: unknown): Tally {
    const { rows, failed, first, byAdmin, swapped, views, elapsedMs } = saved as SavedTally;
    const tally = new Tally();
    tally.rows = rows;
    for (const [reason, count] of Object.entries(failed)) tally.failed.set(reason as RowFailure, count);
    for (const [reason, row] of Object.entries(first)) tally.first.set(reason as RowFailure, row);
    tally.byAdmin.set(byAdmin);
    tally.swapped = swapped;
    // A journal of an older version has none.
    tally.views = views ?? 0;
    tally.elapsedBeforeMs = elapsedMs;
    return tally;
  }
}

// Sentences about the rows of a run that the kernel left to JavaScript: what they are, and how to make them fast.

/** A phrase for the rows of each reason, and the remedy. */
const WORDS: Readonly<Record<SlowReason, readonly [what: string, remedy: string]>> = {
  refused: ['rows with a fault', 'mend them or leave them out'],
  spelling: [
    'lines with other members than the first ones, with a name twice, or with escapes in names',
    'write all lines with the members of the first ones',
  ],
  number: ['numbers with exponents beyond 1e22 or below 1e-27', 'write degrees as decimals'],
  code: ['codes with letters beyond ASCII', 'write codes as encode gives them'],
  answer: ['texts to be escaped', 'leave quotes, backslashes and delimiters out of ids'],
  line: [
    'lines with a position in text, a member named as one of the answer, or more than 64 KiB',
    'write degrees as numbers, leave such members out, or take --prefix',
  ],
  values: ['rows value by value', '--verbose says why'],
};

/** Smallest share that is reported without --verbose. */
const MIN_SHARE = 0.01;
const MIN_ROWS = 10_000;

/** Counts slow rows from now on. */
export class SlowRows {
  readonly #before = slowRowCounts();

  /**
   * @param rows of the run
   * @returns a sentence for the summary; null where there is nothing to say
   */
  sentence(rows: number, isVerbose: boolean): string | null {
    const byReason = new Map<SlowReason, number>();
    for (const [n, { reason, rows: after }] of slowRowCounts().entries()) {
      const more = after - this.#before[n]!.rows;
      if (more > 0) byReason.set(reason, (byReason.get(reason) ?? 0) + more);
    }
    const slow = [...byReason.values()].reduce((sum, more) => sum + more, 0);
    if (slow === 0 || rows === 0 || ((slow < MIN_ROWS || slow < rows * MIN_SHARE) && !isVerbose)) return null;
    const percent = (100 * slow) / rows;
    const share = percent < 1 ? 'Less than 1 %' : `${Math.min(100, Math.round(percent))} %`;
    const parts = [...byReason]
      .sort(([, a], [, b]) => b - a)
      .map(([reason, more]) => `${grouped(more)} ${WORDS[reason][0]} (${WORDS[reason][1]})`);
    return `${share} of the rows were read the slow way: ${parts.join('; ')}.`;
  }
}
