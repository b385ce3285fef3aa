// The rows of a run that the kernel left to JavaScript, in words: what they are and how they come to be fast.

import { type SlowReason, slowRowCounts } from '../hexcodes/wire/rows/row-allowance.js';
import { grouped } from './terminal/say.js';

/** The rows of each reason in words, and the remedy. */
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

/** A smaller share, or fewer rows, are said with --verbose alone. */
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
