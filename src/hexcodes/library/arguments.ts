// The checks of what callers hand to the library: resolutions, positions, the arrays of batches.

import { HexcodesError } from '../errors.js';
import { DEFAULT_RESOLUTION } from '../wire/params/resolution.js';

/** Options of `encode` and `encodeBatch`. */
export interface EncodeOptions {
  /** H3 resolution, integer 0 to 15; default 13. */
  readonly resolution?: number;
  /** Whether the answer of `encode` names the province before July 2025, too. */
  readonly former?: boolean;
  /** Whether the answer of `encode` says how sure the province is, as `border_m` and `certainty`. */
  readonly certainty?: boolean;
}

type BatchArray = Uint8Array | Float64Array;

/** @throws HexcodesError BAD_RESOLUTION */
export function resolutionOf(given: number | EncodeOptions): number {
  const inOptions = typeof given === 'object' && given !== null;
  const resolution = inOptions ? (given.resolution ?? DEFAULT_RESOLUTION) : given;
  if (!Number.isInteger(resolution) || resolution < 0 || resolution > 15)
    throw new HexcodesError(
      'BAD_RESOLUTION',
      `A resolution is an integer from 0 to 15, not ${inWords(resolution)}`,
    );
  return resolution;
}

/** A value as a message shows it: a text that looks like a number is called a text. */
export function inWords(value: unknown): string {
  if (typeof value === 'string') return `the text ${JSON.stringify(value)}`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** Refuses arrays of other kinds: in single precision alone a position would move by half a metre. */
export function requireKind<T extends BatchArray>(
  given: T,
  kind: new (length: number) => T,
  name: string,
): void {
  // Compared by name: an array of another realm (a frame, a vm context) is no instance of this realm's class.
  if (Object.prototype.toString.call(given) !== `[object ${kind.name}]`)
    throw new HexcodesError('BAD_ARGUMENT', `The array ${name} must be a ${kind.name}`);
}

/** The first `length` entries of `given`, or a new array. */
export function outputFor<T extends BatchArray>(
  given: T | undefined,
  kind: new (length: number) => T,
  length: number,
  name: string,
  source: BatchArray,
): T {
  if (given === undefined) return new kind(length);
  requireKind(given, kind, name);
  if (given.length < length)
    throw new HexcodesError(
      'BAD_ARGUMENT',
      `The array ${name} has room for ${given.length}, ${length} are needed`,
    );
  const cut = given.subarray(0, length) as T;
  // Shared bytes: the answers to a block would overwrite the input of the next.
  if (
    cut.buffer === source.buffer &&
    cut.byteOffset < source.byteOffset + source.byteLength &&
    source.byteOffset < cut.byteOffset + cut.byteLength
  )
    throw new HexcodesError('BAD_ARGUMENT', `The array ${name} shares its bytes with what is to be read`);
  return cut;
}
