// The error class of the library and its codes.

import { unknownOption } from './wire/params/names.js';

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

// The judges of options that callers hand to the library.

/**
 * Refuses options of other names, which would be ignored in silence.
 * @throws HexcodesError BAD_ARGUMENT; its message has the option, the one that was probably meant, and all known ones
 */
export function requireKnown(given: object, known: readonly string[], call: string): void {
  const fault = unknownOption(given, known, call);
  if (fault !== undefined) throw new HexcodesError('BAD_ARGUMENT', fault);
}

/** @throws HexcodesError BAD_ARGUMENT for an option that is neither true nor false nor absent */
export function requireFlag(given: unknown, name: string): void {
  if (given !== undefined && typeof given !== 'boolean')
    throw new HexcodesError('BAD_ARGUMENT', `${name} is true or false, not ${JSON.stringify(given)}`);
}
