// The error class of the library and its codes. hexcodes/web/geometry takes it, and no more, from hexcodes/web.

export type HexcodesErrorCode =
  /** The position is valid but lies in no province nor its sea. */
  | 'OUTSIDE_COVERAGE'
  /** Not finite, or latitude beyond ±90, or longitude beyond ±180 degrees. */
  | 'NOT_A_COORDINATE'
  /** Not an integer from 0 to 15, or outside the range that the call allows. */
  | 'BAD_RESOLUTION'
  /** A text that is not a hexcode, where a call needs one. */
  | 'INVALID_HEXCODES'
  /** An array of the wrong kind or length, a small output array, an argument too many, an option unknown or wrong. */
  | 'BAD_ARGUMENT'
  /** The kernel, index or reach cannot be used by this build; the message says which and why. */
  | 'BAD_DATA';

export class HexcodesError extends Error {
  override readonly name = 'HexcodesError';
  constructor(
    readonly code: HexcodesErrorCode,
    message: string,
  ) {
    super(message);
  }
}
