// Degrees as a parameter of a query, for handlers off the hot path; encode's own are read by EncodeInput, by the same
// rule.
import { readDecimal } from './number.js';
import type { Parameter } from './query.js';

/** The degrees of a parameter that is required, or why there are none, as the end of a sentence. */
export function degreesOf({ text, fault }: Parameter, limitDeg: 90 | 180): number | string {
  if (fault !== undefined) return fault;
  if (text === undefined) return 'is required';
  const value = readDecimal(text);
  return degreesFault(value, limitDeg) ?? value;
}

/** Why a number, or NaN, cannot be degrees, as the end of a sentence; undefined where it can. */
export function degreesFault(value: number, limitDeg: 90 | 180): string | undefined {
  if (Math.abs(value) <= limitDeg) return undefined;
  return `must be ${Number.isFinite(value) ? '' : 'a decimal number '}from -${limitDeg} to ${limitDeg}`;
}
