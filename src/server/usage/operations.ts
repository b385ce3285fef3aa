// The words of usage: which operation a request belongs to and how it ended. Counts are kept at their places in these
// lists.

export const OPERATIONS = [
  'encode',
  'decode',
  'encode_batch',
  'decode_batch',
  'encode_bulk',
  'decode_bulk',
  'stream',
  /** One code, suggestions, the grid, provinces, versions and usage itself. */
  'lookup',
] as const;
export type UsageOperation = (typeof OPERATIONS)[number];

/**
 * Outcomes of requests: answered, answered with an error, refused over a limit of the key. Of points: converted,
 * converted with another status than OK, refused over a limit of the key.
 */
export const OUTCOMES = ['ok', 'failed', 'refused'] as const;

export const OK = OUTCOMES.indexOf('ok');
export const FAILED = OUTCOMES.indexOf('failed');
export const REFUSED = OUTCOMES.indexOf('refused');

/** A cell counts the requests and the points of an operation and outcome, in two numbers that follow each other. */
export const CELLS = OPERATIONS.length * OUTCOMES.length;

/** Where the requests of a cell are counted; its points are behind them. */
export function cellAt(operation: number, outcome: number): number {
  return 2 * (OUTCOMES.length * operation + outcome);
}
