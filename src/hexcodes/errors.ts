// The error class of the library and its codes.

export type HexcodesErrorCode =
  /** The position is valid but lies in no province nor its sea. */
  | 'OUTSIDE_COVERAGE'
  /** Not finite, or latitude beyond ±90, or longitude beyond ±180 degrees. */
  | 'NOT_A_COORDINATE'
  /** Not an integer from 0 to 15, or outside the range that the call allows. */
  | 'BAD_RESOLUTION'
  /** A text that is not a hexcode, where a call needs one. */
  | 'INVALID_HEXCODES'
  /** Arguments of the wrong shape: odd length, an output array too small, bytes that are not records. */
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
